"""Hidden graders for `MultiHeadAttention`."""

import pytest
import torch

from autograder.authors import rows_sum_to_one, same, zero_where


def sighted(draw, *shape):
    """Draw a mask that allows each query at least one key."""
    one = draw.integers(0, shape[-1], *shape[:-1])
    return draw.bools(*shape, p=0.5) | torch.nn.functional.one_hot(one, shape[-1]).bool()


@pytest.mark.weight(2)
def test_self_attention(agree, draw):
    """Use a single input as query, key and value."""
    pair = agree.MultiHeadAttention(12, 3)
    pair(draw.normal(2, 5, 12))
    _, weights = pair(draw.normal(4, 7, 12))
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_three_different_inputs(agree, draw):
    """Accept three different inputs as query, key and value."""
    pair = agree.MultiHeadAttention(12, 3)
    pair(draw.normal(2, 5, 12), draw.normal(2, 5, 12), draw.normal(2, 5, 12))
    pair(draw.normal(2, 7, 12), key=draw.normal(2, 7, 12), value=draw.normal(2, 7, 12))


@pytest.mark.weight(2)
def test_more_keys_or_queries(agree, draw):
    """Support more or fewer keys than queries."""
    pair = agree.MultiHeadAttention(12, 3)
    pair(draw.normal(2, 4, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12))
    pair(draw.normal(2, 7, 12), draw.normal(2, 4, 12))


def test_value_defaults_to_key(agree, draw):
    """Use the key as the value if no value is given."""
    pair = agree.MultiHeadAttention(12, 3)
    pair(draw.normal(2, 5, 12), draw.normal(2, 5, 12))
    pair(draw.normal(2, 7, 12), draw.normal(2, 7, 12))


def test_key_defaults_to_query(agree, draw):
    """Use the query as the key if no key is given."""
    pair = agree.MultiHeadAttention(12, 3)
    pair(draw.normal(2, 5, 12), value=draw.normal(2, 5, 12))


def test_sizes(agree, draw):
    """Scale, split and merge by the sizes passed to the constructor."""
    for width, heads in ((12, 1), (10, 5), (6, 6), (9, 3)):
        pair = agree.MultiHeadAttention(d_model=width, num_heads=heads)
        pair(draw.normal(2, 7, width), draw.normal(2, 7, width))


def test_singleton_axes(agree, draw):
    """Keep the axes of a single sequence, query and key."""
    pair = agree.MultiHeadAttention(8, 2)
    pair(draw.normal(1, 5, 8))
    pair(draw.normal(3, 1, 8), draw.normal(3, 6, 8))
    pair(draw.normal(3, 6, 8), draw.normal(3, 1, 8))


@pytest.mark.weight(2)
def test_mask_of_two_dimensions(agree, draw):
    """Apply a mask (n, m) to every sequence and head."""
    pair = agree.MultiHeadAttention(12, 3)
    mask = sighted(draw, 6, 6)
    _, weights = pair(draw.normal(2, 6, 12), mask=mask)
    zero_where(weights, ~mask.expand(2, 3, 6, 6))
    pair(draw.normal(2, 7, 12), draw.normal(2, 7, 12), mask=sighted(draw, 7, 7))


def test_masks_of_four_dimensions(agree, draw):
    """Broadcast a mask of four dimensions to (B, H, n, m)."""
    pair = agree.MultiHeadAttention(12, 3)
    query, key = draw.normal(2, 5, 12), draw.normal(2, 5, 12)
    for shape in ((2, 3, 5, 5), (2, 1, 1, 5), (1, 3, 5, 5), (2, 1, 5, 5)):
        pair(query, key, mask=sighted(draw, *shape))


def test_refuses_a_mask_of_three_dimensions(agree, refuses, draw):
    """Raise a ValueError for a mask of three dimensions, even if its sizes would fit."""
    pair = agree.MultiHeadAttention(12, 3)
    mask = sighted(draw, 3, 5, 5)
    pair.student(draw.normal(3, 5, 12), mask=mask.unsqueeze(1))
    refuses(ValueError).of(pair.student)(draw.normal(3, 5, 12), mask=mask)
    refuses(ValueError).of(pair.student)(draw.normal(2, 5, 12), mask=mask[:2])
    refuses(ValueError).of(pair.student)(draw.normal(2, 5, 12), mask=mask[:1])


