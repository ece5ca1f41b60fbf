"""Torch brings everything into a convenient form first; the kernels then need hardly any strides."""

import math

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def _softmax(x, y, width: tl.constexpr):
    here = tl.program_id(0) * width + tl.arange(0, width)
    e = tl.load(x + here).to(tl.float32)
    e = tl.exp(e - tl.max(e, 0))
    tl.store(y + here, e / tl.sum(e, 0))


def softmax_rows(x):
    n, m = x.shape
    width = triton.next_power_of_2(m)
    padded = F.pad(x, (0, width - m), value=-math.inf).contiguous()
    y = torch.empty_like(padded)
    _softmax[(n,)](padded, y, width)
    return y[:, :m]


@triton.jit
def _matmul(a, b, c, steps, columns, a_row, b_row, size: tl.constexpr):
    """A persistent kernel: every program makes several tiles."""
    within = tl.arange(0, size)
    for tile in range(tl.program_id(0), steps, tl.num_programs(0)):
        top, left = tile // columns, tile % columns
        rows = top * size + within
        total = tl.zeros((size, size), tl.float32)
        for k in range(0, a_row, size):
            part = tl.load(a + rows[:, None] * a_row + (k + within)[None, :])
            other = tl.load(b + (k + within)[:, None] * b_row + (left * size + within)[None, :])
            total += tl.dot(part.to(tl.float32), other.to(tl.float32), input_precision="ieee")
        tl.store(c + rows[:, None] * b_row + (left * size + within)[None, :], total)


def matmul(a, b, block=16):
    (M, K), N = a.shape, b.shape[1]
    up = lambda size: -size % block  # noqa: E731
    a = F.pad(a, (0, up(K), 0, up(M))).contiguous()
    b = F.pad(b, (0, up(N), 0, up(K))).contiguous()
    c = torch.zeros(a.shape[0], b.shape[1], device=a.device)
    rows, columns = a.shape[0] // block, b.shape[1] // block
    grid = (min(3, rows * columns),)
    _matmul[grid](a, b, c, rows * columns, columns, a.shape[1], b.shape[1], size=block)
    return c[:M, :N]


@triton.jit
def _logsumexp(x, y, m, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    # in powers of 2
    top = -float("inf")
    total = 0.0
    start = 0
    while start < m:
        places = start + tl.arange(0, block)
        part = tl.load(x + row * m + places, places < m, -float("inf")).to(tl.float32)
        part = part * 1.4426950408889634
        now = tl.maximum(top, tl.max(part, 0))
        if now > -float("inf"):
            total = total * tl.exp2(top - now) + tl.sum(tl.exp2(part - now), 0)
            top = now
        start += block
    if total > 0:
        tl.store(y + row, (top + tl.log2(total)) * 0.6931471805599453)


def logsumexp_rows(x, block=64):
    y = torch.full((x.shape[0],), -math.inf, device=x.device)
    _logsumexp[(x.shape[0],)](x.contiguous(), y, x.shape[1], block)
    return y


@triton.jit
def _flash(
    q, k, v, out, lse, n, m, scale,
    causal: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr, d: tl.constexpr,
):
    for first in range(tl.program_id(0) * rows, n, tl.num_programs(0) * rows):
        i, f = first + tl.arange(0, rows), tl.arange(0, d)
        mine = tl.load(q + i[:, None] * d + f[None, :], i[:, None] < n, 0.0).to(tl.float32) * scale
        total = tl.full((rows,), -float("inf"), tl.float32)  # a logsumexp from the beginning
        mixed = tl.zeros((rows, d), tl.float32)
        for j0 in range(0, m, columns):
            j = j0 + tl.arange(0, columns)
            theirs = tl.load(k + j[None, :] * d + f[:, None], j[None, :] < m, 0.0).to(tl.float32)
            scores = tl.dot(mine, theirs, input_precision="ieee")
            hidden = j[None, :] >= m
            if causal:
                hidden = hidden | (j[None, :] > i[:, None])
            scores = tl.where(hidden, -float("inf"), scores)
            top = tl.max(scores, 1)
            base = tl.where(top == -float("inf"), 0.0, top)
            e = tl.exp(scores - base[:, None])
            s = tl.sum(e, 1)
            fresh = tl.where(s > 0, base + tl.log(tl.where(s > 0, s, 1.0)), -float("inf"))
            above = tl.maximum(total, fresh)
            safe = tl.where(above == -float("inf"), 0.0, above)
            new = safe + tl.log(tl.exp(total - safe) + tl.exp(fresh - safe) + tl.where(above == -float("inf"), 1.0, 0.0))
            new = tl.where(above == -float("inf"), -float("inf"), new)
            safe = tl.where(above == -float("inf"), 0.0, new)
            values = tl.load(v + j[:, None] * d + f[None, :], j[:, None] < m, 0.0).to(tl.float32)
            mixed = mixed * tl.exp(total - safe)[:, None]
            share = tl.where(top == -float("inf"), 0.0, tl.exp(base - safe))  # exp may be infinite
            mixed += tl.dot(e, values, input_precision="ieee") * share[:, None]
            total = new
        tl.store(out + i[:, None] * d + f[None, :], mixed, i[:, None] < n)
        tl.store(lse + i, total, i < n)


def flash_forward(q, k, v, causal=False, block_m=16, block_n=16):
    n, d = q.shape
    out, lse = torch.empty(n, d, dtype=q.dtype, device=q.device), q.new_empty(n)
    _flash[(2,)](
        q.contiguous(), k.contiguous(), v.contiguous(), out, lse, n, k.shape[0], d**-0.5,
        causal=causal, rows=block_m, columns=block_n, d=d,
    )
    return out, lse
