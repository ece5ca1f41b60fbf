"""A plain Python loop: every head is sliced, attends separately, and is joined with `cat`."""

import math

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F


def split_heads(x, num_heads):
    width = x.shape[-1]
    if width % num_heads > 0:
        raise ValueError(f"{width} / {num_heads} is not a whole number")
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


def one_head(q, k, v, mask):
    """(B, n, d), (B, m, d), (B, m, d), mask (1 or B, n, m) or None -> output, weights."""
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(k.shape[-1])
    if mask is None:
        weights = F.softmax(scores, dim=-1)
    else:
        empty = ~mask.any(dim=-1, keepdim=True)
        weights = F.softmax(scores.masked_fill(~(mask | empty), -math.inf), dim=-1)
        weights = weights * (~empty).to(weights.dtype)
    return torch.bmm(weights, v), weights


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.head_size, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{num_heads} heads do not fit into a width of {d_model}")
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None:
            if mask.dim() == 3:
                raise ValueError(f"a mask with 3 dimensions: {mask.shape}")
            shape = (query.shape[0], self.num_heads, query.shape[1], key.shape[1])
            mask = mask.expand(shape)
        q, k, v = self.W_q(query), self.W_k(key), self.W_v(value)
        outputs, weights = [], []
        for head in range(self.num_heads):
            mine = slice(head * self.head_size, (head + 1) * self.head_size)
            allowed = None if mask is None else mask[:, head]
            output, weight = one_head(q[..., mine], k[..., mine], v[..., mine], allowed)
            outputs.append(output)
            weights.append(weight)
        return self.W_o(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.head_size, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError(f"{n_heads} heads do not fit into a width of {d_model}")
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)
        self.p = dropout

    def forward(self, x, return_weights=False):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        future = torch.triu(torch.ones(T, T, device=x.device), diagonal=1) == 1
        outputs, weights = [], []
        for start in range(0, C, self.head_size):
            mine = slice(start, start + self.head_size)
            scores = q[:, :, mine] @ k[:, :, mine].mT / math.sqrt(self.head_size)
            weight = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
            weights.append(weight)
            outputs.append(F.dropout(weight, self.p, training=self.training) @ v[:, :, mine])
        y = self.proj(torch.cat(outputs, dim=-1))
        if not return_weights:
            return y
        return y, torch.stack(weights, dim=1)


def plot_heads(weights, tokens=None):
    figure = plt.figure(figsize=(3 * len(weights), 3))
    for index in range(len(weights)):
        ax = figure.add_subplot(1, len(weights), index + 1)
        _draw_attention(ax, weights[index], tokens)  # noqa: F821 - provided by the stub
        ax.title.set_text("Head %d" % (index + 1))
    return figure


def from_torch(mha):
    with torch.random.fork_rng(devices=[]):
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads).to(mha.in_proj_weight)
    w_q, w_k, w_v = mha.in_proj_weight.detach().split(mha.embed_dim)
    pairs = {"W_q": w_q, "W_k": w_k, "W_v": w_v, "W_o": mha.out_proj.weight.detach()}
    for position, (name, weight) in enumerate(pairs.items()):
        layer = getattr(copy, name)
        bias = torch.zeros(mha.embed_dim, dtype=weight.dtype, device=weight.device)
        if mha.in_proj_bias is not None and name != "W_o":
            bias += mha.in_proj_bias.detach().split(mha.embed_dim)[position]
        elif mha.out_proj.bias is not None:
            bias += mha.out_proj.bias.detach()
        layer.weight.data = weight.clone()
        layer.bias.data = bias
    return copy
