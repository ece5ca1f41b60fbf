"""Hidden graders for `grouped_query_attention`."""

import pytest
import torch

from autograder.authors import expect, rows_sum_to_one, zero_where


@pytest.fixture
def qkv(draw):
    """Draw queries (B, H, n, d), keys (B, H_kv, m, d) and values (B, H_kv, m, d_v).

    By default m = n and d_v = d, and all other sizes differ.
    """

    def make(heads=6, kv_heads=2, batch=3, n=4, m=None, d=5, d_v=None):
        m, d_v = n if m is None else m, d if d_v is None else d_v
        q = draw.normal(batch, heads, n, d)
        return q, draw.normal(batch, kv_heads, m, d), draw.normal(batch, kv_heads, m, d_v)

    return make


def sighted(draw, *shape):
    """Draw a mask that allows each query at least one key."""
    one = draw.integers(0, shape[-1], *shape[:-1])
    return draw.bools(*shape, p=0.5) | torch.nn.functional.one_hot(one, shape[-1]).bool()


@pytest.mark.weight(3)
def test_groups_of_neighbours(agree, qkv):
    """Let query head h use key-value head h // (H / H_kv): neighbouring heads share one."""
    for heads, kv_heads in ((6, 2), (6, 3), (8, 2)):
        _, weights = agree.grouped_query_attention(*qkv(heads, kv_heads))
        rows_sum_to_one(weights)


def test_one_head_for_all(agree, qkv):
    """Share one key-value head among all query heads if H_kv = 1 (multi-query attention)."""
    agree.grouped_query_attention(*qkv(5, 1))
    agree.grouped_query_attention(*qkv(1, 1))


def test_a_head_for_each(agree, qkv):
    """Compute ordinary multi-head attention if H_kv = H."""
    agree.grouped_query_attention(*qkv(4, 4))


def test_one_query(agree, qkv):
    """Support a single query (as in decoding), key, sequence and feature."""
    agree.grouped_query_attention(*qkv(n=1, m=7))
    agree.grouped_query_attention(*qkv(m=1))
    agree.grouped_query_attention(*qkv(batch=1, n=1, m=7, d=1))


@pytest.mark.weight(2)
def test_more_keys_or_queries(agree, draw, qkv):
    """Support more keys than queries (as with a cache) or fewer, also with a mask (n, m)."""
    for n, m in ((4, 7), (7, 4)):
        agree.grouped_query_attention(*qkv(n=n, m=m))
        agree.grouped_query_attention(*qkv(n=n, m=m), sighted(draw, n, m))


@pytest.mark.weight(2)
def test_values_of_different_size(agree, qkv):
    """Support values with d_v features, fewer or more than d, and scale the scores by 1 / √d."""
    for d, d_v in ((16, 2), (2, 16)):
        agree.grouped_query_attention(*qkv(d=d, d_v=d_v))


def test_scale(agree, qkv):
    """Divide the scores by the square root of d, for any H and H_kv."""
    for d in (16, 2, 9):
        agree.grouped_query_attention(*qkv(d=d))


@pytest.mark.weight(2)
def test_mask_of_two_dimensions(agree, draw, qkv):
    """Apply a mask (n, m) to every sequence and every head."""
    mask = sighted(draw, 4, 4)
    _, weights = agree.grouped_query_attention(*qkv(), mask)
    zero_where(weights, ~mask)
    agree.grouped_query_attention(*qkv(n=5), mask=sighted(draw, 5, 5))


@pytest.mark.weight(2)
def test_masks_of_four_dimensions(agree, draw, qkv):
    """Broadcast a mask of four dimensions to (B, H, n, m)."""
    for shape in ((3, 6, 4, 4), (3, 1, 1, 4), (1, 6, 4, 4), (3, 1, 4, 4), (1, 1, 4, 4)):
        agree.grouped_query_attention(*qkv(), sighted(draw, *shape))


def test_fully_masked_rows(agree, draw, qkv):
    """Return zero weights and a zero output for a fully masked query, and no NaN gradient."""
    mask = sighted(draw, 4, 4)
    mask[1] = False
    _, weights = agree.gradients.grouped_query_attention(*qkv(), mask)
    zero_where(weights, ~mask)


@pytest.mark.weight(2)
def test_gradients(agree, draw, qkv):
    """Propagate gradients from output and weights to queries, keys and values."""
    agree.gradients.grouped_query_attention(*qkv())
    agree.gradients.grouped_query_attention(*qkv(8, 2), sighted(draw, 4, 4))


