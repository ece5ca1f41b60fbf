"""Hidden graders for `additive_attention`."""

import pytest
import torch

from autograder.authors import rows_sum_to_one, zero_where


@pytest.fixture
def inputs(draw):
    """Draw q (..., n, d_q), k (..., m, d_k), v (..., m, d_v), W_q (a, d_q), W_k (a, d_k), u (a,).

    By default, m = n and d_k = d_v = d_q.
    """

    def make(*lead, n=4, m=None, d_q=5, d_k=None, d_v=None, a=8):
        m = n if m is None else m
        d_k, d_v = d_q if d_k is None else d_k, d_q if d_v is None else d_v
        pairs = draw.normal(*lead, n, d_q), draw.normal(*lead, m, d_k), draw.normal(*lead, m, d_v)
        return *pairs, draw.normal(a, d_q), draw.normal(a, d_k), draw.normal(a)

    return make


def sighted(draw, *shape):
    """Draw a mask that allows each query at least one key."""
    one = draw.integers(0, shape[-1], *shape[:-1])
    return draw.bools(*shape) | torch.nn.functional.one_hot(one, shape[-1]).bool()


@pytest.mark.weight(3)
def test_values(agree, inputs):
    """Average the values with the softmax over keys of the scores u · tanh(W_q q + W_k k)."""
    _, weights = agree.additive_attention(*inputs(2))
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_more_keys_or_queries(agree, draw, inputs):
    """Support more or fewer keys than queries, also with a mask (n, m)."""
    for n, m in ((4, 6), (7, 3)):
        agree.additive_attention(*inputs(2, n=n, m=m))
        agree.additive_attention(*inputs(2, n=n, m=m), sighted(draw, n, m))


@pytest.mark.weight(2)
def test_sizes_of_their_own(agree, inputs):
    """Support queries, keys and values with different numbers of features."""
    agree.additive_attention(*inputs(d_q=3, d_k=5, d_v=7))
    agree.additive_attention(*inputs(d_q=6, d_k=2, d_v=1))


def test_any_leading_dimensions(agree, inputs):
    """Apply the same W_q, W_k and u to inputs without a batch, with a batch, and with heads."""
    for lead in ((), (1,), (2, 3)):
        agree.additive_attention(*inputs(*lead))


def test_sizes(agree, inputs):
    """Do not scale the scores, whatever the sizes a and d_q are."""
    agree.additive_attention(*inputs(a=2, d_q=16))
    agree.additive_attention(*inputs(a=16, d_q=2))


def test_singleton_axes(agree, inputs):
    """Keep axes of size 1, for a single query, key, feature or hidden unit."""
    agree.additive_attention(*inputs(2, n=1, m=6))
    agree.additive_attention(*inputs(2, m=1))
    agree.additive_attention(*inputs(1, n=3, d_q=1, a=1))


@pytest.mark.weight(2)
def test_masks(agree, draw, inputs):
    """Give masked keys a weight of exactly 0, with a mask for all sequences or one per sequence."""
    for shape in ((4, 4), (2, 4, 4), (2, 1, 4)):
        mask = sighted(draw, *shape)
        _, weights = agree.additive_attention(*inputs(2), mask)
        zero_where(weights, ~mask.expand(2, 4, 4))


@pytest.mark.weight(2)
def test_fully_masked_rows(agree, draw, inputs):
    """Return zero weights and a zero output for a fully masked query, and no NaN gradient."""
    mask = sighted(draw, 4, 4)
    mask[2] = False
    agree.gradients.additive_attention(*inputs(2), mask=mask)


@pytest.mark.weight(2)
def test_gradients(agree, inputs):
    """Propagate gradients to queries, keys, values, W_q, W_k and u."""
    agree.gradients.additive_attention(*inputs(2, 3))


def test_every_dtype(agree, draw, inputs, dtype):
    """Return output and weights in the inputs' dtype, also with a mask."""
    agree.additive_attention(*inputs())
    mask = sighted(draw, 4, 4)
    mask[1] = False
    agree.additive_attention(*inputs(), mask)


def test_inputs_that_are_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    agree.additive_attention(
        draw.normal(4, 2, 5).transpose(0, 1),
        draw.normal(1, 4, 5).expand(2, 4, 5),
        draw.normal(2, 5, 4).mT,
        draw.normal(5, 8).T,
        draw.normal(5, 8).T,
        draw.normal(8, 2)[:, 0],
    )


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, inputs, device):
    """Create all tensors on the device of the queries."""
    agree.additive_attention(*inputs(2, 3))
    agree.additive_attention(*inputs(2, 3), sighted(draw, 4, 4))


def test_many_keys(agree, inputs):
    """Attend to every key, even with more than a thousand keys."""
    agree.additive_attention(*inputs(n=2, m=1100))


def test_gradients_with_singleton_axes(agree, inputs):
    """Compute gradients for a single query, key, hidden unit or value feature."""
    for sizes in ({"n": 1, "m": 6}, {"m": 1}, {"a": 1}, {"d_v": 1}):
        agree.gradients.additive_attention(*inputs(1, **sizes))


def test_two_calls_before_their_gradients(agree, draw):
    """Save data for backward per call: later calls must not alter the gradients of earlier ones."""
    shapes = ((2, 4, 3), (2, 6, 5), (2, 6, 2), (7, 3), (7, 5), (7,))
    first, second = ([draw.normal(*shape) for shape in shapes] for _ in range(2))
    agree.gradients.in_a_row.additive_attention(first, second)
