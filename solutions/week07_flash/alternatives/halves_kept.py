"""Only running sums are widened: other steps in the inputs' dtype; where instead of masked_fill."""

import torch


def online_softmax(blocks):
    pieces = iter(blocks)
    first = next(pieces)
    high = first.max(dim=-1).values
    wide = first.dtype if first.dtype == torch.float64 else torch.float32
    mass = _powers(first, high).sum(-1, dtype=wide)
    for piece in pieces:
        higher = torch.maximum(high, piece.max(dim=-1).values)
        fade = _powers(high[..., None], higher)[..., 0]
        mass = mass * fade + _powers(piece, higher).sum(-1, dtype=wide)
        high = higher
    return high, mass.to(first.dtype)


def _powers(x, high):
    """exp(x - high), row by row; 0 where the row has seen nothing but -inf."""
    base = torch.where(torch.isneginf(high), torch.zeros_like(high), high)
    return (x - base.unsqueeze(-1)).exp()


def _walk(q, k, v, block_size, causal):
    """The blocks of keys and values, with the scaled scores of all queries."""
    i = torch.arange(q.size(-2), device=q.device)
    places = torch.arange(k.size(-2), device=q.device).split(block_size)
    for j, keys, values in zip(
        places, k.split(block_size, dim=-2), v.split(block_size, dim=-2), strict=True
    ):
        scores = torch.matmul(q * q.size(-1) ** -0.5, keys.mT)
        if causal:
            scores = torch.where(j <= i[:, None], scores, -torch.inf)
        yield keys, values, scores


def tiled_attention(q, k, v, block_size=64, causal=False):
    high = mass = blend = None
    for _, values, scores in _walk(q, k, v, block_size, causal):
        top = scores.detach().max(-1).values
        higher = top if high is None else torch.maximum(high, top)
        p = _powers(scores, higher)
        if high is None:
            mass, blend = p.sum(-1), p @ values
        else:
            fade = _powers(high[..., None], higher)
            mass = fade[..., 0] * mass + p.sum(-1)
            blend = fade * blend + p @ values
        high = higher
    return blend / mass.unsqueeze(-1), high + mass.log()


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        out, lse = tiled_attention(q, k, v, block_size, causal)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.rest = block_size, causal
        return out

    @staticmethod
    def backward(ctx, dout):
        q, k, v, out, lse = ctx.saved_tensors
        delta = (dout * out).sum(-1, keepdim=True)
        dq, dk, dv = torch.zeros_like(q), [], []
        for keys, values, scores in _walk(q, k, v, *ctx.rest):
            p = (scores - lse[..., None]).exp()
            dv.append(p.mT @ dout)
            ds = p * (dout @ values.mT - delta) * q.size(-1) ** -0.5
            dk.append(ds.mT @ q)
            dq = dq + ds @ keys
        return dq, torch.cat(dk, -2), torch.cat(dv, -2), None, None
