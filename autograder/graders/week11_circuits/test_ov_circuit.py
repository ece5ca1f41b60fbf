"""Hidden graders for `ov_circuit`. Work is counted, not timed."""

import pytest

from autograder.authors import expect


@pytest.mark.weight(3)
def test_values(agree, head):
    """Return what attention to each token, in rows, adds to each logit, in columns."""
    agree.ov_circuit(*head(7, 8, 4))
    agree.ov_circuit(*head(5, 12, 2))


@pytest.mark.weight(2)
def test_tied_embedding(agree, head):
    """Tell sources from outputs, also if `embed` and `unembed` are the same matrix."""
    embed, W_V, W_O, _ = head(6, 8, 4)
    agree.ov_circuit(embed, W_V, W_O, embed)


@pytest.mark.weight(2)
def test_heads(agree, head):
    """Keep leading axes of the weights, such as one for the heads, or two."""
    agree.ov_circuit(*head(5, 8, 4, 3))
    agree.ov_circuit(*head(5, 8, 4, 2, 3))


@pytest.mark.weight(2)
def test_square_weights(agree, head):
    """Tell the axes of the weights apart if d, C and V are equal."""
    agree.ov_circuit(*head(4, 4, 4))
    agree.ov_circuit(*head(4, 4, 4, 4))


def test_singleton_axes(agree, head):
    """Keep axes of size 1: one token, one head, one feature."""
    for sizes in ((1, 6, 3), (5, 6, 3, 1), (1, 1, 1), (3, 4, 1, 2)):
        agree.ov_circuit(*head(*sizes))


@pytest.mark.weight(2)
def test_cost(count, head):
    """Compute two projections to the d features of the head, and one product of these."""
    vocabulary, width, d = 12, 96, 4
    counted = count.ov_circuit(*head(vocabulary, width, d))
    least = 2 * d * (2 * vocabulary * width + vocabulary * vocabulary)
    expect(counted.largest < width * width, "A tensor has as many elements as a (C, C) matrix.")
    expect(counted.flops < 2 * least, "More work than two projections and their product.")


@pytest.mark.weight(2)
def test_gradients(agree, head):
    """Propagate gradients to all four arguments."""
    agree.within(1e-4).gradients.ov_circuit(*head(4, 6, 3, 2))


@pytest.mark.dtypes("float64")
def test_double_precision(agree, head, dtype):
    """Return float64 for float64 arguments."""
    agree.ov_circuit(*head(4, 6, 3, 2))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, head, device):
    """Compute on the device of the weights."""
    agree.ov_circuit(*head(4, 6, 3, 2))


def test_views(agree, head, draw):
    """Accept views of tensors, and leave them unchanged."""
    embed, W_V, W_O, unembed = head(5, 6, 6)
    agree.ov_circuit(embed, W_V.T, W_O.T, draw.normal(6, 5).T)
    agree.ov_circuit(embed.flip(0), W_V.expand(3, 6, 6), W_O.expand(3, 6, 6), unembed)
