"""Hidden graders for `copying_score`. Work is counted, not timed.

Results are compared to within 1e-3, since programs may find eigenvalues in different ways.
"""

import pytest
import torch

from autograder.authors import expect


@pytest.fixture
def scored(agree):
    """Compare scores to within 1e-3."""
    return agree.within(1e-3).copying_score


@pytest.mark.weight(3)
def test_values(scored, head):
    """Return the sum of the eigenvalues, divided by the sum of their absolute values."""
    scored(*head(7, 8, 4))
    scored(*head(12, 6, 3))
    scored(*head(20, 10, 5))


@pytest.mark.weight(2)
def test_copying_heads(submission, draw):
    """Return 1 if all eigenvalues are positive, and -1 if all are negative."""
    embed, W_V = draw.normal(9, 6), draw.normal(3, 6)
    for sign in (1.0, -1.0):
        found = float(submission.copying_score(embed, W_V, sign * W_V.T, embed))
        expect(abs(found - sign) < 1e-3, "The score should be 1 or -1 if all signs are equal.")


@pytest.mark.weight(2)
def test_complex_eigenvalues(agree, draw):
    """Use the absolute values of complex eigenvalues, not of their real parts."""
    embed = torch.eye(2)
    for angle in (0.4, 1.2, 2.5):
        a = torch.tensor(angle)
        turn = torch.stack([a.cos(), -a.sin(), a.sin(), a.cos()]).view(2, 2)
        agree.within(1e-3).copying_score(embed, torch.eye(2), turn, embed)


@pytest.mark.weight(2)
def test_heads(scored, head):
    """Return one score per head, for any leading axes of the weights."""
    scored(*head(8, 6, 3, 4))
    scored(*head(8, 6, 3, 2, 3))
    scored(*head(8, 6, 3, 1))


def test_size_of_the_weights(scored, head):
    """Return a score that does not depend on the size of the weights."""
    embed, W_V, W_O, unembed = head(8, 6, 3)
    scored(1e-3 * embed, W_V, 1e-2 * W_O, unembed)
    scored(30 * embed, 10 * W_V, W_O, unembed)


@pytest.mark.weight(2)
def test_embed_and_unembed(scored, head):
    """Use both the embedding and the unembedding."""
    embed, W_V, W_O, unembed = head(8, 6, 6)
    scored(embed, W_V, W_O, unembed)
    scored(unembed, W_V, W_O, embed)


def test_small_vocabularies(scored, head):
    """Support vocabularies that are smaller than the head's width, and axes of size 1."""
    scored(*head(3, 8, 5))
    scored(*head(1, 4, 2))
    scored(*head(5, 4, 1))


@pytest.mark.weight(2)
def test_silent_head(scored, head):
    """Return 0, not NaN, for a head that writes nothing."""
    embed, W_V, W_O, unembed = head(7, 6, 3, 2)
    scored(embed, W_V, 0 * W_O, unembed)
    W_O[0] = 0
    scored(embed, W_V, W_O, unembed)


@pytest.mark.weight(2)
def test_cost_of_a_vocabulary(count, head):
    """Compute no matrix of shape (V, V)."""
    counted = count.copying_score(*head(150, 10, 3))
    expect(counted.largest < 150 * 150 // 4, "A tensor has as many elements as pairs of tokens.")


@pytest.mark.weight(2)
def test_cost_of_the_width(count, head):
    """Compute no matrix of shape (C, C)."""
    counted = count.copying_score(*head(20, 100, 3))
    expect(counted.largest < 100 * 100 // 4, "A tensor has as many elements as a (C, C) matrix.")


@pytest.mark.dtypes("float64")
def test_double_precision(agree, head, dtype):
    """Return real float64 scores for float64 weights."""
    agree.within(1e-6).copying_score(*head(7, 6, 3, 2))


@pytest.mark.weight(1, elsewhere=4)
def test_device(scored, head, device):
    """Compute on the device of the weights."""
    scored(*head(7, 6, 3, 2))


def test_views(scored, head):
    """Accept views of tensors, and leave them unchanged."""
    embed, W_V, W_O, unembed = head(8, 6, 6)
    scored(embed, W_V.T, W_O.T, unembed.flip(0))
    scored(embed, W_V.expand(2, 6, 6), W_O.expand(2, 6, 6), unembed)
