"""Functions of constants, descriptors, constants of the module, prints that were left, one buffer for all."""

import enum
import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

LOG2E = tl.constexpr(math.log2(math.e))
LN2 = tl.constexpr(math.log(2))
NOTHING = tl.constexpr(-math.inf)


class Seen(enum.IntEnum):
    ALL = 0
    PAST = 1


@triton.constexpr_function
def scale_of(d):
    return 1 / math.sqrt(d)


@triton.jit
def _base(highest):
    return tl.where(highest == NOTHING, 0.0, highest)


@triton.jit
def _exponentials(scores):
    return tl.math.exp2((scores - tl.max(scores, 0)) * LOG2E)


@triton.jit
def _softmax(x, y, m, x_row, x_step, y_row, weigh: tl.constexpr, block: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, block)
    if row == 0:
        print("columns", m)
    scores = tl.load(x + row * x_row + j * x_step, j < m, NOTHING).to(tl.float32)
    weights = weigh(scores)
    tl.store(y + row * y_row + j, weights / tl.sum(weights, 0), j < m)


def softmax_rows(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(x.shape[1])
    _softmax[(len(x),)](x, y, x.shape[1], *x.stride(), y.stride(0), _exponentials, block=block)
    return y


@triton.jit
def _matmul(a, b, c, K, block: tl.constexpr):
    i, j = tl.program_id(0) * block, tl.program_id(1) * block
    total = tl.zeros((block, block), tl.float32)
    for k in range(0, K, block):
        total = tl.dot(a.load([i, k]), b.load([k, j]), total, input_precision="ieee")
    c.store([i, j], total)


def matmul(a, b, block=16):
    def padded(x):  # a descriptor wants rows that begin at multiples of 16 bytes
        wide = x.new_zeros(x.shape[0], triton.cdiv(x.shape[1], block) * block)
        wide[:, : x.shape[1]] = x
        return wide

    c = torch.empty(a.shape[0], padded(b).shape[1], dtype=torch.float32, device=a.device)
    tiles = [TensorDescriptor.from_tensor(x, [block, block]) for x in (padded(a), padded(b), c)]
    grid = (triton.cdiv(c.shape[0], block), c.shape[1] // block)
    _matmul[grid](*tiles, a.shape[1], block=block)
    return c[:, : b.shape[1]]


@triton.jit
def _logsumexp(x, y, m, x_row, x_step, block: tl.constexpr):
    tl.device_assert(m > 0)
    highest = tl.full((), NOTHING, tl.float32)
    total = tl.zeros((), tl.float32)
    for start in tl.range(0, m, block, num_stages=2):
        j = start + tl.arange(0, block)
        part = tl.load(x + tl.program_id(0) * x_row + j * x_step, j < m, NOTHING).to(tl.float32)
        new = tl.maximum(highest, tl.max(part, 0))
        total = total * tl.exp(highest - _base(new)) + tl.sum(tl.exp(part - _base(new)), 0)
        highest = new
    tl.store(y + tl.program_id(0), _base(highest) + LN2 * tl.log2(total))


def logsumexp_rows(x, block=64):
    y = x.new_empty(x.shape[0], dtype=torch.float32)
    _logsumexp[(x.shape[0],)](x, y, x.shape[1], *x.stride(), block=block, num_warps=4)
    return y


@triton.jit
def _flash(
    q, k, v, out, lse, n, m,
    seen: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr, d: tl.constexpr,
):
    scale: tl.constexpr = scale_of(d)
    i = tl.program_id(0) * rows + tl.arange(0, rows)
    f = tl.arange(0, d)
    queries = tl.load(q + i[:, None] * d + f[None, :], (i < n)[:, None], 0.0)
    highest = tl.full((rows,), NOTHING, tl.float32)
    total = tl.zeros((rows,), tl.float32)
    mixed = tl.zeros((rows, d), tl.float32)
    for start in range(0, m, columns):
        j = start + tl.arange(0, columns)
        keys = tl.load(k + j[None, :] * d + f[:, None], (j < m)[None, :], 0.0)
        values = tl.load(v + j[:, None] * d + f[None, :], (j < m)[:, None], 0.0)
        scores = tl.dot(queries, keys, input_precision="ieee") * scale
        scores = tl.where((j < m)[None, :], scores, NOTHING)
        if seen == 1:
            scores = tl.where(j[None, :] <= i[:, None], scores, NOTHING)
        new = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.exp(scores - new[:, None])
        shrink = tl.exp(highest - new)
        total = total * shrink + tl.sum(weights, 1)
        mixed = mixed * shrink[:, None]
        mixed = tl.dot(weights, values.to(tl.float32), mixed, input_precision="ieee")
        highest = new
    tl.store(out + i[:, None] * d + f[None, :], mixed / total[:, None], (i < n)[:, None])
    tl.store(lse + i, highest + tl.log(total), i < n)


def flash_forward(q, k, v, causal=False, block_m=16, block_n=16):
    (n, d), m = q.shape, len(k)
    q, k, v = torch.cat([q, k, v]).split([n, m, m])
    out, lse = torch.empty_like(q), torch.empty(n, device=q.device)
    seen = Seen.PAST if causal else Seen.ALL
    _flash[(triton.cdiv(n, block_m),)](q, k, v, out, lse, n, m, seen, block_m, block_n, d)
    return out, lse
