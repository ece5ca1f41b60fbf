"""Tensor descriptors, atomic sums, products without `tl.dot`, programs for single queries."""

import torch
import triton
import triton.language as tl


@triton.jit
def _row_softmax(scores):
    exponentials = tl.exp2((scores - tl.max(scores, 1, keep_dims=True)) * 1.4426950408889634)
    return exponentials / exponentials.sum(1, keep_dims=True)


@triton.jit
def _softmax(x, y, m, strides_x, strides_y, block: tl.constexpr):
    """A row is a tile of one row; strides come as tuples."""
    i, j = tl.program_id(0), tl.arange(0, block)[None, :]
    scores = tl.load(x + i * strides_x[0] + j * strides_x[1], j < m, -float("inf"))
    weights = _row_softmax(scores.to(tl.float32)).to(y.dtype.element_ty)
    tl.store(y + i * strides_y[0] + j * strides_y[1], weights, j < m)


def softmax_rows(x):
    y = torch.zeros_like(x)
    _softmax[(len(x),)](x, y, x.size(1), x.stride(), y.stride(), triton.next_power_of_2(x.size(1)))
    return y


@triton.jit
def _matmul(a, b, c, K, a_sizes, b_sizes, a_strides, b_strides, block: tl.constexpr):
    """The third axis of the grid shares out the inner axis; what each part gives is added up."""
    i = tl.program_id(0) * block + tl.arange(0, block)
    j = tl.program_id(1) * block + tl.arange(0, block)
    k = tl.program_id(2) * block + tl.arange(0, block)
    left = tl.load(
        a + i[:, None] * a_strides[0] + k[None, :] * a_strides[1],
        (i < a_sizes[0])[:, None] & (k < K)[None, :], 0.0,
    )
    right = tl.load(
        b + k[:, None] * b_strides[0] + j[None, :] * b_strides[1],
        (k < K)[:, None] & (j < b_sizes[1])[None, :], 0.0,
    )
    part = tl.dot(left, right, input_precision="ieee", out_dtype=tl.float32)
    inside = (i < a_sizes[0])[:, None] & (j < b_sizes[1])[None, :]
    tl.atomic_add(c + i[:, None] * b_sizes[1] + j[None, :], part, inside)


def matmul(a, b, block=16):
    c = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float32, device=a.device)
    grid = tuple(-(-size // block) for size in (*c.shape, a.shape[1]))
    _matmul[grid](a, b, c, a.shape[1], a.shape, b.shape, a.stride(), b.stride(), block=block)
    return c


@triton.jit
def _joined(m1, s1, m2, s2):
    top = tl.maximum(m1, m2)
    base = tl.where(top == -float("inf"), 0.0, top)
    return top, s1 * tl.exp(m1 - base) + s2 * tl.exp(m2 - base)


@triton.jit
def _logsumexp(x, y, m, row_step, step, block: tl.constexpr):
    i = tl.program_id(0)
    highest, total = -float("inf"), 0.0
    for start in tl.range(0, m, block):
        j = start + tl.arange(0, block)
        part = tl.load(x + i * row_step + j * step, j < m, -float("inf")).to(tl.float32)
        # a pair (maximum, sum) for each place, joined in a tree
        top, s = tl.reduce((part, tl.where(part > -float("inf"), 1.0, 0.0)), 0, _joined)
        highest, total = _joined(highest, total, top, s)
    result = tl.where(total > 0.0, highest + tl.log(tl.maximum(total, 1e-37)), -float("inf"))
    tl.store(y + i, result)


def logsumexp_rows(x, block=64):
    y = torch.empty(len(x), dtype=torch.float32, device=x.device)
    _logsumexp[len(x), 1](x, y, x.shape[1], *x.stride(), block)
    return y


@triton.jit
def _one_query(
    q, k, v, out, lse, m, scale, q_steps, k_steps, v_steps,
    causal: tl.constexpr, block: tl.constexpr, d: tl.constexpr,
):
    """A program for each query; its scores are sums, not products of matrices."""
    i, f = tl.program_id(0), tl.arange(0, d)
    query = tl.load(q + i * q_steps[0] + f * q_steps[1]).to(tl.float32)
    end = tl.minimum(m, i + 1) if causal else m
    highest, total = -float("inf"), 0.0
    mixed = tl.zeros((d,), tl.float32)
    for start in range(0, end, block):
        j = start + tl.arange(0, block)
        seen = (j < end)[:, None]
        keys = tl.load(k + j[:, None] * k_steps[0] + f[None, :] * k_steps[1], seen, 0.0)
        values = tl.load(v + j[:, None] * v_steps[0] + f[None, :] * v_steps[1], seen, 0.0)
        scores = tl.sum(keys.to(tl.float32) * query[None, :], 1) * scale
        scores = tl.where(j < end, scores, -float("inf"))
        new = tl.maximum(highest, tl.max(scores, 0))
        weights = tl.exp(scores - new)
        shrink = tl.exp(highest - new)
        total = total * shrink + tl.sum(weights, 0)
        mixed = mixed * shrink + tl.sum(weights[:, None] * values.to(tl.float32), 0)
        highest = new
    tl.store(out + i * d + f, mixed / total)
    tl.store(lse + i, highest + tl.log(total))


def flash_forward(q, k, v, causal=False, block_m=16, block_n=16):
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[0], dtype=q.dtype, device=q.device)
    _one_query[q.shape[:1]](
        q, k, v, out, lse, k.shape[0], q.shape[1] ** -0.5, q.stride(), k.stride(), v.stride(),
        causal, block_n, q.shape[1],
    )
    return out, lse
