"""Hidden graders for `masked_softmax`."""

import pytest
import torch

from autograder.authors import all_finite, expect, rows_sum_to_one, zero_where


def some(draw, *shape, p=0.6):
    """A mask that leaves every row and every column something to attend to."""
    mask = draw.bools(*shape, p=p)
    rows, columns = torch.arange(shape[-2]), torch.arange(shape[-1])
    return mask | (rows[:, None] % shape[-1] == columns) | (rows[:, None] == columns % shape[-2])


@pytest.mark.weight(2)
def test_values(agree, draw):
    """The allowed entries share all of the weight, as a softmax over them alone would share it."""
    mask = some(draw, 4, 7)
    weights = agree.masked_softmax(draw.normal(4, 7, std=2.0), mask)
    zero_where(weights, ~mask)
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_any_rank(agree, draw):
    """Scores may have any number of axes, from a single row to batch and heads."""
    agree.masked_softmax(draw.normal(6), torch.tensor([True, False, True, True, False, True]))
    agree.masked_softmax(draw.normal(3, 4, 5), some(draw, 3, 4, 5))
    agree.masked_softmax(draw.normal(2, 3, 4, 5), some(draw, 2, 3, 4, 5))


def test_mask_broadcasts(agree, draw):
    """The mask may lack axes that the scores have, or have size 1 there."""
    scores = draw.normal(2, 3, 4, 6)
    agree.masked_softmax(scores, some(draw, 4, 6))
    agree.masked_softmax(scores, some(draw, 2, 1, 1, 6) | (torch.arange(6) == 2))
    agree.masked_softmax(scores, torch.tensor([True, True, False, True, False, False]))
    agree.masked_softmax(scores, torch.tensor([[True], [False], [True], [True]]))


@pytest.mark.weight(2)
def test_any_axis(agree, draw):
    """The sum runs over the axis that `dim` names."""
    for dim in (0, 1, 2, -2, -3):
        agree.masked_softmax(
            draw.normal(3, 4, 5),
            some(draw, 3, 4, 5) | some(draw, 5, 3, 4).permute(1, 2, 0),
            dim=dim,
        )
    agree.masked_softmax(draw.normal(3, 4, 5), some(draw, 3, 4, 5), 2)


def test_everything_allowed(agree, draw):
    """With nothing hidden this is the softmax, large scores included."""
    # exp(score - logsumexp) is right too, and its error grows with the size of the scores.
    agree.within(atol=1e-3).masked_softmax(
        draw.normal(3, 6, std=200.0), torch.ones(3, 6, dtype=torch.bool)
    )


@pytest.mark.weight(2)
def test_empty_rows(agree, draw):
    """A row in which everything is hidden gives zeros, and the other rows stay right."""
    mask = some(draw, 5, 6)
    mask[1] = mask[4] = False
    weights = agree.masked_softmax(draw.normal(5, 6), mask)
    expect(
        not weights[1].any() and not weights[4].any(),
        "A row in which everything is hidden should be all zeros.",
    )
    agree.masked_softmax(draw.normal(5, 6), torch.zeros(5, 6, dtype=torch.bool))


def test_empty_along_any_axis(agree, draw):
    """Whether a row is empty is decided along `dim`, not always along the last axis."""
    mask = some(draw, 4, 6)
    mask[:, 2] = False
    agree.masked_softmax(draw.normal(4, 6), mask, dim=0)
    mask[3] = False
    agree.masked_softmax(draw.normal(4, 6), mask, dim=-2)


def test_hidden_scores_do_not_count(agree, draw):
    """Whatever stands in a hidden place, even inf or NaN, changes nothing."""
    mask = some(draw, 4, 6)
    for strange in (1e30, float("inf"), float("-inf"), float("nan")):
        all_finite(agree.masked_softmax(draw.normal(4, 6).masked_fill(~mask, strange), mask))


def test_hidden_scores_may_be_the_largest(agree, draw):
    """The allowed scores keep their precision next to hidden ones that are far larger."""
    mask = some(draw, 4, 6)
    agree.gradients.masked_softmax(draw.normal(4, 6).masked_fill(~mask, 250.0), mask)
    agree.masked_softmax(draw.normal(4, 6) + 18.0 * ~mask, mask)


