"""Hidden graders for `previous_token_score`."""

import pytest
import torch

from autograder.authors import expect


@pytest.mark.weight(3)
def test_values(agree, attention):
    """Average the weights that queries give to the position before them."""
    agree.previous_token_score(attention(3, 4, 7))
    agree.previous_token_score(attention(2, 5, 12))


@pytest.mark.weight(2)
def test_first_query_does_not_count(agree, submission):
    """Leave out the first query, which has no previous token."""
    perfect = torch.zeros(2, 1, 4, 4)
    perfect[:, :, 0, 0] = 1.0
    perfect[:, :, range(1, 4), range(3)] = 1.0
    agree.previous_token_score(perfect)
    score = submission.previous_token_score(perfect)
    expect(abs(float(score) - 1) < 1e-6, "A perfect previous-token head should have the score 1.")


@pytest.mark.weight(2)
def test_each_head_has_its_score(agree, attention):
    """Return one score per head, averaged over the sequences."""
    for batch, heads, length in ((1, 3, 5), (4, 1, 5), (3, 3, 3), (5, 2, 5)):
        agree.previous_token_score(attention(batch, heads, length))


def test_shortest_sequences(agree, attention):
    """Support sequences of two tokens, and one head of one sequence."""
    agree.previous_token_score(attention(3, 2, 2))
    agree.previous_token_score(attention(1, 1, 2))


def test_long_sequences(agree, attention):
    """Support sequences of hundreds of tokens."""
    agree.previous_token_score(attention(1, 2, 300))


@pytest.mark.dtypes("float64", "bfloat16")
def test_dtypes(agree, attention, dtype):
    """Return the dtype of the weights."""
    agree.previous_token_score(attention(2, 3, 6))


@pytest.mark.weight(1, elsewhere=2)
def test_device(agree, attention, device):
    """Compute on the device of the weights."""
    agree.previous_token_score(attention(2, 3, 6))


def test_views(agree, attention):
    """Accept views of tensors, and leave the weights unchanged."""
    agree.previous_token_score(attention(4, 2, 6).transpose(0, 1))
    agree.previous_token_score(attention(1, 3, 6).expand(4, 3, 6, 6))


def test_refuses_single_tokens(refuses, attention):
    """Raise a ValueError with the length if no query has a previous token."""
    refuses(ValueError, mentions=1).previous_token_score(attention(2, 3, 1))
