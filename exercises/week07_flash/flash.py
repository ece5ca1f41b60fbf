"""Week 7: exact attention without the score matrix.

Full attention writes n x m scores to memory, reads them back for the softmax, and keeps the weights
for the backward pass. None of that is needed: a softmax can be computed in one pass over its
entries (Milakov and Gimelshein, 2018, "Online normalizer calculation for softmax"), so attention
can be computed one block of keys at a time, and its gradient from recomputed blocks (Dao et al.,
2022, "FlashAttention", section 3). This module builds all three, on any device.

Shapes: ``n`` query length, ``m`` key length, ``d`` head size, ``d_v`` value size, ``b`` width of a
block, ``...`` any number of leading dimensions, including none. Tensors may be views with any
strides.

Not allowed this week: calls of a library's `scaled_dot_product_*`, `*multi_head_attention*`,
`MultiheadAttention`, `flex_attention`, `torch.onnx.ops.*` and `torch.utils.checkpoint.*` (`*`
matches anything), under any alias. Such a call does the exercise for you and costs all of its
points.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files that you
submit. Other libraries are not available during grading.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch.autograd.function import once_differentiable


def online_softmax(blocks: Iterable[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the maximum of each row and the sum of exp(entry - maximum) in a single pass.

    The rows arrive in blocks. The running sum refers to the largest entry so far; if a block
    contains a larger one, the old sum is rescaled to it (Milakov and Gimelshein, 2018, algorithm 3).
    Only one block is needed at a time.

    Args:
        blocks: at least one tensor (..., b), with the same leading dimensions; the widths b >= 1
            may differ. Any iterable, also a generator that can be read only once.

    Returns:
        maximum: (...), the largest entry of each row.
        total: (...), the sum of exp(entry - maximum) over each row. Rows of only -inf give
            (-inf, 0).

        Both in the dtype of the blocks, and differentiable. There may be thousands of blocks: a
        running sum in bfloat16 would stop growing at 256.
    """
    # TODO: for each block find the new maximum, bring the old sum and the block's own exponentials
    # to it, and add them up. Mind rows in which everything so far is -inf.
    raise NotImplementedError("online_softmax")


def tiled_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    block_size: int = 64,
    causal: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute exact attention, softmax(q kᵀ / √d) v, over blocks of keys.

    All queries meet ``block_size`` keys at a time. In addition to the running maximum and sum of
    ``online_softmax`` there is a running sum of values, rescaled with them and divided once, at
    the end, as in FlashAttention-2 (Dao, 2023, section 3.1).

    Args:
        q: queries, (..., n, d).
        k: keys, (..., m, d).
        v: values, (..., m, d_v).
        block_size: keys in a block; the last block may be shorter.
        causal: whether query i sees only the keys j <= i, both counted from 0 (also where n and m
            differ).

    Returns:
        output: (..., n, d_v).
        logsumexp: (..., n), the logarithm of the sum of exp(scaled score) over the keys that a
            query sees.

        Both in the dtype of the inputs, and differentiable. No tensor made on the way has n x m
        elements.
    """
    # TODO: loop over blocks of keys and values, hide the keys that a query may not see, and keep
    # three things up to date: maximum, sum, and weighted values.
    raise NotImplementedError("tiled_attention")


class FlashAttention(torch.autograd.Function):
    """Attention that keeps no weights: ``FlashAttention.apply(q, k, v, block_size, causal)``.

    By default, autograd keeps the weights of every block until the backward pass: n x m numbers
    after all. This function keeps only q, k, v, its output and the logsumexp (Dao, 2023, section
    3.1), and recomputes the weights of each block in the backward pass (Dao et al., 2022, appendix
    B.2).
    """

    @staticmethod
    def forward(
        ctx: Any,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        block_size: int,
        causal: bool,
    ) -> torch.Tensor:
        """Return the output of ``tiled_attention``; q (..., n, d), k (..., m, d), v (..., m, d_v).

        Args:
            ctx: stores values for ``backward``: tensors with ``ctx.save_for_backward``, others
                as attributes.
            q: queries, (..., n, d).
            k: keys, (..., m, d).
            v: values, (..., m, d_v).
            block_size: keys in a block.
            causal: whether query i sees only the keys j <= i.

        Returns:
            (..., n, d_v), in the dtype of the inputs.
        """
        # TODO: compute output and logsumexp, keep what the backward pass needs and nothing more.
        raise NotImplementedError("FlashAttention.forward")

    @staticmethod
    @once_differentiable  # a gradient of the gradient would be silently wrong: refuse it
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Gradients of q, k and v from that of the output, (..., n, d_v), block by block.

        Returns:
            As many values as ``forward`` has arguments after ``ctx``: three gradients, each in the
            shape and dtype of its input, then None for ``block_size`` and for ``causal``.
        """
        # TODO: compute each block's weights again from the logsumexp; from them the gradients of
        # the block's values and keys, and what the block adds to that of the queries.
        raise NotImplementedError("FlashAttention.backward")
