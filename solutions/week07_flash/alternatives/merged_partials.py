"""Each block is a finished attention of its own; neighbours are merged by their logsumexps."""

from functools import reduce

import torch
from torch.nn import functional as F


def online_softmax(blocks):
    top, total = reduce(_merge_sums, map(_finished_sum, blocks))
    return top, total.to(top.dtype)


def _finished_sum(block):
    top = block.max(-1).values
    base = top.nan_to_num(neginf=0.0)
    powers = (block - base.unsqueeze(-1)).exp()
    return top, powers.sum(-1).to(torch.promote_types(block.dtype, torch.float32))


def _merge_sums(one, other):
    top = torch.maximum(one[0], other[0])
    base = top.nan_to_num(neginf=0.0)
    return top, one[1] * (one[0] - base).exp() + other[1] * (other[0] - base).exp()


def _finished_block(q, k, v, start, causal):
    """Output and logsumexp of one block; a row that sees none of it has zeros and -inf."""
    dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    scores = torch.einsum("...nd,...md->...nm", q.to(dtype), k.to(dtype)) / q.shape[-1] ** 0.5
    if causal:
        n, m = scores.shape[-2:]
        visible = torch.ones(n, m, dtype=torch.bool, device=q.device).tril(-start)
        empty = ~visible.any(-1, keepdim=True)
        scores = scores.masked_fill(~visible & ~empty, -torch.inf)
        lse = torch.logsumexp(scores, -1, keepdim=True).masked_fill(empty, -torch.inf)
        weights = F.softmax(scores, -1).masked_fill(empty, 0.0)
    else:
        lse = torch.logsumexp(scores, -1, keepdim=True)
        weights = F.softmax(scores, -1)
    return weights @ v.to(dtype), lse


def _merge(one, other):
    """The first of the two has seen a key in every row."""
    both = torch.logaddexp(one[1], other[1])
    share = (other[1] - both).exp()
    return one[0] + share * (other[0] - one[0]), both


def tiled_attention(q, k, v, block_size=64, causal=False):
    finished = (
        _finished_block(
            q, k[..., at : at + block_size, :], v[..., at : at + block_size, :], at, causal
        )
        for at in range(0, k.shape[-2], block_size)
    )
    output, lse = reduce(_merge, finished)
    return output.to(q.dtype), lse.squeeze(-1).to(q.dtype)


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, lse = tiled_attention(q, k, v, block_size, causal)
        ctx.save_for_backward(q, k, v, output, lse)
        ctx.block_size, ctx.causal = block_size, causal
        return output

    @staticmethod
    def backward(ctx, upstream):
        q, k, v, output, lse = ctx.saved_tensors
        n, scale = q.shape[-2], q.shape[-1] ** -0.5
        mean = torch.einsum("...nf,...nf->...n", upstream, output)
        queries = torch.zeros_like(q)
        keys, values = [], []
        for at in range(0, k.shape[-2], ctx.block_size):
            kb, vb = (x.narrow(-2, at, min(ctx.block_size, k.shape[-2] - at)) for x in (k, v))
            weights = (torch.einsum("...nd,...bd->...nb", q, kb) * scale - lse[..., None]).exp()
            if ctx.causal:
                weights = weights.tril(-at)
            pull = torch.einsum("...nf,...bf->...nb", upstream, vb) - mean[..., None]
            values.append(torch.einsum("...nb,...nf->...bf", weights, upstream))
            keys.append(torch.einsum("...nb,...nb,...nd->...bd", weights, pull * scale, q))
            queries = queries + torch.einsum("...nb,...nb,...bd->...nd", weights, pull * scale, kb)
        return queries, torch.cat(keys, -2), torch.cat(values, -2), None, None
