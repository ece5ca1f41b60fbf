"""Week 9: kernels.

So far a library ran your operations one by one, and each read and wrote memory. This week you write
the code inside one operation: kernels in Triton, a small language in Python's syntax. A kernel is
launched as a grid of programs. All of them run the same code, in parallel and in any order, each on
a separate block of the data, which it loads from memory and stores itself.

A machine without a GPU runs them too: Triton's interpreter executes a kernel as Python, program by
program. It is slow, so inputs are small. On a machine with a GPU the same file is compiled.

Shapes: `n` rows or queries, `m` columns or keys, `d` features, a power of two >= 16. All inputs are
float32 or float16; kernels have no gradients. Tensors may be views with any strides. Around a kernel
torch may create, copy and view tensors; the kernel does all the computing.

A load or a store must not access memory outside its tensor: it may contain other data, or be
unmapped. You choose the value of masked elements of a load: `other=`.
"""

from __future__ import annotations

import os

import torch

# Triton decides when it is imported whether kernels are interpreted or compiled.
os.environ.setdefault("TRITON_INTERPRET", "0" if torch.cuda.is_available() else "1")

import triton
import triton.language as tl


@triton.jit
def _scale_kernel(x, y, factor, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    """Provided: one row of y = factor * x. The program id is the number of the row."""
    row = tl.program_id(0)
    columns = tl.arange(0, block)  # a power of two, known when the kernel is compiled
    inside = columns < m  # the rest of the block lies past the row's end
    values = tl.load(x + row * x_row + columns * x_column, mask=inside, other=0.0)
    tl.store(y + row * y_row + columns * y_column, values * factor, mask=inside)


def scale_rows(x: torch.Tensor, factor: float) -> torch.Tensor:
    """Provided, as an example: factor * x for x (n, m), with one program per row."""
    n, m = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(m)
    # strides are counted in elements, not in bytes
    _scale_kernel[(n,)](x, y, factor, m, *x.stride(), *y.stride(), block=block)
    return y


# BEGIN SOLUTION
@triton.jit
def _softmax_kernel(x, y, m, x_row, x_column, y_row, y_column, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    inside = columns < m
    place = x + row * x_row + columns * x_column
    scores = tl.load(place, mask=inside, other=-float("inf")).to(tl.float32)
    exponentials = tl.exp(scores - tl.max(scores, axis=0))
    weights = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y + row * y_row + columns * y_column, weights, mask=inside)


# END SOLUTION
def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    """Compute the softmax of each row, in one kernel with one program per row.

    A row fits into one block: load it once, compute, store the result. Compute in float32.

    Args:
        x: scores, (n, m) with m <= 4096, float32 or float16, any strides. An entry may be -inf, and
            gets exactly 0; a row has at least one that is not.

    Returns:
        weights (n, m), in x's dtype.
    """
    # TODO: write a kernel above this function, similar to `_scale_kernel`; create the result, and
    # launch one program per row. Which `other` keeps the maximum and the sum right?
    # BEGIN SOLUTION
    n, m = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(m)
    _softmax_kernel[(n,)](x, y, m, *x.stride(), *y.stride(), block=block)
    return y
    # END SOLUTION


# BEGIN SOLUTION
@triton.jit
def _matmul_kernel(
    a, b, c, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column, block: tl.constexpr
):
    rows = tl.program_id(0) * block + tl.arange(0, block)
    columns = tl.program_id(1) * block + tl.arange(0, block)
    total = tl.zeros((block, block), dtype=tl.float32)
    for start in range(0, K, block):
        inner = start + tl.arange(0, block)
        a_tile = tl.load(
            a + rows[:, None] * a_row + inner[None, :] * a_column,
            mask=(rows[:, None] < M) & (inner[None, :] < K),
            other=0.0,
        )
        b_tile = tl.load(
            b + inner[:, None] * b_row + columns[None, :] * b_column,
            mask=(inner[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(a_tile, b_tile, total, input_precision="ieee")
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * c_row + columns[None, :] * c_column, total, mask=inside)


# END SOLUTION
def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 16) -> torch.Tensor:
    """Compute the product of two matrices, in tiles of block × block.

    A program computes one tile of the result (or more): it steps through the rows of a and the columns
    of b by `block`, and adds up `tl.dot` of the two tiles in float32. On a GPU `tl.dot` may
    round float32 to fewer bits: use `input_precision="ieee"`.

    Args:
        a: (M, K), float32 or float16, any strides.
        b: (K, N), likewise; a's dtype.
        block: a power of two >= 16. M, N and K need not be multiples of it. Loads and stores
            cover at most block × block elements at a time.

    Returns:
        (M, N), in float32 for either dtype.
    """
    # TODO: a kernel with a two-dimensional grid. The offsets of a tile are a column of row numbers
    # times the stride of rows, plus a row of column numbers times theirs; mask those outside.
    # BEGIN SOLUTION
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=torch.float32, device=a.device)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    _matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), block=block
    )
    return c
    # END SOLUTION


