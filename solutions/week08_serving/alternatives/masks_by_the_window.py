"""Grouped-query attention whose causal mask is a window as wide as the cache."""

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError(f"d_model={d_model}, n_heads={n_heads}, n_kv_heads={n_kv_heads}")
        self.n_heads, self.n_kv_heads, self.d = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, n_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(n_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, s, _ = x.shape
        q = self.W_q(x).view(B, s, self.n_heads, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, s, self.n_kv_heads, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, s, self.n_kv_heads, self.d).transpose(1, 2)
        offset = 0
        if cache is not None:
            offset = cache.length
            k, v = cache.append(k, v)
        t = k.shape[2]
        mask = sliding_window_mask(s, t, window=t, offset=offset, device=x.device)
        output, _ = grouped_query_attention(q, k, v, mask)
        return self.W_o(output.transpose(1, 2).reshape(B, s, -1))