def test_fully_masked_rows(agree, draw):
    """Return zero weights and no NaN for a fully masked query."""
    pair = agree.MultiHeadAttention(12, 3)
    mask = sighted(draw, 5, 5)
    mask[2] = False
    _, weights = pair(draw.normal(2, 5, 12), draw.normal(2, 5, 12), mask=mask)
    zero_where(weights, ~mask.expand(2, 3, 5, 5))
    blind = sighted(draw, 2, 3, 5, 5)
    blind[0, 1] = False
    pair(draw.normal(2, 5, 12), mask=blind)


def test_gradients(agree, draw):
    """Propagate gradients from output and weights to all inputs and parameters."""
    pair = agree.MultiHeadAttention(12, 3)
    pair.gradients(draw.normal(2, 5, 12))
    query, key, value = draw.normal(2, 5, 12), draw.normal(2, 5, 12), draw.normal(2, 5, 12)
    pair.gradients(query, key, value, mask=sighted(draw, 5, 5))


def test_gradients_of_empty_rows(agree, draw):
    """Compute gradients without NaN if a query is fully masked."""
    pair = agree.MultiHeadAttention(12, 3)
    mask = sighted(draw, 5, 5)
    mask[1] = False
    pair.gradients(draw.normal(2, 5, 12), mask=mask)


def test_large_scores(agree, draw):
    """Avoid overflow for scores in the hundreds."""
    pair = agree.MultiHeadAttention(12, 3)
    # scores of this size have rounding errors of 1e-4, which also affect the weights
    pair.within(atol=5e-3)(draw.normal(2, 5, 12, std=12.0))


def test_order_of_tokens(agree, draw):
    """Return the outputs in permuted order if the tokens are permuted and there is no mask."""
    pair = agree.MultiHeadAttention(12, 3)
    x, order = draw.normal(2, 7, 12), draw.permutation(7)
    plain, _ = pair(x)
    permuted, _ = pair(x[:, order])
    same(permuted, plain[:, order], "Permuting the tokens should only permute the outputs.")


def test_inputs_that_are_views(agree, draw):
    """Return the same result for transposed and expanded inputs as for their copies."""
    pair = agree.MultiHeadAttention(12, 3)
    key = draw.normal(1, 5, 12).expand(2, 5, 12)
    pair(draw.normal(5, 2, 12).transpose(0, 1), key, mask=sighted(draw, 5, 5).transpose(0, 1))


def test_every_dtype(agree, draw, dtype):
    """Return output and weights in the dtype of the input."""
    pair = agree.MultiHeadAttention(12, 3)
    pair(draw.normal(2, 5, 12), mask=sighted(draw, 5, 5))


@pytest.mark.weight(1, elsewhere=5)
def test_device(agree, draw, device):
    """Return output and weights on the device of the input."""
    pair = agree.MultiHeadAttention(12, 3)
    pair(draw.normal(2, 5, 12), draw.normal(2, 5, 12), mask=sighted(draw, 5, 5))


def test_refuses_sizes_that_do_not_fit(submission, refuses, draw):
    """Let __init__ raise a ValueError that states d_model if num_heads does not divide it."""
    submission.MultiHeadAttention(12, 4)(draw.normal(2, 5, 12))
    refuses(ValueError, mentions="4").MultiHeadAttention(14, 4)
    refuses(ValueError).MultiHeadAttention(3, 7)


def test_many_keys(agree, draw):
    """Include every key and every query, even if there are more than a thousand."""
    pair = agree.MultiHeadAttention(2, 1)
    pair(draw.normal(1, 2, 2), draw.normal(1, 1100, 2))
    pair(draw.normal(1, 1100, 2), draw.normal(1, 2, 2))


def test_two_objects(agree, draw):
    """Keep two modules independent: each has its own number of heads."""
    one, other = agree.MultiHeadAttention(12, 3), agree.MultiHeadAttention(12, 2)
    one(draw.normal(2, 5, 12))
    other(draw.normal(2, 5, 12))


def test_masks_of_several_calls(agree, draw):
    """Apply the mask of the current call, if any, and no mask from an earlier call."""
    pair = agree.MultiHeadAttention(12, 3)
    x = draw.normal(2, 5, 12)
    for mask in (sighted(draw, 5, 5), sighted(draw, 5, 5), None):
        pair(x, mask=mask)