# BEGIN SOLUTION
@triton.jit
def _logsumexp_kernel(x, y, m, x_row, x_column, block: tl.constexpr):
    row = tl.program_id(0)
    highest = -float("inf")
    total = 0.0
    for start in range(0, m, block):
        columns = start + tl.arange(0, block)
        place = x + row * x_row + columns * x_column
        scores = tl.load(place, mask=columns < m, other=-float("inf")).to(tl.float32)
        new = tl.maximum(highest, tl.max(scores, axis=0))
        shift = tl.where(new == -float("inf"), 0.0, new)  # nothing but -inf so far
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(scores - shift), axis=0)
        highest = new
    empty = total == 0
    answer = tl.where(empty, -float("inf"), highest + tl.log(tl.where(empty, 1.0, total)))
    tl.store(y + row, answer)


# END SOLUTION
def logsumexp_rows(x: torch.Tensor, block: int = 64) -> torch.Tensor:
    """Compute the logsumexp of each row, in one pass over its blocks.

    One launch. A row may be longer than any block: the running state is the maximum of the blocks
    so far and the sum of exp(entry - maximum) (week 7). Every element is loaded exactly once, and
    a load covers at most `block` elements.

    Args:
        x: (n, m), float32 or float16, any strides. Entries may be -inf.
        block: a power of two >= 16. m need not be a multiple of it.

    Returns:
        (n,), in float32 for either dtype; -inf for a row of only -inf.
    """
    # TODO: one program per row, a loop over its blocks, two running numbers. What happens to
    # them if every entry of a block is -inf?
    # BEGIN SOLUTION
    n, m = x.shape
    y = torch.empty(n, dtype=torch.float32, device=x.device)
    _logsumexp_kernel[(n,)](x, y, m, *x.stride(), block=block)
    return y
    # END SOLUTION


# BEGIN SOLUTION
@triton.jit
def _flash_kernel(
    q, k, v, out, lse, n, m, scale,
    q_row, q_column, k_row, k_column, v_row, v_column, out_row, out_column,
    d: tl.constexpr, causal: tl.constexpr, block_m: tl.constexpr, block_n: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * block_m + tl.arange(0, block_m)
    features = tl.arange(0, d)
    here = rows[:, None] < n
    queries = tl.load(q + rows[:, None] * q_row + features[None, :] * q_column, here, 0.0)
    highest = tl.full((block_m,), -float("inf"), tl.float32)
    total = tl.zeros((block_m,), tl.float32)
    mixed = tl.zeros((block_m, d), tl.float32)
    for start in range(0, m, block_n):
        columns = start + tl.arange(0, block_n)
        there = columns[:, None] < m
        keys = tl.load(k + columns[:, None] * k_row + features[None, :] * k_column, there, 0.0)
        values = tl.load(v + columns[:, None] * v_row + features[None, :] * v_column, there, 0.0)
        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        seen = columns[None, :] < m
        if causal:
            seen = seen & (columns[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        new = tl.maximum(highest, tl.max(scores, axis=1))
        shift = tl.where(new == -float("inf"), 0.0, new)  # a query that saw no key so far
        weights = tl.exp(scores - shift[:, None])
        shrink = tl.exp(highest - shift)
        total = total * shrink + tl.sum(weights, axis=1)
        mixed = mixed * shrink[:, None]
        mixed = tl.dot(weights, values.to(tl.float32), mixed, input_precision="ieee")
        highest = new
    seen_any = total > 0
    divisor = tl.where(seen_any, total, 1.0)
    place = out + rows[:, None] * out_row + features[None, :] * out_column
    tl.store(place, mixed / divisor[:, None], mask=here)
    tl.store(lse + rows, tl.where(seen_any, highest + tl.log(divisor), -float("inf")), rows < n)


# END SOLUTION
def flash_forward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool = False,
    block_m: int = 16,
    block_n: int = 16,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute attention without the score matrix: week 7's `tiled_attention` as a kernel.

    softmax(q kᵀ / √d) v, in tiles: a program takes block_m queries and steps through the keys by
    block_n, with a running maximum, a running sum and a running sum of values for each query.

    Args:
        q: queries, (n, d), float32 or float16, any strides; d is a power of two >= 16.
        k: keys, (m, d), likewise.
        v: values, (m, d), likewise.
        causal: query i sees the keys j <= i only, both counted from 0, also if n and m differ.
        block_m: queries in a tile, a power of two >= 16. n need not be a multiple of it.
        block_n: keys in a tile, likewise for m. Loads and stores cover at most as many elements
            as the queries of a tile, (block_m, d), or its keys or values, (block_n, d).

    Returns:
        output (n, d) in q's dtype, and the logsumexp (n,) of each query's scores, in float32 or in
        q's dtype. No tensor of n × m elements is made on the way.
    """
    # TODO: one program per block of queries. Scores of keys past the end, and of keys that a
    # query may not see, are -inf before the maximum is taken.
    # BEGIN SOLUTION
    (n, d), m = q.shape, k.shape[0]
    output = torch.empty(n, d, dtype=q.dtype, device=q.device)
    logsumexp = torch.empty(n, dtype=torch.float32, device=q.device)
    _flash_kernel[(triton.cdiv(n, block_m),)](
        q, k, v, output, logsumexp, n, m, d**-0.5,
        *q.stride(), *k.stride(), *v.stride(), *output.stride(),
        d=d, causal=causal, block_m=block_m, block_n=block_n,
    )  # fmt: skip
    return output, logsumexp
    # END SOLUTION
