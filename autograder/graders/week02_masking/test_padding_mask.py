"""Hidden graders for `padding_mask`."""

import pytest
import torch

from autograder.authors import expect


@pytest.mark.weight(2)
def test_real_tokens_come_first(agree, draw):
    """Return True at the first `lengths[b]` positions of row b, and False after them."""
    agree.exactly.padding_mask(torch.tensor([4, 2, 6, 1, 6]))
    agree.exactly.padding_mask(draw.integers(1, 10, 4))


def test_max_len(agree):
    """Return `max_len` columns, even if no sequence is that long."""
    agree.exactly.padding_mask(torch.tensor([3, 5]), 8)
    agree.exactly.padding_mask(torch.tensor([3, 7, 1]), max_len=7)


def test_default_is_the_longest(agree):
    """Return one column per token of the longest sequence if `max_len` is not given."""
    agree.exactly.padding_mask(torch.tensor([2, 9, 4]))
    agree.exactly.padding_mask(torch.tensor([1, 2, 2, 1, 1]))
    agree.exactly.padding_mask(torch.tensor([6]))


def test_is_boolean(agree):
    """Return a bool tensor."""
    mask = agree.exactly.padding_mask(torch.tensor([2, 4, 1]))
    expect(mask.dtype == torch.bool, "The mask should be a bool tensor.")


def test_sequence_without_tokens(agree):
    """Accept a length of 0: every entry of that row is False."""
    agree.exactly.padding_mask(torch.tensor([3, 0, 5, 0]), max_len=6)


def test_integer_types(agree):
    """Accept int32 and int64 lengths, including a strided view."""
    agree.exactly.padding_mask(torch.tensor([2, 5, 3], dtype=torch.int32))
    agree.exactly.padding_mask(torch.tensor([2, 8, 5, 8, 3, 8])[::2], max_len=9)


def test_refuses_a_length_over_max_len(refuses):
    """Raise a ValueError that states the length if it exceeds `max_len`."""
    refuses(ValueError, mentions="23").padding_mask(torch.tensor([4, 23, 11]), max_len=17)
    refuses(ValueError, mentions="18").padding_mask(torch.tensor([18, 2]), 17)


def test_refuses_a_length_below_zero(refuses):
    """Raise a ValueError that states the length if it is negative and `max_len` is given."""
    refuses(ValueError, mentions="-1").padding_mask(torch.tensor([4, 2, -1]), max_len=6)


def test_refuses_a_length_below_zero_without_max_len(refuses):
    """Raise a ValueError that states the length if it is negative and `max_len` is not given."""
    refuses(ValueError, mentions="-3").padding_mask(torch.tensor([5, -3, 2]))


def test_no_room_at_all(agree, refuses):
    """Treat a `max_len` of 0 as a limit, not as a missing argument."""
    agree.exactly.padding_mask(torch.tensor([0, 0]), max_len=0)
    refuses(ValueError, mentions="5").padding_mask(torch.tensor([0, 5]), max_len=0)


@pytest.mark.weight(1, elsewhere=2)
def test_device(agree, device):
    """Return a mask on the device of `lengths`."""
    agree.exactly.padding_mask(torch.tensor([3, 1, 4]), max_len=6)


def test_long_sequences(agree):
    """Mark each token in sequences of more than a thousand tokens."""
    agree.exactly.padding_mask(torch.tensor([1100, 3, 1025]))
