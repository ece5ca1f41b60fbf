"""Hidden graders for `scaled_dot_product_attention_numpy`.

In most tests, queries, keys and values have equal shapes, so that a program that requires equal
shapes fails only a few tests.
"""

import numpy as np
import pytest

from autograder.authors import rows_sum_to_one


def three(draw, *leading, n=5, m=None, d=6, d_v=None, std=1.0):
    """Draw q (..., n, d), k (..., m, d) and v (..., m, d_v); by default, m = n and d_v = d."""
    m, d_v = n if m is None else m, d if d_v is None else d_v
    q, k = draw.array.normal(*leading, n, d, std=std), draw.array.normal(*leading, m, d, std=std)
    return q, k, draw.array.normal(*leading, m, d_v)


@pytest.mark.weight(3)
def test_values(agree, draw):
    """Weight the values by the softmax of the scaled scores; return (output, weights)."""
    _, weights = agree.scaled_dot_product_attention_numpy(*three(draw))
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_head_sizes(agree, draw):
    """Divide the scores by √d for any size d of queries and keys."""
    for d in (1, 2, 7, 24):
        agree.scaled_dot_product_attention_numpy(*three(draw, 2, 3, d=d))


@pytest.mark.weight(2)
def test_batches(agree, draw):
    """Support any number of leading axes, and process sentences independently."""
    for leading in ((2,), (3, 2)):
        agree.scaled_dot_product_attention_numpy(*three(draw, *leading))


@pytest.mark.weight(2)
def test_more_keys_than_queries(agree, draw):
    """Support more keys than queries: the weights have a row per query and a column per key."""
    agree.scaled_dot_product_attention_numpy(*three(draw, 2, 3, n=4, m=7))
    agree.scaled_dot_product_attention_numpy(*three(draw, 2, 3, n=1, m=5))


@pytest.mark.weight(2)
def test_fewer_keys_than_queries(agree, draw):
    """Support fewer keys than queries, even a single key, which gets all the attention."""
    agree.scaled_dot_product_attention_numpy(*three(draw, n=7, m=4))
    agree.scaled_dot_product_attention_numpy(*three(draw, n=4, m=1))


@pytest.mark.weight(2)
def test_values_of_different_size(agree, draw):
    """Support values of a different size d_v, and divide the scores by √d, not √d_v."""
    for d, d_v in ((6, 3), (4, 9)):
        agree.scaled_dot_product_attention_numpy(*three(draw, d=d, d_v=d_v))


def test_one_of_each(agree, draw):
    """Let a single token attend to itself, and keep the axis of a batch of one."""
    agree.scaled_dot_product_attention_numpy(*three(draw, 1, n=1))
    agree.scaled_dot_product_attention_numpy(*three(draw, 1))


@pytest.mark.weight(2)
def test_large_scores(agree, draw):
    """Avoid overflow for scores in the hundreds or thousands."""
    # Scores near 4000 are rounded to steps of 2e-4 in float32.
    inputs = three(draw, 2, 3, std=40.0)
    agree.within(atol=5e-3).scaled_dot_product_attention_numpy(*inputs)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16", "float32", "float64")
def test_float_types(agree, draw, dtype):
    """Return output and weights in the dtype of the inputs, accurate to its precision."""
    agree.scaled_dot_product_attention_numpy(*three(draw, 2, n=4, d=5))


def test_views(agree, draw):
    """Accept transposed, strided and broadcast views, and leave them unchanged."""
    q = draw.array.normal(6, 5).T
    k = np.broadcast_to(draw.array.normal(1, 6), (5, 6))
    agree.scaled_dot_product_attention_numpy(q, k, draw.array.normal(5, 12)[:, ::2])
    agree.scaled_dot_product_attention_numpy(
        q, draw.array.normal(10, 6)[::2], draw.array.normal(6, 5).T
    )


def test_same_array_three_times(agree, draw):
    """Accept the same array as queries, keys and values."""
    x = draw.array.normal(2, 5, 6)
    agree.scaled_dot_product_attention_numpy(x, x, x)


def test_many_keys(agree, draw):
    """Include every key, even with more than a thousand keys."""
    agree.scaled_dot_product_attention_numpy(
        draw.array.normal(2, 4), draw.array.normal(1100, 4), draw.array.normal(1100, 4)
    )


@pytest.mark.weight(0.5)
def test_trained_head(agree, trained_head):
    """Return what the last token of a sentence reads in a head of a trained language model."""
    q, k, v = (x.numpy() for x in trained_head)
    agree.scaled_dot_product_attention_numpy(q[-1:], k, v)
