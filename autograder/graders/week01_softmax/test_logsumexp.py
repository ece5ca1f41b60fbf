"""Hidden graders for `logsumexp`."""

import pytest
import torch

from autograder.authors import expect


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Return the logarithm of the sum of the exponentials of each row."""
    agree.logsumexp(draw.normal(3, 5, std=2.0))
    agree.logsumexp(draw.normal(4, 6))


@pytest.mark.weight(2)
def test_any_number_of_axes(agree, draw):
    """Support any number of axes, from a single row to batch and heads."""
    for shape in ((7,), (3, 5), (2, 3, 4), (2, 3, 4, 5)):
        agree.logsumexp(draw.normal(*shape))


@pytest.mark.weight(2)
def test_any_dim(agree, draw):
    """Sum over the dimension `dim`, counted from either end, and remove it."""
    for dim in (0, 1, 2, -2, -3):
        agree.logsumexp(draw.normal(3, 4, 5), dim=dim)


@pytest.mark.weight(2)
def test_keepdim(agree, draw):
    """Keep the dimension `dim` with size 1 if `keepdim` is True."""
    for dim in (0, 1, -1):
        agree.logsumexp(draw.normal(3, 4, 5), dim=dim, keepdim=True)
    agree.logsumexp(draw.normal(3, 4, 5), 1, True)


@pytest.mark.weight(2)
def test_large_numbers(agree, draw):
    """Avoid overflow and underflow for values of ±10000 and beyond."""
    for size in (1e3, 1e4, 1e6):
        agree.logsumexp((draw.permutation(9).float() - 4.0)[None] * size)
        agree.logsumexp(draw.normal(3, 5) - size)


@pytest.mark.weight(8)
def test_rows_of_different_magnitude(agree, draw):
    """Compute each row independently, even if other rows are far larger or smaller."""
    heights = torch.tensor([0.0, -3e3, 8e3, 120.0])[:, None]
    agree.logsumexp(heights + draw.normal(4, 6))
    agree.logsumexp(heights.T + draw.normal(6, 4), dim=0)


@pytest.mark.weight(2)
def test_row_of_minus_infinity(agree, draw):
    """Return -inf for a row that contains only -inf, and correct results for other rows."""
    numbers = draw.normal(4, 6)
    numbers[2] = -torch.inf
    result = agree.logsumexp(numbers)
    expect(bool(torch.isneginf(result[2])), "A row of only -inf should give -inf.")
    agree.logsumexp(numbers.T, dim=0, keepdim=True)
    agree.logsumexp(numbers + torch.tensor([1e3, 0.0, 0.0, -1e3])[:, None])
    agree.logsumexp(torch.full((2, 3), -torch.inf))


@pytest.mark.dtypes("float64")
def test_row_of_minus_infinity_in_float64(agree, draw):
    """Return -inf for a row of only -inf in float64 too, where 1e-300 is not rounded to 0."""
    numbers = draw.normal(3, 5)
    numbers[1] = -torch.inf
    agree.logsumexp(numbers)


def test_some_minus_infinity(agree, draw):
    """Ignore an entry of -inf among finite ones: it adds 0 and its gradient is 0."""
    hidden = torch.zeros(4, 6, dtype=torch.bool)
    hidden[[0, 1, 1, 3], [2, 0, 5, 1]] = True
    agree.gradients.logsumexp(draw.normal(4, 6).masked_fill(hidden, -torch.inf))


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients to every entry of a row, not only to the largest."""
    agree.gradients.logsumexp(draw.normal(2, 3, 5))
    agree.gradients.logsumexp(draw.normal(2, 3, 4), dim=1, keepdim=True)


@pytest.mark.weight(2)
def test_float_types(agree, draw, dtype):
    """Return a result in the dtype of the input, accurate to the precision of that dtype."""
    agree.logsumexp(draw.normal(2, 3, 4, 6))
    agree.gradients.logsumexp(draw.normal(2, 3, 4, 6), dim=-2)


def test_single_entry(agree, draw):
    """Remove a dimension of size 1 only if it is summed over."""
    agree.logsumexp(draw.normal(1, 5))
    agree.logsumexp(draw.normal(5, 1))
    agree.logsumexp(draw.normal(3, 1, 5), dim=0)
    agree.logsumexp(draw.normal(1))


def test_views(agree, draw):
    """Accept transposed, strided and expanded views, and leave them unchanged."""
    agree.logsumexp(draw.normal(5, 3).T)
    agree.logsumexp(draw.normal(4, 10)[:, ::2])
    agree.logsumexp(draw.normal(1, 5).expand(3, 5), dim=0)


@pytest.mark.weight(1, elsewhere=7)
def test_device(agree, draw, device):
    """Return the result on the device of the input, also for a row of only -inf."""
    agree.gradients.logsumexp(draw.normal(2, 3, 5))
    numbers = draw.normal(2, 3, 5)
    numbers[:, 1] = -torch.inf
    agree.logsumexp(numbers, keepdim=True)


def test_long_rows(agree, draw, dtype):
    """Include every entry in rows of thousands of entries, in each float dtype."""
    agree.logsumexp(draw.normal(2, 2500, std=0.1))
    agree.logsumexp(draw.normal(1500, 2, std=0.1), dim=0)


def test_gradients_with_singleton_axes(agree, draw):
    """Compute correct gradients along `dim`, even if `dim` or another axis has size 1."""
    agree.gradients.logsumexp(draw.normal(5, 1), dim=0)
    agree.gradients.logsumexp(draw.normal(1, 4, 3), dim=1, keepdim=True)
    agree.gradients.logsumexp(draw.normal(3, 1, 4), dim=1)
    agree.gradients.logsumexp(draw.normal(4, 3, 1), dim=0)


def test_two_calls_before_their_gradients(agree, draw):
    """Keep the data for the backward pass per call: later calls must not change gradients."""
    in_a_row = agree.gradients.in_a_row
    in_a_row.logsumexp((draw.normal(3, 5),), (draw.normal(3, 5),))
    in_a_row.logsumexp((draw.normal(3, 4), 0), (draw.normal(4, 3), 1))
