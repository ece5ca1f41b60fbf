"""Functions of constants, descriptors, a dataclass of sizes, a table of bool between two kernels, prints that were left."""

import enum
import math
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Tiles:
    seen: Seen
    rows: int
    columns: int
    d: int = 16

    @property
    def past(self):
        return self.seen == Seen.PAST

    def grid(self, n):
        return (triton.cdiv(n, self.rows),)


@triton.jit
def _mark(seen, m, tiles: tl.constexpr):
    """Return the tiles of keys with at least one key visible to a tile of queries."""
    steps = tl.cdiv(m, tiles.columns)
    for step in range(steps):
        near = step * tiles.columns <= tl.program_id(0) * tiles.rows + tiles.rows - 1
        tl.store(seen + tl.program_id(0) * steps + step, near or not tiles.past)


@triton.jit
def _flash(q, k, v, out, lse, seen, n, m, tiles: tl.constexpr):
    scale: tl.constexpr = scale_of(tiles.d)
    i = tl.program_id(0) * tiles.rows + tl.arange(0, tiles.rows)
    f = tl.arange(0, tiles.d)
    queries = tl.load(q + i[:, None] * tiles.d + f[None, :], (i < n)[:, None], 0.0)
    highest = tl.full((tiles.rows,), NOTHING, tl.float32)
    total = tl.full((tiles.rows,), 0.0, tl.float32)
    mixed = tl.full((tiles.rows, tiles.d), 0.0, tl.float32)
    steps = tl.cdiv(m, tiles.columns)
    for step in range(steps):
        if tl.load(seen + tl.program_id(0) * steps + step):
            j = step * tiles.columns + tl.arange(0, tiles.columns)
            keys = tl.load(k + j[None, :] * tiles.d + f[:, None], (j < m)[None, :], 0.0)
            values = tl.load(v + j[:, None] * tiles.d + f[None, :], (j < m)[:, None], 0.0)
            scores = tl.dot(queries, keys, input_precision="ieee") * scale
            scores = tl.where((j < m)[None, :], scores, NOTHING)
            if tiles.past:
                scores = tl.where(j[None, :] <= i[:, None], scores, NOTHING)
            new = tl.maximum(highest, tl.max(scores, 1))
            weights = tl.exp(scores - new[:, None])
            shrink = tl.exp(highest - new)
            total = total * shrink + tl.sum(weights, 1)
            mixed = mixed * shrink[:, None]
            mixed = tl.dot(weights, values.to(tl.float32), mixed, input_precision="ieee")
            highest = new
    tl.store(out + i[:, None] * tiles.d + f[None, :], mixed / total[:, None], (i < n)[:, None])
    tl.store(lse + i, highest + tl.log(total), i < n)


def flash_forward(q, k, v, causal=False, block_m=16, block_n=16):
    (n, d), m = q.shape, len(k)
    q, k, v = torch.cat([q, k, v]).split([n, m, m])
    out, lse = torch.empty_like(q), torch.empty(n, device=q.device)
    tiles = Tiles(Seen.PAST if causal else Seen.ALL, block_m, block_n, d)
    grid = tiles.grid(n)
    seen = torch.empty(*grid, triton.cdiv(m, block_n), dtype=torch.bool, device=q.device)
    _mark[grid](seen, m, tiles)
    _flash[grid](q, k, v, out, lse, seen, n, m, tiles)
    return out, lse
