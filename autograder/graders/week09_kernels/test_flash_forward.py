"""Hidden graders for `flash_forward`."""

import pytest
import torch

from autograder.authors import expect


def in_float32(result):
    """Convert the logsumexp to float32, because it may also have the dtype of the queries."""
    output, logsumexp = result
    return output, logsumexp.float()


@pytest.fixture
def flash(agree):
    """Compare results within the rounding errors of float32 sums."""
    return agree.in_kernels.within(1e-5, 1e-5).only(in_float32)


@pytest.fixture
def qkv(draw):
    """Draw queries (n, d), keys (m, d) and values (m, d)."""
    return lambda n, m, d=16: (draw.normal(n, d), draw.normal(m, d), draw.normal(m, d))


@pytest.mark.weight(3)
def test_values(flash, qkv):
    """Compute attention over several tiles of keys, and the logsumexp of each query's scores."""
    flash.flash_forward(*qkv(32, 48))


@pytest.mark.weight(2)
def test_sizes_that_do_not_divide(flash, qkv):
    """Support n and m that are not multiples of the tile sizes."""
    for n, m in ((5, 16), (16, 21), (19, 7)):
        flash.flash_forward(*qkv(n, m))


def test_many_queries(flash, qkv):
    """Compute the output of every query, even with more than block_m² queries."""
    flash.flash_forward(*qkv(270, 5))


def test_far_from_zero(flash, qkv):
    """Ignore positions after the last key, even if all scores are far below zero."""
    q, k, v = qkv(5, 21)
    flash.flash_forward(q.abs() + 1, -k.abs() - 2, v)


@pytest.mark.weight(2)
def test_very_negative_scores(flash, qkv):
    """Ignore positions after the last key, and later keys if causal, at scores of -40000."""
    q, k, v = qkv(18, 21)
    q[:, 0], k[:, 0] = 200.0, -800.0
    # float32 rounds these scores to steps of 4e-3
    flash.within(2e-2, 1e-4).flash_forward(q, k, v)
    flash.within(2e-2, 1e-4).flash_forward(q, k, v, causal=True)


@pytest.mark.weight(2)
def test_the_maximum_moves(flash, qkv):
    """Rescale the accumulated output when a later tile contains a larger score."""
    q, k, v = qkv(5, 48)
    steps = torch.linspace(0, 6, 48).unsqueeze(-1)
    flash.flash_forward(q.abs(), k.abs() * steps, v)
    flash.flash_forward(q.abs(), k.abs() * steps.flip(0), v)


def test_large_scores(flash, qkv):
    """Avoid overflow for scores in the hundreds and thousands: exponentiate differences only."""
    q, k, v = qkv(6, 20)
    flash.within(1e-3, 1e-5).flash_forward(30 * q, 30 * k, v)
    flash.within(1e-3, 1e-5).flash_forward(30 * q, 30 * k, v, causal=True)


@pytest.mark.weight(2)
def test_causal(flash, qkv):
    """If causal, let query i attend to the keys j <= i."""
    flash.flash_forward(*qkv(32, 32), True)


@pytest.mark.weight(2)
def test_causal_with_other_lengths(flash, qkv):
    """If causal, count queries and keys from 0, even if n and m differ."""
    flash.flash_forward(*qkv(20, 9), causal=True)
    flash.flash_forward(*qkv(9, 20), causal=True)


def test_head_sizes(flash, qkv):
    """Divide the scores by √d, also for d = 32 and d = 64."""
    flash.flash_forward(*qkv(5, 18, d=32))
    flash.flash_forward(*qkv(3, 17, d=64), causal=True)


def test_other_tiles(flash, qkv):
    """Return the same result for any block_m and block_n, equal or not."""
    q, k, v = qkv(37, 41)
    flash.flash_forward(q, k, v, True, block_m=32, block_n=16)
    flash.flash_forward(q, k, v, False, 16, 64)


@pytest.mark.weight(2)
def test_strides(flash, views):
    """Support views with any strides, which may differ between queries, keys and values."""
    mine, theirs, values = views(6, 16), views(18, 16), views(18, 16)
    for number in range(3):
        q, k, v = mine[number], theirs[number - 1], values[number - 2]
        flash.flash_forward(q, k, v)


def test_float16(agree, qkv):
    """Return a float16 output for float16 inputs."""
    q, k, v = (x.half() for x in qkv(9, 20))
    agree.in_kernels.within(1.5e-2, 8e-3).only(in_float32).flash_forward(q, k, v)


@pytest.mark.weight(2)
def test_tiles(count, qkv):
    """Load and store at most one tile at a time, and allocate no table of all scores."""
    counted = count.flash_forward(*qkv(96, 96), block_m=32, block_n=32)
    expect(counted.largest <= 4 * 96 * 16, "Something as large as the table of scores is made.")
    expect(counted.launches, "No kernel is launched.")
    for launch in counted.launches:
        expect(launch.largest <= 32 * 16, "A load or store covers more than a tile.")


@pytest.mark.weight(2)
def test_inside(stays_inside, qkv, views):
    """Load and store only within queries, keys, values and results."""
    stays_inside("flash_forward", *qkv(5, 21))
    q, k, v = views(9, 16)[1], views(18, 16)[1], views(18, 16)[2]
    stays_inside("flash_forward", q, k, v, causal=True)


def test_any_order(any_order, flash, qkv):
    """Do not depend on the order of the programs, which run in parallel on a GPU."""
    q, k, v = qkv(20, 18)
    any_order(flash, "flash_forward", q, k, v, causal=True)


def test_the_kernel_does_the_work(kernels_alone, qkv):
    """Compute scores and outputs in the kernel, not in torch."""
    kernels_alone("flash_forward", *qkv(9, 20), causal=True)


@pytest.mark.weight(2)
def test_a_gpu_would_take_it(compiles, qkv):
    """Write a kernel that compiles for a GPU, not only for the interpreter."""
    q, k, v = qkv(9, 20)
    compiles("flash_forward", q, k, v)
    compiles("flash_forward", q.half(), k.half(), v.half(), causal=True)


@pytest.mark.weight(1, elsewhere=5)
def test_device(flash, qkv, device):
    """Allocate the results on the device of the queries."""
    flash.flash_forward(*qkv(5, 18), causal=True)


def test_two_calls(agree, draw):
    """Return a new result per call: later calls do not change it."""
    calls = ([draw.normal(20, 16) for _ in range(3)] for _ in range(2))
    agree.in_kernels.within(1e-5, 1e-5).in_a_row.flash_forward(*calls)


@pytest.mark.weight(0.5)
def test_trained_head(flash, trained_head):
    """If causal, return the output of a head of a trained language model."""
    flash.flash_forward(*trained_head, causal=True)
