"""Hidden graders for `induction_score`."""

import pytest
import torch

from autograder.authors import expect, same


@pytest.mark.weight(3)
def test_repeated_sequences(agree, draw, attention):
    """Score the attention to the position after the previous copy of the token."""
    for batch, heads, period in ((2, 3, 5), (3, 2, 8)):
        order = torch.stack([draw.permutation(20)[:period] for _ in range(batch)])
        agree.induction_score(attention(batch, heads, 2 * period), order.repeat(1, 2))


@pytest.mark.weight(2)
def test_perfect_head(submission, draw):
    """Give a head that always attends to the matching key the score 1."""
    ids = draw.permutation(30)[:6].repeat(2)[None]
    weights = torch.zeros(1, 1, 12, 12)
    weights[:, :, range(6), 0] = 1.0
    weights[:, :, range(6, 12), range(1, 7)] = 1.0
    score = submission.induction_score(weights, ids)
    expect(abs(float(score) - 1) < 1e-6, "A perfect induction head should have the score 1.")


@pytest.mark.weight(3)
def test_every_earlier_copy_counts(agree, draw, attention):
    """Add the weights of all matching keys if a token has several earlier copies."""
    for size, length in ((2, 7), (3, 12)):
        agree.induction_score(attention(2, 3, length), draw.integers(0, size, 2, length))
    period = draw.permutation(20)[:4].repeat(2, 4)
    agree.induction_score(attention(2, 2, 16), period)


@pytest.mark.weight(2)
def test_any_sequences(agree, draw, attention):
    """Find copies at any distance, in sequences that do not repeat as a whole."""
    for size, length in ((9, 10), (15, 12)):
        ids = draw.integers(0, size, 3, length)
        ids[:, -1] = ids[:, 1]
        agree.induction_score(attention(3, 2, length), ids)


@pytest.mark.weight(2)
def test_queries_without_a_match_do_not_count(agree, draw, attention):
    """Average over the queries that have a matching key only."""
    ids = torch.stack([draw.permutation(30)[:9] for _ in range(2)])
    ids[:, 6] = ids[:, 2]
    agree.induction_score(attention(2, 3, 9), ids)


@pytest.mark.weight(2)
def test_all_queries_have_equal_weight(agree, draw, attention):
    """Average over the queries of all sequences together, however many each sequence has."""
    ids = torch.stack([draw.permutation(30)[:10] for _ in range(3)])
    ids[0, 5:] = ids[0, :5]
    ids[1, 9] = ids[1, 0]  # one query only; sequence 2 has none
    agree.induction_score(attention(3, 2, 10), ids)


@pytest.mark.weight(2)
def test_copy_just_before(agree, draw, attention):
    """Include the query's own position if the token before it is a copy."""
    ids = draw.permutation(30)[:8].repeat(2, 1)
    ids[:, 4] = ids[:, 3]
    agree.induction_score(attention(2, 2, 8), ids)


def test_first_position_never_matches(agree, draw, attention):
    """Never count the first position, which follows no token."""
    ids = draw.permutation(30)[:7][None]
    ids[:, 4] = ids[:, 1]
    weights = attention(1, 2, 7)
    agree.induction_score(weights, ids)
    first = torch.zeros_like(weights)
    first[..., 0] = 1.0
    agree.induction_score(first, ids)


def test_each_sequence_has_its_matches(agree, draw, attention):
    """Use the tokens of each sequence for its own weights."""
    ids = torch.stack([draw.permutation(9)[:4] for _ in range(4)]).repeat(1, 2)
    ids[0, 4:] = ids[0, :4].flip(0)
    agree.induction_score(attention(4, 4, 8), ids)


def test_order_of_the_sequences(submission, draw, attention):
    """Return the same scores for the sequences in another order."""
    ids, weights = draw.integers(0, 5, 4, 9), attention(4, 2, 9)
    ids[0], ids[-1] = 3, torch.arange(9)  # as many matches as possible, and none
    forwards = submission.induction_score(weights, ids)
    backwards = submission.induction_score(weights.flip(0), ids.flip(0))
    same(forwards, backwards, "The order of the sequences changes the scores.")


def test_singleton_axes(agree, draw, attention):
    """Return one score per head, for one sequence and one head as well."""
    for batch, heads in ((1, 1), (1, 4), (3, 1)):
        agree.induction_score(attention(batch, heads, 8), draw.integers(0, 3, batch, 8))
    agree.induction_score(attention(2, 2, 2), torch.full((2, 2), 7))


def test_any_tokens(agree, draw, attention):
    """Accept large and negative ids."""
    ids = torch.tensor([100000, -5, 100000, -5, 7, 100000])[None]
    agree.induction_score(attention(1, 3, 6), ids)


@pytest.mark.dtypes("float64", "bfloat16")
def test_dtypes(agree, draw, attention, dtype):
    """Return the dtype of the weights."""
    agree.induction_score(attention(2, 3, 8), draw.integers(0, 4, 2, 8))


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, attention, device):
    """Compute on the device of the weights."""
    agree.induction_score(attention(2, 3, 8), draw.integers(0, 4, 2, 8))


def test_views(agree, draw, attention):
    """Accept views of tensors, and leave them unchanged."""
    weights, ids = attention(3, 2, 8), draw.integers(0, 4, 8, 2).T
    agree.induction_score(weights.transpose(0, 1), ids)
    agree.induction_score(weights[:1].expand(4, 2, 8, 8), ids[:1].expand(4, 8))


def test_refuses_sequences_without_a_match(refuses, draw, attention):
    """Raise a ValueError if no query has a matching key."""
    ids = torch.stack([draw.permutation(9)[:5] for _ in range(2)])
    refuses(ValueError).induction_score(attention(2, 3, 5), ids)
