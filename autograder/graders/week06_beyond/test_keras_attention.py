"""Hidden graders for `keras_attention`, on Keras 3's torch backend.

Neither float64 nor GPUs are tested: this backend multiplies float64 matrices in float32, and Keras
itself chooses the device of its tensors.
"""

import pytest
import torch

from autograder.authors import expect, rows_sum_to_one, zero_where


def inputs(draw, *lead, n=4, m=None, d=5, d_v=None, std=1.0):
    """Draw q (*lead, n, d), k (*lead, m, d), v (*lead, m, d_v); by default, m = n and d_v = d."""
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
    """Support more or fewer keys than queries, also with a mask (n, m)."""
    for n, m in ((4, 6), (7, 3)):
        agree.keras_attention(*inputs(draw, 2, n=n, m=m))
        agree.keras_attention(*inputs(draw, 2, n=n, m=m), draw.bools(n, m))


@pytest.mark.weight(2)
def test_values_of_different_size(agree, draw):
    """Support values with fewer or more features than queries and keys."""
    for d_v in (3, 8):
        agree.keras_attention(*inputs(draw, d_v=d_v))


def test_scale(agree, draw):
    """Divide the scores by the square root of the head size, for any size."""
    for d in (1, 2, 16):
        agree.keras_attention(*inputs(draw, 2, 3, d=d))


@pytest.mark.weight(2)
def test_mask(agree, draw):
    """Give masked keys a weight of exactly 0; the weights of the visible keys sum to 1."""
    mask = draw.bools(2, 4, 4)
    mask[..., 1] = True
    _, weights = agree.keras_attention(*inputs(draw, 2), mask)
    zero_where(weights, ~mask)
    rows_sum_to_one(weights)


def test_masks_that_broadcast(agree, draw):
    """Broadcast a mask with fewer axes, or with axes of size 1, to the shape of the scores."""
    q, k, v = inputs(draw, 2, 3)
    for shape in ((4, 4), (2, 1, 4, 4), (2, 1, 1, 4), (4,), (4, 1)):
        mask = draw.bools(*shape)
        agree.keras_attention(q, k, v, mask=mask)


def test_hidden_scores_that_tower(agree, draw):
    """Ignore masked scores, even if they are far above the visible ones."""
    q, k, v = inputs(draw, 2, n=6)
    mask = torch.ones(6, 6, dtype=torch.bool)
    mask[:, 4:] = False
    k[:, 4:] = 60.0 * q[:, :2]
    agree.keras_attention(q, k, v, mask)


@pytest.mark.weight(2)
def test_empty_rows(agree, draw):
    """Return zero weights and a zero output for a fully masked query."""
    mask = draw.bools(2, 4, 4)
    mask[0, 1] = mask[1, 3] = False
    output, weights = agree.keras_attention(*inputs(draw, 2), mask)
    expect((weights[0, 1] == 0).all() and (output[1, 3] == 0).all(), "Empty rows are not zero.")


@pytest.mark.weight(4)
def test_gradients(agree, draw):
    """Propagate gradients to q, k and v; fully masked queries contribute 0, not NaN."""
    mask = draw.bools(2, 1, 4, 4)
    mask[0, 0, 1] = False
    agree.gradients.keras_attention(*inputs(draw, 2, 3))
    agree.gradients.keras_attention(*inputs(draw, 2, 3), mask)


@pytest.mark.dtypes("float16", "bfloat16")
def test_half_precision(agree, draw, dtype):
    """Return results in the dtype of half-precision inputs, also with fully masked queries."""
    mask = draw.bools(4, 4)
    mask[2] = False
    agree.keras_attention(*inputs(draw))
    agree.keras_attention(*inputs(draw), mask)


def test_singleton_axes(agree, draw):
    """Keep axes of size 1, for a single query, key or feature."""
    agree.keras_attention(*inputs(draw, 1, n=1, m=6))
    agree.keras_attention(*inputs(draw, 2, m=1, d_v=1), torch.tensor([[True]]))


def test_inputs_that_are_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, v = draw.normal(6, 2, 5).transpose(0, 1), draw.normal(2, 5, 6).transpose(1, 2)
    mask = draw.bools(6, 6).T
    agree.keras_attention(q, draw.normal(1, 6, 5).expand(2, 6, 5), v, mask)


def test_many_keys(agree, draw):
    """Attend to every key, even with more than a thousand keys."""
    agree.keras_attention(*inputs(draw, n=2, m=1100))
