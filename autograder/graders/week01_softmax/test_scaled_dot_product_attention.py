"""Hidden graders for `scaled_dot_product_attention` (torch).

In most tests, queries, keys and values have equal shapes, so that a program that requires equal
shapes fails only a few tests.
"""

import pytest

from autograder.authors import rows_sum_to_one


def three(draw, *leading, n=5, m=None, d=6, d_v=None):
    """Draw q (..., n, d), k (..., m, d) and v (..., m, d_v); by default, m = n and d_v = d."""
    m, d_v = n if m is None else m, d if d_v is None else d_v
    return draw.normal(*leading, n, d), draw.normal(*leading, m, d), draw.normal(*leading, m, d_v)


@pytest.mark.weight(3)
def test_values(agree, draw):
    """Weight the values by the softmax of the scaled scores; return (output, weights)."""
    _, weights = agree.scaled_dot_product_attention(*three(draw))
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_head_sizes(agree, draw):
    """Divide the scores by √d for any size d of queries and keys."""
    for d in (1, 2, 7, 24):
        agree.scaled_dot_product_attention(*three(draw, 2, 3, d=d))


@pytest.mark.weight(2)
def test_batches(agree, draw):
    """Support any number of leading axes, and process sentences and heads independently."""
    agree.scaled_dot_product_attention(*three(draw, 2))
    agree.scaled_dot_product_attention(*three(draw, 2, 3))
    agree.scaled_dot_product_attention(*three(draw, 2, 3, 4))


@pytest.mark.weight(2)
def test_more_keys_than_queries(agree, draw):
    """Support more keys than queries: the weights have a row per query and a column per key."""
    agree.scaled_dot_product_attention(*three(draw, 2, 3, n=4, m=7))
    agree.scaled_dot_product_attention(*three(draw, 2, 3, n=1, m=5))


@pytest.mark.weight(2)
def test_fewer_keys_than_queries(agree, draw):
    """Support fewer keys than queries, even a single key, which gets all the attention."""
    agree.scaled_dot_product_attention(*three(draw, n=7, m=4))
    agree.scaled_dot_product_attention(*three(draw, n=4, m=1))


@pytest.mark.weight(2)
def test_values_of_different_size(agree, draw):
    """Support values of a different size d_v, and divide the scores by √d, not √d_v."""
    agree.scaled_dot_product_attention(*three(draw, d_v=3))
    agree.scaled_dot_product_attention(*three(draw, d=4, d_v=9))


def test_one_of_each(agree, draw):
    """Let a single token attend to itself, and keep the axis of a batch of one."""
    agree.scaled_dot_product_attention(*three(draw, 1, n=1))
    agree.scaled_dot_product_attention(*three(draw, 1))


@pytest.mark.weight(2)
def test_large_scores(agree, draw):
    """Avoid overflow for scores in the hundreds or thousands."""
    q, k, v = three(draw, 2)
    # Scores near 4000 are rounded to steps of 2e-4 in float32.
    agree.within(atol=5e-3).scaled_dot_product_attention(40 * q, 40 * k, v)


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients from output and weights to queries, keys and values."""
    agree.gradients.scaled_dot_product_attention(*three(draw))


@pytest.mark.weight(2)
def test_float_types(agree, draw, dtype):
    """Return output and weights in the dtype of the inputs, accurate to its precision."""
    agree.scaled_dot_product_attention(*three(draw, 2, n=4, d=5))


def test_views(agree, draw):
    """Accept transposed, strided and expanded views, and leave them unchanged."""
    q, k, _ = three(draw, d=4)
    agree.scaled_dot_product_attention(
        q.T.contiguous().T, k[:1].expand(5, 4), draw.normal(5, 8)[:, ::2]
    )
    agree.scaled_dot_product_attention(draw.normal(4, 6).T, draw.normal(6, 4), draw.normal(4, 6).T)


def test_views_with_leading_axes(agree, draw):
    """Accept heads that were moved in front of the tokens by a transposition."""
    q, k, v = (draw.normal(2, 5, 3, 6).transpose(1, 2) for _ in range(3))
    agree.scaled_dot_product_attention(q, k, v)


def test_same_tensor_three_times(agree, draw):
    """Accept the same tensor as queries, keys and values."""
    x = draw.normal(2, 5, 6)
    agree.scaled_dot_product_attention(x, x, x)


@pytest.mark.weight(1, elsewhere=5)
def test_device(agree, draw, device):
    """Return output and weights on the device of the inputs, and support gradients there."""
    agree.gradients.scaled_dot_product_attention(*three(draw, 2, 3))


def test_many_keys(agree, draw):
    """Include every key, even with more than a thousand keys."""
    agree.scaled_dot_product_attention(
        draw.normal(2, 4), draw.normal(1100, 4), draw.normal(1100, 4)
    )


def test_two_calls_before_their_gradients(agree, draw):
    """Keep the data for the backward pass per call: later calls must not change gradients."""
    first, second = ([draw.normal(2, n, 5) for n in (3, m, m)] for m in (4, 4))
    agree.gradients.in_a_row.scaled_dot_product_attention(first, second)


@pytest.mark.weight(0.5)
def test_trained_head(agree, trained_head):
    """Return what the last token of a sentence reads in a head of a trained language model."""
    q, k, v = trained_head
    agree.scaled_dot_product_attention(q[-1:], k, v)
