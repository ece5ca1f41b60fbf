"""Hidden graders for `causal_mask`."""

import pytest
import torch

from autograder.authors import expect


@pytest.mark.weight(2)
def test_lower_triangle(agree):
    """Allow the keys 0 to i (inclusive) in row i, and no later keys."""
    agree.exactly.causal_mask(5)
    agree.exactly.causal_mask(8)


def test_says_true_for_allowed(agree):
    """Use True for "may attend": the first token sees one key, the last token all keys."""
    mask = agree.exactly.causal_mask(6)
    expect(
        int(mask[0].sum()) == 1, "The first token should be allowed to see exactly one key: itself."
    )
    expect(bool(mask[-1].all()), "The last token should be allowed to see every key.")


def test_is_boolean(agree):
    """Return a bool tensor, so that `~mask` and `masked_fill` work."""
    mask = agree.exactly.causal_mask(4)
    expect(mask.dtype == torch.bool, "The mask should be a bool tensor.")


def test_has_two_axes(agree):
    """Return a mask with two axes, (queries, keys), which broadcasts over batch and heads."""
    mask = agree.exactly.causal_mask(7)
    expect(mask.dim() == 2, "The mask should have two axes.")


def test_single_token(agree):
    """Allow the only token of a sequence to attend to itself."""
    agree.exactly.causal_mask(1)


@pytest.mark.weight(3)
def test_length_may_change_between_calls(agree):
    """Return the mask for the requested length, regardless of earlier calls."""
    for seq_len in (3, 9, 2, 9):
        agree.exactly.causal_mask(seq_len)


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, device):
    """Create the mask on `device`, so that it can be combined with scores on a GPU."""
    agree.exactly.causal_mask(5, device=device)
    agree.exactly.causal_mask(3, device)


def test_long_sequences(agree):
    """Return the whole mask for a sequence of more than a thousand tokens."""
    agree.exactly.causal_mask(1100)
