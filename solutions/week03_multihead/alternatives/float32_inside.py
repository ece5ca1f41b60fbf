"""Half precision is computed in float32 and rounded once, at the end of every step."""

import torch
import torch.nn as nn


def _wide(x):
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def split_heads(x, num_heads):
    B, T, C = x.shape
    d = C // num_heads
    if d * num_heads != C:
        raise ValueError(f"C = {C} has a remainder of {C % num_heads} over {num_heads} heads")
    out = x.new_empty(B, num_heads, T, d) if not x.requires_grad else None
    if out is None:
        return torch.stack([x[:, :, h * d : (h + 1) * d] for h in range(num_heads)], dim=1)
    for h in range(num_heads):
        out[:, h] = x[:, :, h * d : (h + 1) * d]
    return out


def merge_heads(x):
    B, H, T, d = x.shape
    columns = [x[:, i // d, :, i % d] for i in range(H * d)]
    return torch.stack(columns, dim=-1)


def _weights(q, k, mask):
    scores = _wide(q) @ _wide(k).transpose(-1, -2) / k.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        blind = torch.isneginf(scores).all(dim=-1, keepdim=True)
        scores = scores.masked_fill(blind, 0.0)
        return torch.softmax(scores, dim=-1).masked_fill(blind, 0.0)
    return torch.softmax(scores, dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        d_head = d_model / num_heads
        if d_head != int(d_head):
            raise ValueError(f"d_model {d_model} over num_heads {num_heads} gives {d_head}")
        self.h, self.d = num_heads, int(d_head)
        self.W_q = nn.Linear(d_model, d_model, bias=True)
        self.W_k = nn.Linear(d_model, d_model, bias=True)
        self.W_v = nn.Linear(d_model, d_model, bias=True)
        self.W_o = nn.Linear(d_model, d_model, bias=True)

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if mask is not None and mask.dim() == 3:
            raise ValueError(f"mask.dim() is {mask.dim()}, not 2 or 4 ({tuple(mask.shape)})")
        B, n, C = query.shape
        m = key.shape[1]
        q = self.W_q(query).view(B, n, self.h, self.d).transpose(1, 2)
        k = self.W_k(key).view(B, m, self.h, self.d).transpose(1, 2)
        v = self.W_v(value).view(B, m, self.h, self.d).transpose(1, 2)
        weights = _weights(q, k, mask)
        mixed = (weights @ _wide(v)).to(query.dtype)
        output = self.W_o(mixed.transpose(1, 2).contiguous().view(B, n, C))
        return output, weights.to(query.dtype)


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} % {n_heads} = {d_model % n_heads}")
        self.h, self.d, self.keep = n_heads, d_model // n_heads, 1.0 - dropout
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, return_weights=False):
        B, T, C = x.shape
        fused = self.qkv(x)
        q, k, v = fused[..., :C], fused[..., C : 2 * C], fused[..., 2 * C :]
        q, k, v = (t.reshape(B, T, self.h, self.d).transpose(1, 2) for t in (q, k, v))
        position = torch.arange(T, device=x.device)
        weights = _weights(q, k, position.unsqueeze(0) <= position.unsqueeze(1))
        used = weights
        if self.training and self.keep < 1.0:
            kept = torch.rand(weights.shape, device=weights.device) < self.keep
            used = weights * kept / self.keep
        mixed = (used @ _wide(v)).to(x.dtype).transpose(1, 2).reshape(B, T, C)
        y = self.proj(mixed)
        return (y, weights.to(x.dtype)) if return_weights else y


def from_torch(mha):
    like = {"device": mha.out_proj.weight.device, "dtype": mha.out_proj.weight.dtype}
    copy = nn.utils.skip_init(_Allocated, mha.embed_dim, mha.num_heads, **like)
    with torch.no_grad():
        for name, third in zip(("W_q", "W_k", "W_v"), range(3), strict=True):
            layer = getattr(copy, name)
            layer.weight.copy_(mha.in_proj_weight.view(3, mha.embed_dim, -1)[third])
            if mha.in_proj_bias is None:
                layer.bias.zero_()
            else:
                layer.bias.copy_(mha.in_proj_bias.view(3, -1)[third])
        copy.W_o.weight.copy_(mha.out_proj.weight)
        if mha.out_proj.bias is None:
            copy.W_o.bias.zero_()
        else:
            copy.W_o.bias.copy_(mha.out_proj.bias)
    return copy


class _Allocated(MultiHeadAttention):
    """The same module with the `device` and `dtype` that `skip_init` passes on."""

    def __init__(self, d_model, num_heads, device=None, dtype=None):
        nn.Module.__init__(self)
        self.h, self.d = num_heads, d_model // num_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, device=device, dtype=dtype))
