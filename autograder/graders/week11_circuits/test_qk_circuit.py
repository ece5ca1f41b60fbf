"""Hidden graders for `qk_circuit`. Work is counted, not timed."""

import pytest

from autograder.authors import expect


@pytest.fixture
def inputs(draw):
    """Draw `queries` (N, C), `keys` (M, C), `W_Q` and `W_K` (..., d, C)."""

    def make(n, m, width, d, *leading):
        vectors = draw.normal(n, width), draw.normal(m, width)
        return *vectors, draw.normal(*leading, d, width), draw.normal(*leading, d, width)

    return make


@pytest.mark.weight(3)
def test_values(agree, inputs):
    """Return the score of every query, in rows, with every key, in columns."""
    agree.qk_circuit(*inputs(5, 7, 8, 4))
    agree.qk_circuit(*inputs(6, 3, 12, 2))


@pytest.mark.weight(2)
def test_scale(agree, inputs):
    """Divide by the square root of the head's width d."""
    for d in (1, 9, 16):
        agree.qk_circuit(*inputs(4, 5, 6, d))


@pytest.mark.weight(2)
def test_same_vectors(agree, draw):
    """Keep queries and keys apart if both are the same vectors."""
    embed = draw.normal(6, 8)
    agree.qk_circuit(embed, embed, draw.normal(4, 8), draw.normal(4, 8))


@pytest.mark.weight(2)
def test_heads(agree, inputs):
    """Keep leading axes of the weights, such as one for the heads, or two."""
    agree.qk_circuit(*inputs(5, 6, 8, 4, 3))
    agree.qk_circuit(*inputs(5, 6, 8, 4, 2, 3))


def test_square_weights(agree, inputs):
    """Tell the axes of the weights apart if d equals C or the number of vectors."""
    agree.qk_circuit(*inputs(4, 4, 4, 4))
    agree.qk_circuit(*inputs(4, 4, 4, 4, 4))


def test_singleton_axes(agree, inputs):
    """Keep axes of size 1: one query, one key, one head, one feature."""
    for sizes in ((1, 5, 6, 3), (5, 1, 6, 3, 1), (1, 1, 1, 1), (3, 2, 4, 1, 2)):
        agree.qk_circuit(*inputs(*sizes))


@pytest.mark.weight(2)
def test_cost(count, inputs):
    """Compute two projections to the d features of the head, and one product of these."""
    n, m, width, d = 12, 10, 96, 4
    counted = count.qk_circuit(*inputs(n, m, width, d))
    least = 2 * d * (n * width + m * width + n * m)
    expect(counted.largest < width * width, "A tensor has as many elements as a (C, C) matrix.")
    expect(counted.flops < 2 * least, "More work than two projections and their product.")


@pytest.mark.weight(2)
def test_gradients(agree, inputs):
    """Propagate gradients to all four arguments."""
    agree.within(1e-4).gradients.qk_circuit(*inputs(4, 5, 6, 3, 2))


@pytest.mark.dtypes("float64")
def test_double_precision(agree, inputs, dtype):
    """Return float64 for float64 arguments."""
    agree.qk_circuit(*inputs(4, 5, 6, 3, 2))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, inputs, device):
    """Compute on the device of the weights."""
    agree.qk_circuit(*inputs(4, 5, 6, 3, 2))


def test_views(agree, inputs, draw):
    """Accept views of tensors, and leave them unchanged."""
    queries, keys, W_Q, W_K = inputs(5, 7, 6, 6)
    agree.qk_circuit(queries, keys[::2], W_Q.T, W_K.T)
    agree.qk_circuit(draw.normal(6, 5).T, keys, W_Q.expand(3, 6, 6), W_K.expand(3, 6, 6))
