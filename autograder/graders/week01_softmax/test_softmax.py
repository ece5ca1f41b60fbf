"""Hidden graders for `softmax` (torch)."""

import pytest
import torch

from autograder.authors import expect, rows_sum_to_one


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Turn each row into weights proportional to exp(x) that sum to 1."""
    rows_sum_to_one(agree.softmax(draw.normal(3, 5, std=2.0)))
    agree.softmax(draw.normal(4, 6))


@pytest.mark.weight(2)
def test_any_number_of_axes(agree, draw):
    """Support any number of axes, from a single row to batch and heads."""
    for shape in ((7,), (3, 5), (2, 3, 4), (2, 3, 4, 5)):
        agree.softmax(draw.normal(*shape))


@pytest.mark.weight(2)
def test_any_dim(agree, draw):
    """Normalise over the dimension `dim`, counted from either end."""
    scores = draw.normal(2, 3, 4, 5, std=4.0)
    for dim in (0, 1, 2, 3, -2, -4):
        agree.softmax(scores, dim=dim)
    agree.softmax(draw.normal(4, 4, std=4.0), 0)


@pytest.mark.weight(2)
def test_large_scores(agree, draw):
    """Avoid overflow and underflow for scores of ±10000 and beyond."""
    for size in (1e3, 1e4, 1e6):
        agree.softmax((draw.permutation(9).float() - 4.0)[None] * size)


@pytest.mark.weight(8)
def test_rows_of_different_magnitude(agree, draw):
    """Compute each row independently, even if other rows are far larger or smaller."""
    heights = torch.tensor([0.0, -3e3, 8e3, 120.0])[:, None]
    scores = heights + draw.integers(0, 6, 4, 6) / 8
    # Near 8000, float32 values are 1/2048 apart: multiples of 1/8 are exact, a logsumexp is not.
    agree.within(atol=2e-3).softmax(scores)
    agree.within(atol=2e-3).softmax(scores.T, dim=0)


@pytest.mark.weight(2)
def test_minus_infinity(agree, draw):
    """Give an entry of -inf among finite ones a weight of exactly 0 and a gradient of 0."""
    hidden = torch.zeros(4, 6, dtype=torch.bool)
    hidden[[0, 1, 1, 3], [2, 0, 5, 1]] = True
    weights = agree.gradients.softmax(draw.normal(4, 6).masked_fill(hidden, -torch.inf))
    expect(bool((weights[hidden] == 0).all()), "An entry of -inf should get a weight of exactly 0.")


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients through the whole formula: each score affects every weight of its row."""
    agree.gradients.softmax(draw.normal(2, 3, 4))
    agree.gradients.softmax(draw.normal(2, 3, 4), dim=1)


@pytest.mark.dtypes("float64")
def test_gradients_of_large_scores(agree, draw):
    """Compute correct gradients for large scores, without NaN."""
    # Near 1000, float64 values are 1e-13 apart.
    agree.within(atol=1e-10).gradients.softmax(draw.normal(3, 5) + 1000.0)


@pytest.mark.weight(2)
def test_float_types(agree, draw, dtype):
    """Return weights in the dtype of the scores, accurate to the precision of that dtype."""
    agree.softmax(draw.normal(2, 3, 4, 6))
    agree.gradients.softmax(draw.normal(2, 3, 4, 6), dim=-2)


@pytest.mark.dtypes("float16", "bfloat16")
def test_large_half_precision(agree, draw, dtype):
    """Avoid overflow in half precision: in float16, exp(12) is already infinite."""
    apart = 20 * draw.permutation(9).to(draw.normal(1).dtype)[None]
    agree.softmax(apart - 80)
    agree.softmax(apart)


def test_single_entry(agree, draw):
    """Give the only entry of a row the weight 1."""
    agree.softmax(draw.normal(4, 1))
    agree.softmax(draw.normal(1, 4), dim=0)


def test_views(agree, draw):
    """Accept transposed, strided and expanded views, and leave them unchanged."""
    agree.softmax(draw.normal(5, 3).T)
    agree.softmax(draw.normal(4, 10)[:, ::2])
    agree.softmax(draw.normal(1, 5).expand(3, 5), dim=1)


@pytest.mark.weight(1, elsewhere=7)
def test_device(agree, draw, device):
    """Return weights on the device of the scores, and support gradients there."""
    agree.gradients.softmax(draw.normal(2, 3, 5))
    agree.softmax(draw.normal(2, 3, 4), dim=0)


def test_long_rows(agree, draw, dtype):
    """Include every entry in rows of thousands of entries, in each float dtype."""
    agree.softmax(draw.normal(2, 2500, std=0.1))
    agree.softmax(draw.normal(1500, 2, std=0.1), dim=0)


def test_gradients_with_singleton_axes(agree, draw):
    """Compute correct gradients along `dim`, even if `dim` or another axis has size 1."""
    agree.gradients.softmax(draw.normal(5, 1), dim=0)
    agree.gradients.softmax(draw.normal(1, 4, 3), dim=1)
    agree.gradients.softmax(draw.normal(3, 1, 4), dim=1)
    agree.gradients.softmax(draw.normal(4, 3, 1), dim=0)


def test_two_calls_before_their_gradients(agree, draw):
    """Keep the data for the backward pass per call: later calls must not change gradients."""
    in_a_row = agree.gradients.in_a_row
    in_a_row.softmax((draw.normal(3, 5),), (draw.normal(3, 5),))
    in_a_row.softmax((draw.normal(3, 4), 0), (draw.normal(4, 3), 1))
