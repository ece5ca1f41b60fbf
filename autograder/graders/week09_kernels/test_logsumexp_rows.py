"""Hidden graders for `logsumexp_rows`."""

import pytest
import torch

from autograder.authors import expect


@pytest.mark.weight(2)
def test_values(close, draw):
    """Return the logsumexp of rows longer than a block."""
    close.logsumexp_rows(draw.normal(5, 128))
    close.logsumexp_rows(draw.normal(3, 48), block=16)


@pytest.mark.weight(2)
def test_rows_of_any_length(close, draw):
    """Support rows that end within a block, and rows shorter than a block."""
    for n, m in ((4, 1), (2, 63), (3, 65), (1, 300)):
        close.logsumexp_rows(draw.normal(n, m))


def test_other_blocks(close, draw):
    """Return the same result for blocks of any size."""
    x = draw.normal(2, 70)
    for block in (16, 32, 128):
        close.logsumexp_rows(x, block)


@pytest.mark.weight(2)
def test_the_maximum_moves(close, draw):
    """Rescale the running sum when a later block contains the largest score."""
    rising = torch.arange(70.0).expand(2, 70) + draw.normal(2, 70)
    close.logsumexp_rows(rising, block=16)
    close.logsumexp_rows(-rising, block=16)


@pytest.mark.weight(2)
def test_large_scores(close, draw):
    """Avoid overflow for scores of any size: exponentiate differences only."""
    x = draw.normal(4, 40, std=30.0) + torch.tensor([[-1e3], [1e3], [-90.0], [3e4]])
    close.logsumexp_rows(x, block=16)


@pytest.mark.weight(2)
def test_minus_infinity(close, draw):
    """Ignore entries of -inf, even if they fill a block; return -inf for a row of only -inf."""
    x = draw.normal(5, 50)
    x[0, :20] = x[1, 30:] = x[2, 16:32] = x[3] = -torch.inf
    x[4, 1:] = -torch.inf
    close.logsumexp_rows(x, block=16)


@pytest.mark.weight(2)
def test_strides(close, views):
    """Support views with any strides."""
    for x in views(3, 21):
        close.logsumexp_rows(x, block=16)


def test_float16(agree, draw):
    """Compute and return the result in float32 for float16 scores."""
    agree.in_kernels.within(1e-5, 2e-6).logsumexp_rows(draw.normal(3, 40, std=3.0).half(), block=16)


@pytest.mark.weight(3)
def test_one_pass(count, draw):
    """Launch once, and load every element exactly once, at most `block` at a time."""
    for n, m, block in ((3, 50, 16), (2, 100, 32)):
        launches = count.logsumexp_rows(draw.normal(n, m), block=block).launches
        expect(len(launches) == 1, "There should be exactly one launch.")
        expect(launches[0].largest <= block, "A load covers more than `block` elements.")
        # only loads of tensors as large as x; a wrapper may pass other tensors to the kernel
        ours = [(least, most) for size, least, most in launches[0].loads if size == n * m]
        expect(ours == [(1, 1)], "Every element of x should be loaded exactly once.")


@pytest.mark.weight(2)
def test_inside(stays_inside, draw, views):
    """Load and store only within the matrix and the result."""
    stays_inside("logsumexp_rows", draw.normal(2, 21), block=16)
    for x in views(2, 21)[1:]:
        stays_inside("logsumexp_rows", x, block=16)


def test_any_order(any_order, close, draw):
    """Do not depend on the order of the programs."""
    any_order(close, "logsumexp_rows", draw.normal(6, 20), block=16)


def test_the_kernel_does_the_work(kernels_alone, draw):
    """Compute the result in the kernel, not in torch."""
    kernels_alone("logsumexp_rows", draw.normal(3, 21), block=16)


@pytest.mark.weight(2)
def test_a_gpu_would_take_it(compiles, draw):
    """Write a kernel that compiles for a GPU, not only for the interpreter."""
    x = draw.normal(3, 40)
    compiles("logsumexp_rows", x, block=16)
    compiles("logsumexp_rows", x.half(), block=32)


@pytest.mark.weight(1, elsewhere=4)
def test_device(close, draw, device):
    """Allocate the result on the device of the scores."""
    close.logsumexp_rows(draw.normal(3, 21), block=16)


def test_two_calls(close, draw):
    """Return a new result per call: later calls do not change it."""
    close.in_a_row.logsumexp_rows((draw.normal(3, 20), 16), (draw.normal(3, 20), 16))
