"""Powers of two instead of e, all in float64 and written into, row sums by matrix products."""

import math

import torch

LOG2_E = 1 / math.log(2)


class Running:
    """Maximum and sum of the rows that were fed in so far, to the base 2."""

    def __init__(self):
        self.maximum = self.total = None

    def __call__(self, x):
        """Take in (..., b); return 2**(x - maximum), and the factor for older results."""
        top = x.amax(-1, keepdim=True)
        new = top if self.maximum is None else torch.maximum(self.maximum, top)
        base = torch.where(new.isinf(), 0.0, new)
        powers = torch.exp2(x - base)
        ones = torch.ones(x.shape[-1], 1, dtype=x.dtype, device=x.device)
        fade = torch.ones_like(base) if self.total is None else torch.exp2(self.maximum - base)
        self.total = powers @ ones if self.total is None else self.total * fade + powers @ ones
        self.maximum = new
        return powers, fade


def online_softmax(blocks):
    running = Running()
    for block in blocks:
        running(block.double() * LOG2_E)
    dtype = block.dtype
    return (running.maximum / LOG2_E).squeeze(-1).to(dtype), running.total.squeeze(-1).to(dtype)


def _scores_to_base_2(q, k, at, causal):
    s = q @ k.mT * (LOG2_E / math.sqrt(q.shape[-1]))
    if causal:
        for column in range(s.shape[-1]):  # queries before the key do not see it
            s[..., : at + column, column] = -torch.inf
    return s


def tiled_attention(q, k, v, block_size=64, causal=False):
    wide, running, output = q.double(), Running(), 0.0
    for at in range(0, k.shape[-2], block_size):
        keys, values = (x[..., at : at + block_size, :].double() for x in (k, v))
        powers, fade = running(_scores_to_base_2(wide, keys, at, causal))
        output = output * fade + powers @ values
    lse = (running.maximum + running.total.log2()) / LOG2_E
    return (output / running.total).to(q.dtype), lse.squeeze(-1).to(q.dtype)


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *args):
        *tensors, ctx.block_size, ctx.causal = args
        out, lse = tiled_attention(*(t.double() for t in tensors), ctx.block_size, ctx.causal)
        ctx.save_for_backward(*tensors, out, lse)
        return out.to(tensors[0].dtype)

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, lse = (t.double() for t in ctx.saved_tensors)
        g = grad.double()
        offset = (g * out).sum(-1, keepdim=True)
        dq, dk, dv = (torch.empty_like(t).zero_() for t in (q, k, v))
        for at in range(0, k.shape[-2], ctx.block_size):
            here = slice(at, at + ctx.block_size)
            s = _scores_to_base_2(q, k[..., here, :], at, ctx.causal)
            p = torch.exp2(s - lse.unsqueeze(-1) * LOG2_E)
            ds = p * (g @ v[..., here, :].mT - offset) / math.sqrt(q.shape[-1])
            dq.add_(ds @ k[..., here, :])
            dk[..., here, :].copy_(ds.mT @ q)
            dv[..., here, :].copy_(p.mT @ g)
        return dq.to(grad.dtype), dk.to(grad.dtype), dv.to(grad.dtype), None, None
