"""Hidden graders for `entmax15`. No input has an entry exactly at the edge of the support."""

import math

import pytest

from autograder.authors import rows_sum_to_one, zero_where


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Return max(x / 2 - τ, 0)², with the threshold τ for which each row sums to 1."""
    agree.entmax15(draw.normal(3, 6, std=0.3))
    agree.entmax15(draw.normal(4, 9, std=2.0))


@pytest.mark.weight(2)
def test_any_number_of_axes(agree, draw):
    """Support any number of axes, from a single row to batch and heads."""
    for shape in ((7,), (3, 5), (2, 3, 4), (2, 3, 4, 5)):
        agree.entmax15(draw.normal(*shape))


def test_any_axis(agree, draw):
    """Normalise along `dim`, counted from either end."""
    for dim in (0, 1, 2, -2):
        agree.entmax15(draw.normal(3, 4, 5), dim=dim)


def test_exact_zeros(agree, draw):
    """Return exactly 0 for entries more than 2 below the maximum, and rows that sum to 1."""
    x = draw.normal(5, 8, std=2.0)
    p = agree.entmax15(x)
    zero_where(p, x < x.amax(-1, keepdim=True) - 2.01)
    rows_sum_to_one(p)


@pytest.mark.dtypes("float64")
def test_exact_to_the_dtype(agree, draw):
    """Compute in float64 for float64 inputs, so that results are exact up to rounding."""
    agree.entmax15(draw.normal(4, 9))
    agree.entmax15(draw.normal(4, 9, std=0.1))


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Compute the exact gradient, without NaN outside the support."""
    agree.gradients.entmax15(draw.normal(4, 7, std=2.0))
    agree.gradients.entmax15(draw.normal(3, 4, 5), dim=1)
    agree.gradients.entmax15(draw.normal(3, 5, std=0.2))


@pytest.mark.weight(2)
def test_minus_infinity(agree, draw):
    """Return exactly 0 for entries of -inf, and no NaN in any gradient."""
    x = draw.normal(3, 6)
    x[0, :5] = -math.inf
    x[1, [0, 3]] = -math.inf
    agree.entmax15(x)
    agree.gradients.entmax15(x.T, dim=0)


def test_every_dtype(agree, draw, dtype):
    """Return a result in the dtype of the input, including half precision."""
    agree.entmax15(draw.normal(2, 3, 4, 5))


def test_singleton_axes(agree, draw):
    """Return 1 for the only entry of a row, and keep axes of size 1."""
    agree.entmax15(draw.normal(4, 1))
    agree.entmax15(draw.normal(1, 1, 7, std=0.5))


def test_inputs_that_are_views(agree, draw):
    """Accept transposed, strided and expanded inputs, and leave them unchanged."""
    agree.entmax15(draw.normal(6, 3).T)
    agree.entmax15(draw.normal(3, 12)[:, ::2], dim=0)
    agree.entmax15(draw.normal(1, 5).expand(4, 5))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Return a result on the device of the input."""
    agree.entmax15(draw.normal(2, 3, 6))
    agree.entmax15(draw.normal(2, 3, 6), dim=-2)


def test_long_rows(agree, draw):
    """Find the support anywhere in a row of more than a thousand entries."""
    # The support has few entries, and one of them comes after the first thousand.
    rows = draw.normal(2, 1300)
    rows[:, -1] = rows.amax(1)
    agree.entmax15(rows)
    agree.entmax15(rows.mT, dim=0)


def test_gradients_with_singleton_axes(agree, draw):
    """Compute gradients along `dim`, even if this axis or a different one has size 1."""
    agree.gradients.entmax15(draw.normal(5, 1), dim=0)
    agree.gradients.entmax15(draw.normal(1, 4, 3), dim=1)
    agree.gradients.entmax15(draw.normal(3, 1, 4), dim=1)
    agree.gradients.entmax15(draw.normal(4, 3, 1), dim=0)


def test_two_calls_before_their_gradients(agree, draw):
    """Save data for backward per call: later calls must not alter the gradients of earlier ones."""
    in_a_row = agree.gradients.in_a_row
    in_a_row.entmax15((draw.normal(4, 7, std=2.0),), (draw.normal(4, 7, std=2.0),))
    in_a_row.entmax15((draw.normal(4, 5), 0), (draw.normal(5, 4), 1))
