"""Week 7: exact attention without the score matrix.

Full attention writes n x m scores to memory, reads them back for the softmax, and keeps the weights
for the backward pass. None of that is needed: a softmax can be computed in one pass over its
entries (Milakov and Gimelshein, 2018, "Online normalizer calculation for softmax"), so attention
can be computed one block of keys at a time, and its gradient from recomputed blocks (Dao et al.,
2022, "FlashAttention", section 3). This module builds all three, on any device.

Shapes: ``n`` query length, ``m`` key length, ``d`` head size, ``d_v`` value size, ``b`` width of a
block, ``...`` any number of leading dimensions, including none. Tensors may be views with any
strides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch.autograd.function import once_differentiable


# BEGIN SOLUTION
def _wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype to compute in: that of the inputs, but no less than float32."""
    return torch.promote_types(dtype, torch.float32)


def _finite(maximum: torch.Tensor) -> torch.Tensor:
    """Return the number to subtract before the exponential: the maximum, or 0 at the start.

    -inf - (-inf) would be NaN, in the value and in the gradient.
    """
    return maximum.masked_fill(maximum == -torch.inf, 0.0)


# END SOLUTION


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
    # BEGIN SOLUTION
    maximum = total = None
    for block in blocks:
        entries = block.to(_wide(block.dtype))
        largest = entries.amax(dim=-1)
        new_maximum = largest if maximum is None else torch.maximum(maximum, largest)
        shift = _finite(new_maximum)
        new_total = torch.exp(entries - shift.unsqueeze(-1)).sum(dim=-1)
        if total is not None:
            new_total = new_total + total * torch.exp(maximum - shift)
        maximum, total = new_maximum, new_total
    return maximum.to(block.dtype), total.to(block.dtype)
    # END SOLUTION


# BEGIN SOLUTION
def _scores(queries: torch.Tensor, keys: torch.Tensor, start: int, causal: bool) -> torch.Tensor:
    """Scaled scores (..., n, b) with the block of keys that begins at position `start`."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if causal:
        query_positions = torch.arange(queries.shape[-2], device=queries.device)
        key_positions = start + torch.arange(keys.shape[-2], device=keys.device)
        scores = scores.masked_fill(key_positions > query_positions[:, None], -torch.inf)
    return scores


def _visible_keys(q: torch.Tensor, k: torch.Tensor, causal: bool) -> int:
    """How many keys are seen by any query: with causal, none behind the last query."""
    return min(q.shape[-2], k.shape[-2]) if causal else k.shape[-2]


def _attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, block_size: int, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output (..., n, d_v) and logsumexp (..., n), both in at least float32."""
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.full_like(queries[..., :1], -torch.inf)
    total = torch.zeros_like(maximum)
    output = queries.new_zeros(*q.shape[:-1], v.shape[-1])
    for start in range(0, _visible_keys(q, k, causal), block_size):
        block = slice(start, start + block_size)
        scores = _scores(queries, k[..., block, :].to(dtype), start, causal)
        # The maximum cancels in both results: no gradient has to pass through it.
        new_maximum = torch.maximum(maximum, scores.detach().amax(dim=-1, keepdim=True))
        shift = _finite(new_maximum)
        rescale = torch.exp(maximum - shift)
        weights = torch.exp(scores - shift)
        total = total * rescale + weights.sum(dim=-1, keepdim=True)
        output = output * rescale + weights @ v[..., block, :].to(dtype)
        maximum = new_maximum
    output = output / total.masked_fill(total == 0, 1.0)
    return output, (maximum + torch.log(total)).squeeze(-1)


# END SOLUTION


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
    # BEGIN SOLUTION
    output, logsumexp = _attend(q, k, v, block_size, causal)
    return output.to(q.dtype), logsumexp.to(q.dtype)
    # END SOLUTION


# BEGIN SOLUTION
def _block_gradients(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    grad_output: torch.Tensor,
    logsumexp: torch.Tensor,
    correction: torch.Tensor,
    start: int,
    causal: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What one block adds to the gradient of the queries, and the gradients of its keys and values.

    The logsumexp restores the weights (..., n, b) without a second softmax. The row's sum of
    weight times gradient, which the softmax subtracts, is the same for every block (`correction`).
    """
    weights = torch.exp(_scores(queries, keys, start, causal) - logsumexp.unsqueeze(-1))
    grad_weights = grad_output @ values.transpose(-2, -1)
    grad_scores = weights * (grad_weights - correction) / math.sqrt(queries.shape[-1])
    return (
        grad_scores @ keys,
        grad_scores.transpose(-2, -1) @ queries,
        weights.transpose(-2, -1) @ grad_output,
    )


# END SOLUTION


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
        # BEGIN SOLUTION
        output, logsumexp = _attend(q, k, v, block_size, causal)
        output = output.to(q.dtype)
        ctx.save_for_backward(q, k, v, output, logsumexp)
        ctx.block_size, ctx.causal = block_size, causal
        return output
        # END SOLUTION

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
        # BEGIN SOLUTION
        q, k, v, output, logsumexp = ctx.saved_tensors
        dtype = _wide(q.dtype)
        queries, grad_output = q.to(dtype), grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).sum(dim=-1, keepdim=True)
        grad_q = torch.zeros_like(queries)
        grad_k, grad_v = torch.zeros_like(k), torch.zeros_like(v)
        for start in range(0, _visible_keys(q, k, ctx.causal), ctx.block_size):
            block = slice(start, start + ctx.block_size)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            part_of_grad_q, grad_k[..., block, :], grad_v[..., block, :] = _block_gradients(
                queries, keys, values, grad_output, logsumexp, correction, start, ctx.causal
            )
            grad_q += part_of_grad_q
        return grad_q.to(q.dtype), grad_k, grad_v, None, None
        # END SOLUTION
