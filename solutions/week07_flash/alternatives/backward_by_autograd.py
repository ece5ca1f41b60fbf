"""Recursive halves forward; backward, autograd differentiates one block at a time."""

import torch


def online_softmax(blocks):
    rows = None
    for block in blocks:
        fresh = _Rows.of(block.to(torch.promote_types(block.dtype, torch.float32)))
        rows = fresh if rows is None else rows + fresh
    return rows.maximum.to(block.dtype), rows.total.to(block.dtype)


class _Rows:
    """A maximum and the sum that refers to it; two of them can be added."""

    def __init__(self, maximum, total):
        self.maximum, self.total = maximum, total

    @classmethod
    def of(cls, block):
        maximum, _ = block.max(dim=-1)
        return cls(maximum, torch.exp(block - cls.level(maximum)[..., None]).sum(dim=-1))

    @staticmethod
    def level(maximum):
        return torch.where(torch.isfinite(maximum), maximum, torch.zeros_like(maximum))

    def __add__(self, other):
        maximum = torch.maximum(self.maximum, other.maximum)
        level = self.level(maximum)
        return _Rows(
            maximum,
            self.total * torch.exp(self.maximum - level)
            + other.total * torch.exp(other.maximum - level),
        )


def _attend(q, k, v, block_size, causal, first=0):
    """(sum of values, sum, maximum) over keys from `first` on, halving until a block is left."""
    m = k.shape[-2]
    if m <= block_size:
        scores = (q[..., None, :] * k[..., None, :, :]).sum(-1) * q.shape[-1] ** -0.5
        if causal:
            rows = torch.arange(q.shape[-2], device=q.device)
            hidden = rows[:, None] < torch.arange(first, first + m, device=q.device)
            scores = scores.masked_fill(hidden, -torch.inf)
        maximum = scores.detach().amax(-1, keepdim=True)
        masses = torch.exp(scores - _Rows.level(maximum))
        return masses @ v, masses.sum(-1, keepdim=True), maximum
    half = block_size * -(-m // (2 * block_size))
    one = _attend(q, k[..., :half, :], v[..., :half, :], block_size, causal, first)
    two = _attend(q, k[..., half:, :], v[..., half:, :], block_size, causal, first + half)
    maximum = torch.maximum(one[2], two[2])
    left, right = (torch.exp(x[2] - _Rows.level(maximum)) for x in (one, two))
    return one[0] * left + two[0] * right, one[1] * left + two[1] * right, maximum


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = torch.promote_types(q.dtype, torch.float32)
    blend, total, maximum = _attend(q.to(dtype), k.to(dtype), v.to(dtype), block_size, causal)
    return (blend / total).to(q.dtype), (maximum + total.log()).squeeze(-1).to(q.dtype)


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(q, k, v, block_size, causal):
        return tiled_attention(q, k, v, block_size, causal)[0]

    @staticmethod
    def setup_context(ctx, inputs, output):
        q, k, v, ctx.block_size, ctx.causal = inputs
        lse = tiled_attention(q, k, v, ctx.block_size, ctx.causal)[1]
        ctx.save_for_backward(q, k, v, output, lse)

    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output, lse = (x.detach() for x in ctx.saved_tensors)
        correction = (grad_output * output).sum(-1)

        def pull_back(at, end):
            """Gradients of one block, whose weights are exponentials with a constant logsumexp."""
            with torch.enable_grad():
                inputs = [q, k[..., at:end, :], v[..., at:end, :]]
                inputs = [x.clone().requires_grad_() for x in inputs]
                scores = inputs[0] @ inputs[1].mT * q.shape[-1] ** -0.5
                weights = torch.exp(scores - lse[..., None])
                if ctx.causal:
                    weights = weights.tril(-at)
                blend, masses = weights @ inputs[2], weights.sum(-1)
                return torch.autograd.grad((blend, masses), inputs, (grad_output, -correction))

        starts = range(0, k.shape[-2], ctx.block_size)
        parts = [pull_back(at, at + ctx.block_size) for at in starts]
        of_q, of_k, of_v = zip(*parts, strict=True)
        return sum(of_q), torch.cat(of_k, -2), torch.cat(of_v, -2), None, None
