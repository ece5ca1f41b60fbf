"""Einsum throughout: the projections are cut into heads, the activations never are."""

import torch
from matplotlib import pyplot
from torch import nn


def split_heads(x, num_heads):
    if x.size(2) % num_heads != 0:
        raise ValueError(f"C={x.size(2)} is not a multiple of num_heads={num_heads}")
    return torch.einsum("bthd->bhtd", x.unflatten(-1, (num_heads, -1)))


def merge_heads(x):
    return torch.einsum("bhtd->bthd", x).flatten(2)


def _heads_of(layer, num_heads):
    """(H, d, C) and (H, d): what each head reads of a Linear(C, C)."""
    return layer.weight.unflatten(0, (num_heads, -1)), layer.bias.unflatten(0, (num_heads, -1))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads={num_heads} does not divide d_model={d_model}")
        super().__init__()
        self.H = num_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if mask is not None and mask.ndim == 3:
            raise ValueError(f"ambiguous 3-dimensional mask {list(mask.shape)}")
        projected = []
        for layer, x in ((self.W_q, query), (self.W_k, key), (self.W_v, value)):
            weight, bias = _heads_of(layer, self.H)
            projected.append(torch.einsum("btc,hdc->bhtd", x, weight) + bias[:, None, :])
        q, k, v = projected
        scores = torch.einsum("bhnd,bhmd->bhnm", q, k) * q.size(-1) ** -0.5
        if mask is not None:
            scores = torch.where(mask, scores, float("-inf"))
        weights = scores.softmax(-1).nan_to_num(0.0)
        output_weight = self.W_o.weight.unflatten(1, (self.H, -1))  # (C, H, d)
        output = torch.einsum("bhnm,bhmd,chd->bnc", weights, v, output_weight) + self.W_o.bias
        return output, weights


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        if d_model % n_heads != 0:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        super().__init__()
        self.H, self.p = n_heads, dropout
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, return_weights=False):
        per_head = self.qkv.weight.unflatten(0, (3, self.H, -1))  # (3, H, d, C)
        q, k, v = torch.einsum("btc,shdc->sbhtd", x, per_head)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * q.size(-1) ** -0.5
        i = torch.arange(x.size(1), device=x.device)
        weights = torch.where(i[:, None] >= i, scores, float("-inf")).softmax(-1)
        kept = torch.dropout(weights, self.p, self.training)
        y = self.proj(torch.einsum("bhij,bhjd->bihd", kept, v).flatten(2))
        if return_weights:
            return y, weights
        return y


def plot_heads(weights, tokens=None):
    figure, axes = pyplot.subplots(1, len(weights), squeeze=False)
    for number, (ax, matrix) in enumerate(zip(axes[0], weights, strict=True), start=1):
        ax.imshow(matrix.detach().cpu().float().numpy(), vmin=0, vmax=1, aspect="auto")
        ax.set(title=f"Head {number}", xlabel="Key", ylabel="Query")
        if tokens is not None:
            ax.set_xticks(range(len(tokens)))
            ax.set_xticklabels(tokens)
            ax.set_yticks(range(len(tokens)))
            ax.set_yticklabels(tokens)
    return figure


def from_torch(mha):
    state_before = torch.get_rng_state()
    try:
        mine = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    finally:
        torch.set_rng_state(state_before)
    c = mha.embed_dim
    with torch.no_grad():
        for index, layer in enumerate((mine.W_q, mine.W_k, mine.W_v)):
            rows = slice(index * c, (index + 1) * c)
            layer.weight = nn.Parameter(mha.in_proj_weight[rows].clone())
            bias = mha.in_proj_bias
            layer.bias = nn.Parameter(
                torch.zeros_like(layer.weight[0]) if bias is None else bias[rows].clone()
            )
        mine.W_o.weight = nn.Parameter(mha.out_proj.weight.clone())
        bias = mha.out_proj.bias
        mine.W_o.bias = nn.Parameter(
            torch.zeros_like(mine.W_o.weight[0]) if bias is None else bias.clone()
        )
    return mine
