"""Hidden graders for `scaled_dot_product_attention` (week 2: with a mask).

In most tests, queries, keys and values have equal shapes, so that a program that requires equal
shapes fails only a few tests.
"""

import pytest
import torch

from autograder.authors import expect, rows_sum_to_one, same, zero_where


def qkv(draw, *lead, n=4, m=None, d=5, d_v=None):
    """Draw q (..., n, d), k (..., m, d) and v (..., m, d_v); by default, m = n and d_v = d."""
    m, d_v = n if m is None else m, d if d_v is None else d_v
    return draw.normal(*lead, n, d), draw.normal(*lead, m, d), draw.normal(*lead, m, d_v)


def some(draw, *shape):
    """Draw a mask that allows each query at least one key."""
    return draw.bools(*shape, p=0.5) | (
        torch.arange(shape[-2])[:, None] % shape[-1] == torch.arange(shape[-1])
    )


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Apply a mask (n, m) to the weights and the output of every sequence."""
    mask = some(draw, 4, 4)
    _, weights = agree.scaled_dot_product_attention(*qkv(draw, 2), mask)
    zero_where(weights, ~mask.expand(2, 4, 4))
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_values_of_different_size(agree, draw):
    """Support values of a different size d_v, and divide the scores by √d, not √d_v."""
    agree.scaled_dot_product_attention(*qkv(draw, d_v=3), some(draw, 4, 4))
    agree.scaled_dot_product_attention(*qkv(draw, d_v=8))


def test_without_a_mask(agree, draw):
    """Let every query attend to every key if there is no mask."""
    agree.scaled_dot_product_attention(*qkv(draw, 2))
    agree.scaled_dot_product_attention(*qkv(draw, 2), mask=None)


def test_head_size_sets_the_scale(agree, draw):
    """Divide the scores by √d for any head size d."""
    for d in (1, 2, 16, 64):
        agree.scaled_dot_product_attention(*qkv(draw, 2, 3, d=d), some(draw, 4, 4))


@pytest.mark.weight(2)
def test_any_leading_axes(agree, draw):
    """Support any number of leading axes, including none."""
    for lead in ((), (3,), (2, 3), (2, 1, 3)):
        agree.scaled_dot_product_attention(*qkv(draw, *lead), some(draw, 4, 4))


@pytest.mark.weight(2)
def test_more_keys_than_queries(agree, draw):
    """Support more keys than queries; the mask has a column for each key."""
    agree.scaled_dot_product_attention(*qkv(draw, 2, 3, m=6), some(draw, 4, 6))
    agree.scaled_dot_product_attention(*qkv(draw, 2, 3, n=1, m=6), some(draw, 1, 6))


@pytest.mark.weight(2)
def test_fewer_keys_than_queries(agree, draw):
    """Support fewer keys than queries, even a single key."""
    agree.scaled_dot_product_attention(*qkv(draw, n=6, m=4), some(draw, 6, 4))
    one = torch.tensor([[True], [False], [True], [True]])
    agree.scaled_dot_product_attention(*qkv(draw, m=1), one)


@pytest.mark.weight(2)
def test_mask_broadcasts(agree, draw):
    """Broadcast a mask that has fewer axes than the scores, or axes of size 1."""
    q, k, v = qkv(draw, 2, 3)
    for shape in ((4, 4), (3, 4, 4), (2, 1, 4, 4), (2, 3, 4, 4)):
        agree.scaled_dot_product_attention(q, k, v, some(draw, *shape))
    agree.scaled_dot_product_attention(q, k, v, torch.tensor([True, False, True, True]))


def test_mask_of_a_batch(agree, draw):
    """Apply a separate mask per sequence, with a row for each query or one row for all queries."""
    q, k, v = qkv(draw, 3)
    agree.scaled_dot_product_attention(q, k, v, some(draw, 3, 4, 4))
    agree.scaled_dot_product_attention(q, k, v, some(draw, 3, 1, 4))


def test_causal(agree, draw):
    """Give no weight above the diagonal under a causal mask: the first token sees only itself."""
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    q, k, v = qkv(draw)
    output, weights = agree.scaled_dot_product_attention(q, k, v, mask=causal)
    zero_where(weights, ~causal)
    same(output[0], v[0], "The first token should answer with its own value.")


def test_hidden_keys_change_nothing(agree, draw):
    """Return outputs that do not depend on the keys and values of hidden positions."""
    visible = torch.tensor([True, True, False, True])
    q, k, v = qkv(draw)
    before, _ = agree.scaled_dot_product_attention(q, k, v, visible)
    k, v = k + 40.0 * ~visible[:, None], v - 40.0 * ~visible[:, None]
    after, _ = agree.scaled_dot_product_attention(q, k, v, visible)
    same(after, before, "The output should not depend on hidden keys and values.")


@pytest.mark.weight(2)
def test_query_that_sees_nothing(agree, draw):
    """Return zeros in output, weights and gradients for a fully masked query."""
    mask = some(draw, 4, 4)
    mask[2] = False
    output, weights = agree.gradients.scaled_dot_product_attention(*qkv(draw), mask)
    expect(not weights[2].any(), "The weights of a query with no visible key should be all zeros.")
    expect(not output[2].any(), "The output of a query with no visible key should be all zeros.")


def test_gradients(agree, draw):
    """Compute correct gradients for queries, keys and values, with and without a mask."""
    agree.gradients.scaled_dot_product_attention(*qkv(draw, 2, 3), some(draw, 4, 4))
    agree.gradients.scaled_dot_product_attention(*qkv(draw, 2, 3))


def test_weights_belong_to_the_output(agree, draw):
    """Return the weights that produced the output: masked, after the softmax."""
    q, k, v = qkv(draw, 2)
    output, weights = agree.scaled_dot_product_attention(q, k, v, some(draw, 4, 4))
    same(weights @ v, output, "The output should be the returned weights times the values.")


def test_keeps_the_dtype(agree, draw, dtype):
    """Return output and weights in the dtype of the inputs."""
    # √4 is exact, so a program that rounds √d to float32 passes.
    agree.scaled_dot_product_attention(*qkv(draw, 2, n=5, d=4), some(draw, 5, 5))
    agree.scaled_dot_product_attention(*qkv(draw, 2, n=5, d=4))


def test_one_query_one_key(agree, draw):
    """Let a single token attend to itself, and keep the axes of one sequence and one head."""
    agree.scaled_dot_product_attention(*qkv(draw, 1, 1, n=1), torch.tensor([[True]]))
    agree.scaled_dot_product_attention(*qkv(draw, 1, 1), some(draw, 4, 4))


def test_strided_and_shared_inputs(agree, draw):
    """Accept transposed views, and one tensor as q, k and v; leave the inputs unchanged."""
    q, k, v = (draw.normal(2, 4, 3, 5).transpose(1, 2) for _ in range(3))
    agree.scaled_dot_product_attention(q, k, v, some(draw, 4, 4))
    x = draw.normal(2, 3, 4, 5)
    agree.scaled_dot_product_attention(x, x, x, some(draw, 4, 4))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Return output and weights on the device of the inputs, with and without a mask."""
    agree.scaled_dot_product_attention(*qkv(draw, 2, 3), some(draw, 4, 4))
    agree.scaled_dot_product_attention(*qkv(draw, 2, 3))


def test_many_keys(agree, draw):
    """Include every key, even with more than a thousand keys."""
    mask = draw.bools(2, 1100, p=0.9)
    agree.scaled_dot_product_attention(
        draw.normal(2, 4), draw.normal(1100, 4), draw.normal(1100, 4), mask
    )


def test_two_calls_before_their_gradients(agree, draw):
    """Keep the data for the backward pass per call: later calls must not change gradients."""
    q, k, v = ([draw.normal(2, n, 5) for _ in range(2)] for n in (3, 4, 4))
    masks = (torch.ones(3, 4).tril().bool(), torch.ones(3, 4).triu().bool())
    agree.gradients.in_a_row.scaled_dot_product_attention(*zip(q, k, v, masks, strict=True))


@pytest.mark.weight(0.5)
def test_trained_head(agree, trained_head):
    """Under a causal mask, return the output of a head of a trained language model."""
    q, k, v = trained_head
    agree.scaled_dot_product_attention(q, k, v, torch.ones(len(q), len(k), dtype=torch.bool).tril())
