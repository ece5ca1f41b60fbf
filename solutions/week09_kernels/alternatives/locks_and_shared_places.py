"""Locks, counters of finished programs, overlapping tiles, kernels that work in place."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def _softmax_in_place(y, m, half: tl.constexpr):
    """Two loads, of one half of the row each; lanes past the end load the last element again."""
    row = y + tl.program_id(0) * m
    left, right = tl.arange(0, half), half + tl.arange(0, half)
    a = tl.load(row + tl.minimum(left, m - 1)).to(tl.float32)
    b = tl.load(row + tl.minimum(right, m - 1), right < m, -float("inf")).to(tl.float32)
    highest = tl.maximum(tl.max(a, 0), tl.max(b, 0))
    a = tl.where(left < m, tl.exp(a - highest), 0.0)
    b = tl.exp(b - highest)
    total = tl.sum(a, 0) + tl.sum(b, 0)
    tl.store(row + left, a / total, left < m)
    tl.store(row + right, b / total, right < m)


def softmax_rows(x):
    y = x.clone(memory_format=torch.contiguous_format)
    n, m = y.shape
    _softmax_in_place[(n,)](y, m, max(1, triton.next_power_of_2(m) // 2))
    return y


@triton.jit
def _matmul_under_locks(
    a, b, c, locks, M, N, K, a_row, a_step, b_row, b_step, c_row, block: tl.constexpr
):
    """A program for each step of the inner axis; a tile is added to under its lock."""
    i = tl.program_id(0) * block + tl.arange(0, block)[:, None]
    j = tl.program_id(1) * block + tl.arange(0, block)[None, :]
    k = tl.program_id(2) * block + tl.arange(0, block)
    left = tl.load(a + i * a_row + k[None, :] * a_step, (i < M) & (k[None, :] < K), 0.0)
    right = tl.load(b + k[:, None] * b_row + j * b_step, (k[:, None] < K) & (j < N), 0.0)
    part = tl.dot(left, right, input_precision="ieee")
    lock = locks + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    place, inside = c + i * c_row + j, (i < M) & (j < N)
    tl.store(place, tl.load(place, inside, 0.0) + part, inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def matmul(a, b, block=16):
    (M, K), N = a.shape, b.shape[1]
    c = torch.zeros(M, N, device=a.device)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block), triton.cdiv(K, block))
    locks = torch.zeros(grid[:2], dtype=torch.int32, device=a.device)
    _matmul_under_locks[grid](
        a, b, c, locks, M, N, K, *a.stride(), *b.stride(), c.stride(0), block=block
    )
    return c


@triton.jit
def _logsumexp_of_parts(
    x, tops, sums, finished, y, m, x_row, x_step, block: tl.constexpr, parts: tl.constexpr
):
    """A program for each block of a row; the one that finishes last joins what all found."""
    row, part = tl.program_id(0), tl.program_id(1)
    steps = tl.num_programs(1)
    j = part * block + tl.arange(0, block)
    scores = tl.load(x + row * x_row + j * x_step, j < m, -float("inf")).to(tl.float32)
    top = tl.max(scores, 0)
    base = tl.where(top == -float("inf"), 0.0, top)
    tl.store(tops + row * steps + part, top)
    tl.store(sums + row * steps + part, tl.sum(tl.exp(scores - base), 0))
    tl.debug_barrier()
    if tl.atomic_add(finished + row, 1) == steps - 1:
        each = tl.arange(0, parts)
        t = tl.load(tops + row * steps + each, each < steps, -float("inf"))
        s = tl.load(sums + row * steps + each, each < steps, 0.0)
        top = tl.max(t, 0)
        base = tl.where(top == -float("inf"), 0.0, top)
        total = tl.sum(s * tl.exp(t - base), 0)
        tl.store(y + row, base + tl.log(total))


def logsumexp_rows(x, block=64):
    n, m = x.shape
    steps = triton.cdiv(m, block)
    tops, sums = (torch.empty(n, steps, device=x.device) for _ in range(2))
    finished = torch.zeros(n, dtype=torch.int32, device=x.device)
    y = torch.empty(n, device=x.device)
    _logsumexp_of_parts[n, steps](
        x, tops, sums, finished, y, m, *x.stride(), block, triton.next_power_of_2(steps)
    )
    return y


@triton.jit
def _flash_over_queries(
    out, k, v, lse, n, m, scale, k_row, k_step, v_row, v_step,
    causal: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr, d: tl.constexpr,
):
    """The output takes the queries' places. Every program stores the number of keys, too."""
    i, f = tl.program_id(0) * rows + tl.arange(0, rows), tl.arange(0, d)
    place, here = out + i[:, None] * d + f[None, :], (i < n)[:, None]
    queries = tl.load(place, here, 0.0)
    tl.store(lse + n, m)
    highest = tl.full((rows,), -1e30, tl.float32)
    total = tl.zeros((rows,), tl.float32)
    mixed = tl.zeros((rows, d), tl.float32)
    for start in range(0, m, columns):
        j = start + tl.arange(0, columns)
        keys = tl.load(k + j[None, :] * k_row + f[:, None] * k_step, (j < m)[None, :], 0.0)
        values = tl.load(v + j[:, None] * v_row + f[None, :] * v_step, (j < m)[:, None], 0.0)
        seen = (j < m)[None, :] & (i[:, None] >= 0)
        if causal:
            seen = seen & (j[None, :] <= i[:, None])
        scores = tl.dot(queries, keys, input_precision="ieee") * scale
        scores = tl.where(seen, scores, -1e30)
        new = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.where(seen, tl.exp(scores - new[:, None]), 0.0)
        shrink = tl.exp(highest - new)
        total = total * shrink + tl.sum(weights, 1)
        mixed = mixed * shrink[:, None] + tl.dot(
            weights, values.to(tl.float32), input_precision="ieee"
        )
        highest = new
    tl.store(place, mixed / total[:, None], here)
    tl.store(lse + i, highest + tl.log(total), i < n)


def flash_forward(q, k, v, causal=False, block_m=16, block_n=16):
    n, d = q.shape
    out = q.clone(memory_format=torch.contiguous_format)
    lse = torch.empty(n + 1, device=q.device)
    _flash_over_queries[(math.ceil(n / block_m),)](
        out, k, v, lse, n, len(k), d**-0.5, *k.stride(), *v.stride(),
        causal=causal, rows=block_m, columns=block_n, d=d,
    )
    return out, lse[:n]
