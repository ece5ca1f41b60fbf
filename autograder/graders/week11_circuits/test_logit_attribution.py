"""Hidden graders for `logit_attribution`. Work is counted, not timed."""

import pytest

from autograder.authors import expect, same


@pytest.fixture
def parts(draw):
    """Draw `terms` (N, B, T, C), `unembed` (V, C) and `targets` (B, T)."""

    def make(number=4, batch=2, length=5, width=6, vocabulary=9):
        terms = draw.normal(number, batch, length, width)
        targets = draw.integers(0, vocabulary, batch, length)
        return terms, draw.normal(vocabulary, width), targets

    return make


@pytest.mark.weight(3)
def test_values(agree, parts):
    """Multiply each term by the row of the target token."""
    agree.logit_attribution(*parts())
    agree.logit_attribution(*parts(7, 3, 4, 8, 20))


@pytest.mark.weight(3)
def test_difference(agree, draw, parts):
    """With `others`, return contributions to the logit of the target minus that of the other."""
    for sizes in ((4, 2, 5, 6, 9), (3, 4, 2, 5, 4)):
        others = draw.integers(0, sizes[-1], sizes[1], sizes[2])
        agree.logit_attribution(*parts(*sizes), others)
        agree.logit_attribution(*parts(*sizes), others=others)


@pytest.mark.weight(2)
def test_contributions_sum_to_the_logit(submission, parts):
    """Return contributions whose sum is the logit of the target."""
    terms, unembed, targets = parts(6)
    logits = (terms.sum(0) @ unembed.T).gather(-1, targets[..., None])[..., 0]
    found = submission.logit_attribution(terms, unembed, targets)
    expect(found.shape == terms.shape[:3], "The shape should be (N, B, T).")
    same(found.sum(0), logits, "The contributions do not sum to the logit.")


def test_every_position_has_its_target(agree, parts):
    """Use the target of each position of each sequence."""
    for sizes in ((2, 3, 3, 3, 3), (3, 4, 4, 4, 30), (5, 5, 2, 6, 7)):
        agree.logit_attribution(*parts(*sizes))


def test_equal_tokens_differ_by_nothing(agree, parts):
    """Return zeros if both tokens are the same."""
    terms, unembed, targets = parts()
    agree.logit_attribution(terms, unembed, targets, targets)


def test_singleton_axes(agree, parts):
    """Keep axes of size 1: one term, one sequence, one token, one feature."""
    for sizes in ((1, 2, 3, 4, 5), (3, 1, 1, 4, 5), (1, 1, 1, 1, 1), (3, 2, 1, 1, 4)):
        agree.logit_attribution(*parts(*sizes))


@pytest.mark.weight(3)
def test_cost(count, draw, parts):
    """Compute the logits of the target tokens only, not those of all V tokens."""
    terms, unembed, targets = parts(12, 3, 16, 8, 400)
    every = 12 * 3 * 16 * 400
    for others in (None, draw.integers(0, 400, 3, 16)):
        counted = count.logit_attribution(terms, unembed, targets, others)
        expect(counted.largest < every // 4, "A tensor has an element for every token of V.")
        expect(counted.flops < 2 * every * 8 // 4, "The logits of all tokens are computed.")


@pytest.mark.weight(2)
def test_gradients(agree, draw, parts):
    """Propagate gradients to the terms and to the unembedding."""
    agree.within(1e-4).gradients.logit_attribution(*parts())
    agree.within(1e-4).gradients.logit_attribution(*parts(), draw.integers(0, 9, 2, 5))


@pytest.mark.dtypes("float64", "bfloat16")
def test_dtypes(agree, parts, dtype):
    """Return the dtype of the terms."""
    agree.logit_attribution(*parts(3, 2, 4, 4, 9))


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, parts, device):
    """Compute on the device of the terms."""
    agree.logit_attribution(*parts(), draw.integers(0, 9, 2, 5))


def test_views(agree, parts):
    """Accept views of tensors, and leave them unchanged."""
    terms, unembed, targets = parts(5, 3, 5, 6, 9)
    agree.logit_attribution(terms.transpose(1, 2), unembed, targets.T)
    agree.logit_attribution(terms[:, :1].expand(5, 3, 5, 6), unembed.flip(0), targets)
