"""Hidden graders for `split_heads`."""

import pytest
import torch

from autograder.authors import same


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Give head h the features h·d to (h + 1)·d - 1 of every token."""
    agree.split_heads(draw.normal(2, 5, 12), 3)
    agree.split_heads(draw.normal(3, 7, 10), 5)


def test_tokens_stay_apart(agree, draw):
    """Keep tokens separate: a change to one token affects only that token, in every head."""
    x = draw.normal(2, 5, 12)
    changed = x.clone()
    changed[:, 3] += 1.0
    moved = agree.split_heads(changed, num_heads=4) - agree.split_heads(x, num_heads=4)
    expected = torch.zeros(2, 4, 5, 3)
    expected[:, :, 3] = 1.0
    same(moved, expected, "A change to one token should be seen in that token alone, in all heads.")


def test_any_number_of_heads(agree, draw):
    """Support one head, two heads and as many heads as features."""
    x = draw.normal(2, 5, 6)
    for heads in (1, 2, 6):
        agree.split_heads(x, heads)


def test_singleton_axes(agree, draw):
    """Keep all four axes, even for a single sequence or token."""
    agree.split_heads(draw.normal(1, 5, 6), 2)
    agree.split_heads(draw.normal(4, 1, 6), 3)
    agree.split_heads(draw.normal(1, 1, 1), 1)


def test_inputs_that_are_views(agree, draw):
    """Return the same heads for transposed, expanded and strided inputs as for their copies."""
    agree.split_heads(draw.normal(5, 2, 12).transpose(0, 1), 3)
    agree.split_heads(draw.normal(1, 5, 12).expand(3, 5, 12), 4)
    agree.split_heads(draw.normal(2, 12, 5).transpose(1, 2), 3)
    agree.split_heads(draw.normal(2, 5, 24)[:, :, ::2], 3)


@pytest.mark.weight(3)
def test_gradients(agree, draw):
    """Propagate each feature's gradient to its original position."""
    agree.gradients.split_heads(draw.normal(2, 5, 12), 3)


def test_every_dtype(agree, draw, dtype):
    """Return heads in the dtype of the input."""
    agree.split_heads(draw.normal(2, 5, 12), 3)


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Return heads on the device of the input."""
    agree.split_heads(draw.normal(2, 5, 12), 3)


def test_refuses_an_uneven_cut(submission, refuses, draw):
    """Raise a ValueError that states the width if `num_heads` does not divide it."""
    submission.split_heads(draw.normal(2, 5, 12), 4)
    refuses(ValueError, mentions="4").split_heads(draw.normal(2, 5, 14), 4)
    refuses(ValueError).split_heads(draw.normal(2, 5, 3), 7)
