"""Hidden graders for `combine_masks`."""

import pytest
import torch

from autograder.authors import expect


def triangle(length):
    """Return the causal mask of `length` tokens."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def first(lengths, width):
    """Return the padding mask (B, width) of sequences with these lengths."""
    return torch.arange(width) < torch.tensor(lengths)[:, None]


@pytest.mark.weight(2)
def test_both_must_allow(agree):
    """Allow a key only if both the causal mask *and* the padding mask allow it."""
    agree.exactly.combine_masks(triangle(6), first([6, 2, 4], 6))


def test_padding_hides_keys(agree):
    """Mask padded positions as keys, but keep their rows as queries."""
    length = 5
    mask = agree.exactly.combine_masks(triangle(length), first([5, 2, 3], length))
    expect(not mask[1, 0, :, 2:].any(), "No query should be allowed to see a padded key.")
    expect(
        bool(mask[1, 0, :, 0].all()),
        "Every query, also a padded one, should keep the real keys before it.",
    )


def test_shape_serves_every_head(agree, draw):
    """Return (B, 1, T, T): the axis of size 1 broadcasts over heads."""
    mask = agree.exactly.combine_masks(triangle(4), first([4, 1, 3], 4))
    expect(tuple(mask.shape) == (3, 1, 4, 4), "The result should have the shape (B, 1, T, T).")
    agree.exactly.combine_masks(triangle(3), first([2, 3, 1], 3))


def test_padding_in_front(agree):
    """Support padding before the tokens; some queries then have no visible key."""
    agree.exactly.combine_masks(triangle(7), first([2, 0, 5], 7).logical_not())


def test_window(agree):
    """Support a causal mask that also hides keys far in the past."""
    window = triangle(6) & ~triangle(6).tril(-3)
    agree.exactly.combine_masks(window, first([6, 3], 6))


def test_sequence_of_padding(agree):
    """Mask all keys of a sequence that has no real tokens."""
    mask = agree.exactly.combine_masks(triangle(4), first([3, 0], 4))
    expect(not mask[1].any(), "A sequence that is all padding should be masked completely.")


def test_single_token(agree):
    """Return a mask (B, 1, 1, 1) if T is 1: True for a token, False for padding."""
    agree.exactly.combine_masks(triangle(1), first([1], 1))
    agree.exactly.combine_masks(triangle(1), first([1, 0], 1))


@pytest.mark.weight(1, elsewhere=2)
def test_device(agree, device):
    """Return the combined mask on the device of the two masks."""
    agree.exactly.combine_masks(triangle(5), first([5, 3], 5))


def test_views(agree, draw):
    """Read transposed and strided masks by index, not by memory order."""
    causal = torch.ones(4, 4, dtype=torch.bool).triu().T
    padding = torch.arange(4) < torch.tensor([[2], [4], [1]])
    agree.exactly.combine_masks(causal, padding)
    agree.exactly.combine_masks(causal, padding.T.contiguous().T)
