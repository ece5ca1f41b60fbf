"""Hidden graders for `keras_attention`, on Keras 3's torch backend.

Not in float64: Keras multiplies matrices of float64 in float32 there. Not on a GPU: Keras itself
decides where its tensors live.

There are as many keys as queries, and values are as long as keys, unless a test is about that.
"""

import pytest
import torch

from autograder.authors import expect, rows_sum_to_one, zero_where


def inputs(draw, *lead, n=4, m=None, d=5, d_v=None, std=1.0):
    """q, k and v."""
    m = n if m is None else m
    q, k = draw.normal(*lead, n, d, std=std), draw.normal(*lead, m, d, std=std)
    return q, k, draw.normal(*lead, m, d if d_v is None else d_v)


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Average the values with the softmax of the scaled scores, without a mask."""
    _, weights = agree.keras_attention(*inputs(draw))
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_any_leading_dimensions(agree, draw):
    """Support inputs without a batch, with a batch, and with heads."""
    for lead in ((), (2,), (2, 3)):
        agree.keras_attention(*inputs(draw, *lead))


@pytest.mark.weight(2)
def test_more_keys_or_queries(agree, draw):
    """There may be more keys than queries, or fewer; a mask has their sizes."""
    for n, m in ((4, 6), (7, 3)):
        agree.keras_attention(*inputs(draw, 2, n=n, m=m))
        agree.keras_attention(*inputs(draw, 2, n=n, m=m), draw.bools(n, m))


@pytest.mark.weight(2)
def test_values_of_different_size(agree, draw):
    """Values may be shorter or longer than queries and keys."""
    for d_v in (3, 8):
        agree.keras_attention(*inputs(draw, d_v=d_v))


def test_scale(agree, draw):
    """Divide the scores by the square root of the head size, for any size."""
    for d in (1, 2, 16):
        agree.keras_attention(*inputs(draw, 2, 3, d=d))


@pytest.mark.weight(2)
def test_mask(agree, draw):
    """Hidden keys get a weight of exactly zero, and the others share all of it."""
    mask = draw.bools(2, 4, 4)
    mask[..., 1] = True
    _, weights = agree.keras_attention(*inputs(draw, 2), mask)
    zero_where(weights, ~mask)
    rows_sum_to_one(weights)


def test_masks_that_broadcast(agree, draw):
    """Broadcast a mask with fewer axes, or with axes of length one, to the scores."""
    q, k, v = inputs(draw, 2, 3)
    for shape in ((4, 4), (2, 1, 4, 4), (2, 1, 1, 4), (4,), (4, 1)):
        mask = draw.bools(*shape)
        agree.keras_attention(q, k, v, mask=mask)


def test_hidden_scores_that_tower(agree, draw):
    """Ignore masked scores far above the others."""
    q, k, v = inputs(draw, 2, n=6)
    mask = torch.ones(6, 6, dtype=torch.bool)
    mask[:, 4:] = False
    k[:, 4:] = 60.0 * q[:, :2]
    agree.keras_attention(q, k, v, mask)


@pytest.mark.weight(2)
def test_empty_rows(agree, draw):
    """Return weights and output of zero for a fully masked query."""
    mask = draw.bools(2, 4, 4)
    mask[0, 1] = mask[1, 3] = False
    output, weights = agree.keras_attention(*inputs(draw, 2), mask)
    expect((weights[0, 1] == 0).all() and (output[1, 3] == 0).all(), "Empty rows are not zero.")


@pytest.mark.weight(4)
def test_gradients(agree, draw):
    """Gradients reach all inputs; an empty row sends zeros, not NaN."""
    mask = draw.bools(2, 1, 4, 4)
    mask[0, 0, 1] = False
    agree.gradients.keras_attention(*inputs(draw, 2, 3))
    agree.gradients.keras_attention(*inputs(draw, 2, 3), mask)


@pytest.mark.dtypes("float16", "bfloat16")
def test_half_precision(agree, draw, dtype):
    """Return half precision for half-precision inputs, also with masks and empty rows."""
    mask = draw.bools(4, 4)
    mask[2] = False
    agree.keras_attention(*inputs(draw))
    agree.keras_attention(*inputs(draw), mask)


def test_singleton_axes(agree, draw):
    """Keep all axes of a single query, key and feature."""
    agree.keras_attention(*inputs(draw, 1, n=1, m=6))
    agree.keras_attention(*inputs(draw, 2, m=1, d_v=1), torch.tensor([[True]]))


def test_inputs_that_are_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, v = draw.normal(6, 2, 5).transpose(0, 1), draw.normal(2, 5, 6).transpose(1, 2)
    mask = draw.bools(6, 6).T
    agree.keras_attention(q, draw.normal(1, 6, 5).expand(2, 6, 5), v, mask)


def test_many_keys(agree, draw):
    """Include every key, even with more than a thousand keys."""
    agree.keras_attention(*inputs(draw, n=2, m=1100))
