"""Hidden graders for `masked_softmax`."""

import pytest
import torch

from autograder.authors import all_finite, expect, rows_sum_to_one, zero_where


def some(draw, *shape, p=0.6):
    """Draw a mask that allows at least one entry in every row and column."""
    mask = draw.bools(*shape, p=p)
    rows, columns = torch.arange(shape[-2]), torch.arange(shape[-1])
    return mask | (rows[:, None] % shape[-1] == columns) | (rows[:, None] == columns % shape[-2])


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Distribute all weight over the allowed entries, like a softmax over only these entries."""
    mask = some(draw, 4, 7)
    weights = agree.masked_softmax(draw.normal(4, 7, std=2.0), mask)
    zero_where(weights, ~mask)
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_any_rank(agree, draw):
    """Support scores with any number of axes, from a single row to batch and heads."""
    agree.masked_softmax(draw.normal(6), torch.tensor([True, False, True, True, False, True]))
    agree.masked_softmax(draw.normal(3, 4, 5), some(draw, 3, 4, 5))
    agree.masked_softmax(draw.normal(2, 3, 4, 5), some(draw, 2, 3, 4, 5))


def test_mask_broadcasts(agree, draw):
    """Broadcast a mask that has fewer axes than the scores, or axes of size 1."""
    scores = draw.normal(2, 3, 4, 6)
    agree.masked_softmax(scores, some(draw, 4, 6))
    agree.masked_softmax(scores, some(draw, 2, 1, 1, 6) | (torch.arange(6) == 2))
    agree.masked_softmax(scores, torch.tensor([True, True, False, True, False, False]))
    agree.masked_softmax(scores, torch.tensor([[True], [False], [True], [True]]))


@pytest.mark.weight(2)
def test_any_axis(agree, draw):
    """Normalise over the axis `dim`, counted from either end."""
    for dim in (0, 1, 2, -2, -3):
        agree.masked_softmax(
            draw.normal(3, 4, 5),
            some(draw, 3, 4, 5) | some(draw, 5, 3, 4).permute(1, 2, 0),
            dim=dim,
        )
    agree.masked_softmax(draw.normal(3, 4, 5), some(draw, 3, 4, 5), 2)


def test_everything_allowed(agree, draw):
    """Return the ordinary softmax if the mask hides no entry, also for large scores."""
    # exp(score - logsumexp) is also correct, but its error grows with the size of the scores.
    agree.within(atol=1e-3).masked_softmax(
        draw.normal(3, 6, std=200.0), torch.ones(3, 6, dtype=torch.bool)
    )


@pytest.mark.weight(2)
def test_empty_rows(agree, draw):
    """Return zeros for a fully masked row, and correct weights for other rows."""
    mask = some(draw, 5, 6)
    mask[1] = mask[4] = False
    weights = agree.masked_softmax(draw.normal(5, 6), mask)
    expect(
        not weights[1].any() and not weights[4].any(),
        "A row in which everything is hidden should be all zeros.",
    )
    agree.masked_softmax(draw.normal(5, 6), torch.zeros(5, 6, dtype=torch.bool))


def test_empty_along_any_axis(agree, draw):
    """Detect fully masked rows along `dim`, not always along the last axis."""
    mask = some(draw, 4, 6)
    mask[:, 2] = False
    agree.masked_softmax(draw.normal(4, 6), mask, dim=0)
    mask[3] = False
    agree.masked_softmax(draw.normal(4, 6), mask, dim=-2)


def test_hidden_scores_do_not_count(agree, draw):
    """Ignore masked scores, even inf and NaN."""
    mask = some(draw, 4, 6)
    for strange in (1e30, float("inf"), float("-inf"), float("nan")):
        all_finite(agree.masked_softmax(draw.normal(4, 6).masked_fill(~mask, strange), mask))


def test_hidden_scores_may_be_the_largest(agree, draw):
    """Keep the precision of allowed scores next to much larger masked ones."""
    mask = some(draw, 4, 6)
    agree.gradients.masked_softmax(draw.normal(4, 6).masked_fill(~mask, 250.0), mask)
    agree.masked_softmax(draw.normal(4, 6) + 18.0 * ~mask, mask)


@pytest.mark.dtypes("float64")
def test_allowed_scores_may_be_very_low(agree, draw):
    """Return correct weights for very low scores: only differences of allowed scores matter."""
    mask = some(draw, 4, 6)
    for depth in (2e4, 3e9):
        # exp(score - logsumexp) is also correct, but its error grows with the depth.
        agree.within(atol=1e-4).masked_softmax(draw.normal(4, 6) - depth, mask)


def test_gradients(agree, draw):
    """Propagate the gradient to allowed scores; it is 0 at masked ones."""
    agree.gradients.masked_softmax(draw.normal(2, 4, 6), some(draw, 4, 6))
    agree.gradients.masked_softmax(draw.normal(2, 4, 6), some(draw, 4, 6), dim=-2)


@pytest.mark.weight(2)
def test_gradients_of_empty_rows(agree, draw):
    """Return a gradient of 0 for a fully masked row: a NaN would spread to all parameters."""
    mask = some(draw, 5, 6)
    mask[2] = False
    agree.gradients.masked_softmax(draw.normal(5, 6), mask)
    mask[1:] = False
    agree.gradients.masked_softmax(draw.normal(5, 6), mask)


def test_gradients_beside_strange_scores(agree, draw):
    """Keep an inf or NaN at a masked position out of the gradient."""
    mask = some(draw, 4, 6)
    for strange in (float("inf"), float("nan")):
        agree.gradients.masked_softmax(draw.normal(4, 6).masked_fill(~mask, strange), mask)


def test_keeps_the_dtype(agree, draw, dtype):
    """Return weights in the dtype of the scores, with and without fully masked rows."""
    mask = some(draw, 4, 6)
    agree.masked_softmax(draw.normal(2, 3, 4, 6), mask)
    mask[1] = False
    agree.gradients.masked_softmax(draw.normal(2, 3, 4, 6), mask)


def test_single_entry(agree, draw):
    """Return 1 for the only entry of a row if it is allowed, and 0 if it is masked."""
    agree.masked_softmax(draw.normal(3, 1), torch.tensor([[True], [False], [True]]))


def test_strided_scores(agree, draw):
    """Accept transposed or expanded views of scores and mask, and leave them unchanged."""
    agree.masked_softmax(draw.normal(6, 4).transpose(0, 1), some(draw, 6, 4).transpose(0, 1))
    agree.masked_softmax(draw.normal(1, 6).expand(4, 6), some(draw, 4, 6)[:1].expand(4, 6))


@pytest.mark.weight(1, elsewhere=5)
def test_device(agree, draw, device):
    """Return weights on the device of the scores and the mask."""
    mask = some(draw, 4, 6)
    mask[3] = False
    agree.masked_softmax(draw.normal(2, 4, 6), mask)


@pytest.mark.dtypes("float32", "float16")
def test_long_rows(agree, draw, dtype):
    """Include every entry in rows of thousands of entries, also in half precision."""
    scores = draw.normal(2, 2500, std=0.1)
    agree.masked_softmax(scores, draw.bools(2, 2500, p=0.95))


def test_gradients_with_singleton_axes(agree, draw):
    """Compute correct gradients along `dim`, even if another axis has size 1."""
    agree.gradients.masked_softmax(draw.normal(5, 1), draw.bools(5, 1, p=0.8), dim=0)
    agree.gradients.masked_softmax(draw.normal(1, 4, 3), draw.bools(4, 3, p=0.8), dim=1)
    agree.gradients.masked_softmax(draw.normal(4, 3, 1), draw.bools(4, 3, 1, p=0.8), dim=0)


def test_two_calls_before_their_gradients(agree, draw):
    """Keep the data for the backward pass per call: later calls must not change gradients."""
    in_a_row = agree.gradients.in_a_row
    in_a_row.masked_softmax(*((draw.normal(4, 6), some(draw, 4, 6)) for _ in range(2)))
    in_a_row.masked_softmax(*((draw.normal(4, 4), some(draw, 4, 4), dim) for dim in (0, 1)))
