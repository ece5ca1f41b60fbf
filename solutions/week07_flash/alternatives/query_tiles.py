"""Tiles in both directions, as on a GPU: closures over one tile of queries, lists, torch.cat."""

import math

import torch


def online_softmax(blocks):
    def step(state, block):
        m, s = state
        block = block.float() if block.dtype in (torch.float16, torch.bfloat16) else block
        new = torch.maximum(m, torch.amax(block, -1))
        ground = torch.where(new == -math.inf, 0.0, new)
        return new, s * torch.exp(m - ground) + torch.sum(torch.exp(block - ground[..., None]), -1)

    state = None
    for block in blocks:
        if state is None:
            dtype = block.dtype
            nothing = torch.zeros_like(block[..., 0])
            state = (nothing - math.inf, nothing)
        state = step(state, block)
    return state[0].to(dtype), state[1].to(dtype)


def _one_tile(q, i, k, j, causal):
    """Scores of queries from position i on with keys from position j on."""
    s = torch.einsum("...id,...jd->...ij", q, k).mul(1 / math.sqrt(q.shape[-1]))
    if causal:
        later = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu(i - j + 1)
        s = s.masked_fill(later, float("-inf"))
    return s


def _tiles(length, size):
    return [(start, min(start + size, length)) for start in range(0, length, size)]


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = q.dtype
    q, k, v = (x if x.dtype == torch.float64 else x.float() for x in (q, k, v))

    def rows(i, i_end):
        queries = q[..., i:i_end, :]
        m = torch.full(queries.shape[:-1], float("-inf"), dtype=q.dtype, device=q.device)
        s = torch.zeros_like(m)
        o = torch.zeros((*m.shape, v.shape[-1]), dtype=q.dtype, device=q.device)
        for j, j_end in _tiles(k.shape[-2], block_size):
            if causal and j >= i_end:
                break
            scores = _one_tile(queries, i, k[..., j:j_end, :], j, causal)
            new = torch.maximum(m, scores.max(-1)[0])
            p = torch.exp(scores - new[..., None])
            old = torch.exp(m - new)
            s, o = old * s + p.sum(-1), old[..., None] * o + p @ v[..., j:j_end, :]
            m = new
        return o / s[..., None], torch.log(s) + m

    parts = [rows(i, i_end) for i, i_end in _tiles(q.shape[-2], block_size)]
    return (
        torch.cat([o for o, _ in parts], dim=-2).to(dtype),
        torch.cat([lse for _, lse in parts], dim=-1).to(dtype),
    )


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        ctx.tile = block_size
        ctx.hide_later = causal
        out, lse = tiled_attention(q, k, v, block_size, causal)
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    def backward(ctx, g):
        saved = ctx.saved_tensors
        q, k, v, out, lse = (x if x.dtype == torch.float64 else x.float() for x in saved)
        dtype, g = g.dtype, g.to(q.dtype)
        dq = [torch.zeros_like(q[..., i:e, :]) for i, e in _tiles(q.shape[-2], ctx.tile)]
        dk, dv = [], []
        for j, j_end in _tiles(k.shape[-2], ctx.tile):
            keys, values = k[..., j:j_end, :], v[..., j:j_end, :]
            gk, gv = torch.zeros_like(keys), torch.zeros_like(values)
            for number, (i, i_end) in enumerate(_tiles(q.shape[-2], ctx.tile)):
                if ctx.hide_later and i_end <= j:
                    continue
                queries, go = q[..., i:i_end, :], g[..., i:i_end, :]
                p = _one_tile(queries, i, keys, j, ctx.hide_later)
                p = torch.exp(p - lse[..., i:i_end, None])
                dot = (go * out[..., i:i_end, :]).sum(-1, keepdim=True)
                ds = p * (go @ values.transpose(-1, -2) - dot) / math.sqrt(q.shape[-1])
                gv = gv + p.transpose(-1, -2) @ go
                gk = gk + ds.transpose(-1, -2) @ queries
                dq[number] = dq[number] + ds @ keys
            dk.append(gk)
            dv.append(gv)
        return *(torch.cat(parts, dim=-2).to(dtype) for parts in (dq, dk, dv)), None, None