def test_every_dtype(agree, draw, qkv, dtype):
    """Return output and weights in the inputs' dtype, also with a mask."""
    agree.grouped_query_attention(*qkv())
    mask = sighted(draw, 4, 4)
    mask[2] = False
    agree.grouped_query_attention(*qkv(), mask)


def test_large_scores(agree, qkv):
    """Return finite weights for scores in the thousands."""
    q, k, v = qkv()
    agree.within(1e-3).grouped_query_attention(40 * q, 40 * k, v)


def test_views(agree, draw):
    """Accept transposed, expanded and sliced inputs, and leave them unchanged."""
    q = draw.normal(2, 7, 6, 4).transpose(1, 2)
    k, v = draw.normal(2, 7, 3, 4).transpose(1, 2), draw.normal(1, 3, 7, 4).expand(2, 3, 7, 4)
    agree.grouped_query_attention(q, k, v)
    buffer = draw.normal(2, 3, 9, 4)  # its slices are views, as a cache returns them
    agree.grouped_query_attention(q, buffer[:, :, :7], buffer[:, :, 2:])


@pytest.mark.weight(1, elsewhere=6)
def test_device(agree, draw, qkv, device):
    """Create all tensors on the device of the inputs."""
    agree.grouped_query_attention(*qkv())
    agree.grouped_query_attention(*qkv(), sighted(draw, 4, 4))


def test_refuses_heads_that_do_not_divide(submission, refuses, qkv):
    """Raise ValueError if H is not divisible by H_kv; state one of the two numbers."""
    submission.grouped_query_attention(*qkv(6, 3))
    refuses(ValueError, mentions=(16, 5)).grouped_query_attention(*qkv(16, 5, n=2, m=3, d=2, d_v=2))
    refuses(ValueError, mentions=(13, 9)).grouped_query_attention(*qkv(13, 9, n=2, m=3, d=2, d_v=2))
    refuses(ValueError).grouped_query_attention(*qkv(2, 4, n=2, m=3, d=2, d_v=2))


# Keys of H heads have batch·H·m·d elements, and so do values. Copies with H_kv heads, in a
# different dtype or order, are allowed. Scores are small, because n is small.


@pytest.mark.weight(8)
def test_keys_are_not_expanded(agree, count, draw, qkv):
    """Never copy keys or values to H heads, explicitly or by broadcasting."""
    for heads, kv_heads, n in ((16, 2, 1), (12, 1, 2)):
        inputs = qkv(heads, kv_heads, batch=2, n=n, m=96, d=16, d_v=16)
        agree.grouped_query_attention(*inputs)
        for mask in (None, sighted(draw, n, 96)):
            made = count.grouped_query_attention(*inputs, mask).largest
            expect(
                3 * made <= 2 * heads * 96 * 16,
                "A tensor is made that is about as large as keys of all query heads.",
            )


def test_many_keys(agree, draw):
    """Attend to every key, even with more than a thousand keys."""
    keys, values = draw.normal(1, 1, 1100, 4), draw.normal(1, 1, 1100, 4)
    agree.grouped_query_attention(draw.normal(1, 2, 2, 4), keys, values)


@pytest.mark.weight(3)
def test_keys_are_not_copied_for_each_head(count, qkv):
    """Do not copy keys or values once per query head, even in a loop over heads."""
    for heads, kv_heads in ((16, 2), (12, 1)):
        work = []
        for n in (2, 4):
            inputs = qkv(heads, kv_heads, batch=2, n=n, m=96, d=16, d_v=16)
            work.append(count.grouped_query_attention(*inputs).flops)
        # work for queries doubles with n, so this difference is the work for keys and values
        expect(
            2 * work[0] - work[1] <= 2 * heads * 96 * 16,
            "Copies are made that are together as large as keys of all query heads.",
        )


def test_two_calls_before_their_gradients(agree, draw):
    """Save data for backward per call: later calls must not alter the gradients of earlier ones."""
    first, second = ([draw.normal(2, h, 5, 3) for h in (4, 2, 2)] for _ in range(2))
    agree.gradients.in_a_row.grouped_query_attention(first, second)


@pytest.mark.weight(0.5)
def test_trained_layer(agree, trained_layer):
    """Return the outputs of a layer of a trained model, for all positions and from a cache."""
    q, k, v = trained_layer
    length = q.shape[2]
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    for start, end in ((0, length), (0, 9), (9, 10), (10, length)):
        keys, values = k[:, :, :end], v[:, :, :end]
        agree.grouped_query_attention(q[:, :, start:end], keys, values, causal[start:end, :end])
