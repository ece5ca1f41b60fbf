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

Not allowed this week: calls of a library's `softmax`, `log_softmax`, `logsumexp`, `matmul`,
`mm`, `bmm`, `addmm`, `baddbmm`, `mv`, `einsum`, `linear`, `scaled_dot_product_*`,
`*multi_head_attention*`, `MultiheadAttention`, `flex_attention` and `torch.onnx.ops.*` (`*`
matches anything), under any alias. Such a call does the exercise for you and costs all of its
points.

You may import Python's standard library, `torch`, `numpy`, `matplotlib` and `triton`, and files
that you submit. Other libraries are not available during grading.
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
    raise NotImplementedError("softmax_rows")


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
    raise NotImplementedError("matmul")


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
    raise NotImplementedError("logsumexp_rows")


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
    raise NotImplementedError("flash_forward")