@pytest.mark.dtypes("float64")
def test_allowed_scores_may_be_very_low(agree, draw):
    """Only the differences of the allowed scores matter, however far below zero they are."""
    mask = some(draw, 4, 6)
    for depth in (2e4, 3e9):
        # exp(score - logsumexp) is right too, and its error grows with the depth.
        agree.within(atol=1e-4).masked_softmax(draw.normal(4, 6) - depth, mask)


def test_gradients(agree, draw):
    """The gradient reaches the allowed scores and is 0 at the hidden ones."""
    agree.gradients.masked_softmax(draw.normal(2, 4, 6), some(draw, 4, 6))
    agree.gradients.masked_softmax(draw.normal(2, 4, 6), some(draw, 4, 6), dim=-2)


@pytest.mark.weight(2)
def test_gradients_of_empty_rows(agree, draw):
    """An empty row has a gradient of 0: a NaN there would spread to every parameter."""
    mask = some(draw, 5, 6)
    mask[2] = False
    agree.gradients.masked_softmax(draw.normal(5, 6), mask)
    mask[1:] = False
    agree.gradients.masked_softmax(draw.normal(5, 6), mask)


def test_gradients_beside_strange_scores(agree, draw):
    """An inf or NaN in a hidden place does not reach the gradient."""
    mask = some(draw, 4, 6)
    for strange in (float("inf"), float("nan")):
        agree.gradients.masked_softmax(draw.normal(4, 6).masked_fill(~mask, strange), mask)


def test_keeps_the_dtype(agree, draw, dtype):
    """Each float type comes back as it came in, half precision too, with empty rows and without."""
    mask = some(draw, 4, 6)
    agree.masked_softmax(draw.normal(2, 3, 4, 6), mask)
    mask[1] = False
    agree.gradients.masked_softmax(draw.normal(2, 3, 4, 6), mask)


def test_single_entry(agree, draw):
    """A row of one entry gives 1 if it is allowed and 0 if it is hidden."""
    agree.masked_softmax(draw.normal(3, 1), torch.tensor([[True], [False], [True]]))


def test_strided_scores(agree, draw):
    """Scores and mask may be transposed or expanded views, and stay as they were."""
    agree.masked_softmax(draw.normal(6, 4).transpose(0, 1), some(draw, 6, 4).transpose(0, 1))
    agree.masked_softmax(draw.normal(1, 6).expand(4, 6), some(draw, 4, 6)[:1].expand(4, 6))


@pytest.mark.weight(1, elsewhere=5)
def test_device(agree, draw, device):
    """Scores and mask on a GPU give weights there."""
    mask = some(draw, 4, 6)
    mask[3] = False
    agree.masked_softmax(draw.normal(2, 4, 6), mask)


@pytest.mark.dtypes("float32", "float16")
def test_long_rows(agree, draw, dtype):
    """In rows of thousands of entries, every entry counts, in half precision too."""
    scores = draw.normal(2, 2500, std=0.1)
    agree.masked_softmax(scores, draw.bools(2, 2500, p=0.95))


def test_gradients_beside_axes_of_one(agree, draw):
    """Gradients run along `dim` too if other axes, or this one, have a single entry."""
    agree.gradients.masked_softmax(draw.normal(5, 1), draw.bools(5, 1, p=0.8), dim=0)
    agree.gradients.masked_softmax(draw.normal(1, 4, 3), draw.bools(4, 3, p=0.8), dim=1)
    agree.gradients.masked_softmax(draw.normal(4, 3, 1), draw.bools(4, 3, 1, p=0.8), dim=0)


def test_two_calls_before_their_gradients(agree, draw):
    """Each call keeps what its own gradients need, whatever was called since."""
    in_a_row = agree.gradients.in_a_row
    in_a_row.masked_softmax(*((draw.normal(4, 6), some(draw, 4, 6)) for _ in range(2)))
    in_a_row.masked_softmax(*((draw.normal(4, 4), some(draw, 4, 4), dim) for dim in (0, 1)))
