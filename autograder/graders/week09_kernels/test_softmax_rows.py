"""Hidden graders for `softmax_rows`."""

import pytest
import torch

from autograder.authors import expect, rows_sum_to_one, zero_where


@pytest.mark.weight(2)
def test_values(close, submission, draw):
    """Return the softmax of each row: weights that sum to 1."""
    close.softmax_rows(draw.normal(5, 7))
    rows_sum_to_one(submission.softmax_rows(draw.normal(3, 32)))


@pytest.mark.weight(2)
def test_rows_of_any_length(close, draw):
    """Support rows of any length up to 4096, a power of two or not."""
    for n, m in ((2, 1), (1, 2), (2, 17), (1, 100), (1, 2049), (1, 4096)):
        close.softmax_rows(draw.normal(n, m))


def test_negative_scores(close, draw):
    """Ignore positions after the end of a row, even if all scores are far below zero."""
    close.softmax_rows(draw.normal(4, 11) - 30)


@pytest.mark.weight(2)
def test_large_scores(close, draw):
    """Avoid overflow for scores of any size: subtract the row's maximum first."""
    close.softmax_rows(draw.normal(3, 9, std=1e4))
    close.softmax_rows(draw.normal(3, 9) + torch.tensor([[-2e3], [5e3], [88.0]]))


def test_minus_infinity(close, submission, draw):
    """Give a score of -inf a weight of exactly 0."""
    hidden = draw.bools(4, 9, p=0.4)
    hidden[:, 3] = False
    x = draw.normal(4, 9).masked_fill(hidden, -torch.inf)
    zero_where(submission.softmax_rows(x), hidden)
    close.softmax_rows(x)
    long = draw.normal(2, 1100)
    long[:, :1050] = -torch.inf
    close.softmax_rows(long)


@pytest.mark.weight(2)
def test_strides(close, views):
    """Support views with any strides."""
    for x in views(4, 6):
        close.softmax_rows(x)


@pytest.mark.dtypes("float32", "float16")
def test_dtype(close, draw, dtype):
    """Return weights with the dtype of the scores."""
    close.softmax_rows(draw.normal(3, 20))


@pytest.mark.weight(2)
def test_one_program_for_each_row(count, draw):
    """Launch one kernel once, with one program per row."""
    launches = count.softmax_rows(draw.normal(5, 7)).launches
    expect(len(launches) == 1, "There should be exactly one launch.")
    expect(launches[0].programs == 5, "There should be one program for each row.")


@pytest.mark.weight(2)
def test_each_row_is_loaded_once(count, draw):
    """Load each row once, whole or in parts."""
    n, m = 5, 40
    launches = count.softmax_rows(draw.normal(n, m)).launches
    # only loads of tensors at least as large as x; programs may load smaller ones repeatedly
    times = [most for launch in launches for size, _, most in launch.loads if size >= n * m]
    expect(bool(times), "No program loads a row of the matrix.")
    expect(
        max(times) == 1,
        f"An element of the matrix is loaded {max(times)} times. A row fits into one block: load "
        "it once, and reuse the loaded values.",
    )


@pytest.mark.weight(2)
def test_inside(stays_inside, draw, views):
    """Load and store only within the matrix and the result."""
    stays_inside("softmax_rows", draw.normal(5, 7))
    for x in views(3, 5)[1:]:
        stays_inside("softmax_rows", x)


def test_any_order(any_order, close, draw):
    """Do not depend on the order of the programs."""
    any_order(close, "softmax_rows", draw.normal(6, 5))


def test_the_kernel_does_the_work(kernels_alone, draw):
    """Compute the weights in the kernel, not in torch."""
    kernels_alone("softmax_rows", draw.normal(5, 7))


@pytest.mark.weight(2)
def test_a_gpu_would_take_it(compiles, draw):
    """Write a kernel that compiles for a GPU, not only for the interpreter."""
    compiles("softmax_rows", draw.normal(5, 7))
    compiles("softmax_rows", draw.normal(2, 40).half())


@pytest.mark.weight(1, elsewhere=4)
def test_device(close, draw, device):
    """Allocate the result on the device of the scores."""
    close.softmax_rows(draw.normal(3, 9))


def test_two_calls(close, draw):
    """Return a new result per call: later calls do not change it."""
    close.in_a_row.softmax_rows((draw.normal(3, 7),), (draw.normal(3, 7),))
