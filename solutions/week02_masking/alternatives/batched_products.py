"""Folds all leading axes into one batch for `torch.baddbmm`; uses `torch.masked.softmax`."""

import torch
from torch import nn
from torch.nn.parameter import Parameter


def masked_softmax(scores, mask, dim=-1):
    weights = torch.masked.softmax(scores, dim, mask=mask.expand(scores.shape))
    return weights.nan_to_num(nan=0.0)


def scaled_dot_product_attention(q, k, v, mask=None):
    *lead, n, d = q.shape
    m, width = v.shape[-2:]
    q, k, v = q.reshape(-1, n, d), k.reshape(-1, m, d), v.reshape(-1, m, width)
    bias = q.new_zeros(1, 1, 1)
    scores = torch.baddbmm(bias, q, k.mT, beta=0, alpha=d**-0.5).reshape(*lead, n, m)
    if mask is None:
        weights = scores.softmax(-1)
    else:
        allowed = mask.broadcast_to(scores.shape)
        weights = torch.where(
            allowed, scores, -3.0e38 if scores.dtype != torch.float16 else -6.0e4
        ).softmax(-1)
        weights = weights * allowed
    return torch.bmm(weights.reshape(-1, n, m), v).reshape(*lead, n, width), weights


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        projections = {
            name: nn.Linear(embed_size, embed_size, bias=False) for name in ("W_q", "W_k", "W_v")
        }
        for name, layer in projections.items():
            layer.weight = Parameter(torch.randn(embed_size, embed_size) / embed_size**0.5)
            setattr(self, name, layer)

    def forward(self, x, mask=None):
        q, k, v = map(
            lambda layer: torch.nn.functional.linear(x, layer.weight),
            (self.W_q, self.W_k, self.W_v),
        )
        return scaled_dot_product_attention(q, k, v, mask)
