"""From the last block to the first: rows begin with blocks that are hidden from them altogether."""

import torch


def online_softmax(blocks):
    maximum, total = torch.tensor(-torch.inf), torch.tensor(0.0)
    for block in blocks:
        dtype, block = block.dtype, block.to(torch.promote_types(block.dtype, torch.float32))
        maximum = maximum.to(block)
        total = total.to(block)
        joined = torch.cat([block, maximum.expand(block.shape[:-1]).unsqueeze(-1)], dim=-1)
        highest = joined.amax(dim=-1, keepdim=True)
        level = torch.where(highest > -torch.inf, highest, torch.zeros_like(highest))
        masses = torch.exp(joined - level)
        total = masses[..., :-1].sum(dim=-1) + masses[..., -1] * total
        maximum = highest.squeeze(-1)
    return maximum.to(dtype), total.to(dtype)


def _backwards(q, k, v, block_size, causal):
    """(slice, keys, values, scores) from the end of the keys to their beginning."""
    dtype = torch.result_type(q.new_zeros(1), torch.zeros(1))
    n, m = q.shape[-2], k.shape[-2]
    for begin in reversed(range(0, m, block_size)):
        where = slice(begin, min(begin + block_size, m))
        keys, values = k[..., where, :].to(dtype), v[..., where, :].to(dtype)
        scores = torch.matmul(q.to(dtype) / q.shape[-1] ** 0.25, (keys / q.shape[-1] ** 0.25).mT)
        if causal:
            distance = torch.arange(n, device=q.device)[:, None] - torch.arange(
                where.start, where.stop, device=q.device
            )
            scores = scores.where(distance >= 0, -torch.inf)
        yield where, keys, values, scores


def tiled_attention(q, k, v, block_size=64, causal=False):
    high = None
    for _, _, values, scores in _backwards(q, k, v, block_size, causal):
        if high is None:
            high = torch.full_like(scores[..., :1], -torch.inf)
            total = torch.zeros_like(high)
            output = total * values[..., :1, :]
        higher = torch.maximum(high, scores.max(dim=-1, keepdim=True).values).detach()
        level = higher.clamp(min=torch.finfo(higher.dtype).min)
        fade, mass = torch.exp(high - level), torch.exp(scores - level)
        total = total * fade + mass.sum(-1, keepdim=True)
        output = output * fade + mass @ values
        high = higher
    return (output / total).to(q.dtype), (high + total.log())[..., 0].to(q.dtype)


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        out, lse = tiled_attention(q, k, v, block_size, causal)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.settings = {"block_size": block_size, "causal": causal}
        return out

    @staticmethod
    def backward(ctx, dout):
        q, k, v, out, lse = ctx.saved_tensors
        d = (dout.float() if dout.dtype.itemsize < 4 else dout) * out
        d = d.sum(-1, keepdim=True)
        gradients = [torch.zeros(x.shape, dtype=d.dtype, device=x.device) for x in (q, k, v)]
        for where, keys, values, scores in _backwards(q, k, v, **ctx.settings):
            weights = torch.exp(scores - lse.to(d.dtype).unsqueeze(-1))
            inner = weights * (dout.to(d.dtype) @ values.mT - d)
            gradients[0] += inner @ keys / q.shape[-1] ** 0.5
            gradients[1][..., where, :] = inner.mT @ q.to(d.dtype) / q.shape[-1] ** 0.5
            gradients[2][..., where, :] = weights.mT @ dout.to(d.dtype)
        return *(g.to(q.dtype) for g in gradients), None, None
