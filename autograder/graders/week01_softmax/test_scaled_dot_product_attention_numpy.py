"""Hidden graders for `scaled_dot_product_attention_numpy`."""

import numpy as np
import pytest

from autograder.authors import rows_sum_to_one


@pytest.mark.weight(3)
def test_values(agree, draw):
    """Each query blends the values by a softmax of its scaled scores; the output comes first."""
    q, k, v = draw.array.normal(4, 6), draw.array.normal(7, 6), draw.array.normal(7, 6)
    _, weights = agree.scaled_dot_product_attention_numpy(q, k, v)
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_head_sizes(agree, draw):
    """The scale follows the size of queries and keys, whatever that is."""
    for d in (1, 2, 5, 24):
        q, k, v = draw.array.normal(3, d), draw.array.normal(4, d), draw.array.normal(4, d)
        agree.scaled_dot_product_attention_numpy(q, k, v)


@pytest.mark.weight(2)
def test_batches(agree, draw):
    """Any number of leading axes is carried along, each sentence on its own."""
    for leading in ((2,), (3, 2)):
        q = draw.array.normal(*leading, 4, 6)
        k, v = draw.array.normal(*leading, 7, 6), draw.array.normal(*leading, 7, 6)
        agree.scaled_dot_product_attention_numpy(q, k, v)


def test_as_many_keys_as_queries(agree, draw):
    """With as many keys as queries, rows still belong to the queries and columns to the keys."""
    q, k, v = draw.array.normal(5, 6), draw.array.normal(5, 6), draw.array.normal(5, 6)
    agree.scaled_dot_product_attention_numpy(q, k, v)
    agree.scaled_dot_product_attention_numpy(
        draw.array.normal(4, 4), draw.array.normal(4, 4), draw.array.normal(4, 4)
    )


@pytest.mark.weight(2)
def test_values_of_another_size(agree, draw):
    """Values may be shorter or longer than queries and keys, which set the scale."""
    for lead, d, d_v in (((), 6, 3), ((2,), 4, 9)):
        q, k = draw.array.normal(*lead, 4, d), draw.array.normal(*lead, 7, d)
        agree.scaled_dot_product_attention_numpy(q, k, draw.array.normal(*lead, 7, d_v))


def test_one_of_each(agree, draw):
    """A single key gets all the attention; a single query and a batch of one keep their axes."""
    q, v = draw.array.normal(4, 6), draw.array.normal(1, 6)
    agree.scaled_dot_product_attention_numpy(q, draw.array.normal(1, 6), v)
    q, k, v = draw.array.normal(1, 1, 6), draw.array.normal(1, 5, 6), draw.array.normal(1, 5, 6)
    agree.scaled_dot_product_attention_numpy(q, k, v)


@pytest.mark.weight(2)
def test_large_scores(agree, draw):
    """Scores in the hundreds or thousands do not overflow."""
    q, k = draw.array.normal(4, 6, std=40.0), draw.array.normal(7, 6, std=40.0)
    # Scores near 4000 are rounded to steps of 2e-4 in float32.
    agree.within(atol=5e-3).scaled_dot_product_attention_numpy(q, k, draw.array.normal(7, 6))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16", "float32", "float64")
def test_float_types(agree, draw, dtype):
    """Output and weights have the floating-point type of the inputs, and its precision."""
    q, k, v = draw.array.normal(4, 5), draw.array.normal(6, 5), draw.array.normal(6, 5)
    agree.scaled_dot_product_attention_numpy(q, k, v)


def test_views(agree, draw):
    """Transposed and broadcast views are read correctly, and not written to."""
    q = draw.array.normal(6, 4).T
    k = np.broadcast_to(draw.array.normal(1, 6), (5, 6))
    agree.scaled_dot_product_attention_numpy(q, k, draw.array.normal(5, 12)[:, ::2])
    agree.scaled_dot_product_attention_numpy(
        q, draw.array.normal(10, 6)[::2], draw.array.normal(6, 5).T
    )


def test_same_array_three_times(agree, draw):
    """One array may serve as queries, keys and values at once."""
    x = draw.array.normal(2, 5, 6)
    agree.scaled_dot_product_attention_numpy(x, x, x)


def test_many_keys(agree, draw):
    """With more than a thousand keys, none is left out."""
    agree.scaled_dot_product_attention_numpy(
        draw.array.normal(2, 4), draw.array.normal(1100, 4), draw.array.normal(1100, 4)
    )
