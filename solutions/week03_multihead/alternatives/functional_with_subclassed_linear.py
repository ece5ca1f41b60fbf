"""Closures and `F.linear` on one stacked matrix; modules inherit from each other."""

from functools import partial

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parameters_to_vector


def _divided(width, heads):
    size, rest = divmod(width, heads)
    if rest != 0:
        raise ValueError(f"{width} is not divisible by {heads}: {rest} left over")
    return size


def split_heads(x, num_heads):
    size = _divided(x.shape[-1], num_heads)
    index = torch.arange(x.shape[-1], device=x.device).view(num_heads, 1, size)
    index = index.expand(num_heads, x.shape[1], size)
    return x.unsqueeze(1).expand(-1, num_heads, -1, -1).gather(-1, index.expand(len(x), -1, -1, -1))


def merge_heads(x):
    # through (B, H·d, T): the same numbers by another road
    return x.transpose(-2, -1).flatten(1, 2).transpose(1, 2).contiguous()


def _attention(heads, mask=None, drop=lambda weights: weights):
    cut = partial(split_heads, num_heads=heads)

    def attend(query, key, value):
        q, k, v = cut(query), cut(key), cut(value)
        logits = (q * q.shape[-1] ** -0.25) @ (k * k.shape[-1] ** -0.25).transpose(2, 3)
        if mask is None:
            weights = F.softmax(logits, -1)
        else:
            seen = mask.expand_as(logits)
            logits = torch.where(seen, logits, torch.full_like(logits, -torch.inf))
            # a row that sees nothing borrows zeros before the softmax and loses them after it
            alive = seen.any(-1, keepdim=True)
            logits = torch.where(alive, logits, torch.zeros_like(logits))
            weights = torch.where(alive, F.softmax(logits, -1), torch.zeros_like(logits))
        return merge_heads(drop(weights) @ v), weights

    return attend


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        _divided(d_model, num_heads)
        self.num_heads = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if getattr(mask, "ndim", 2) == 3:
            raise ValueError(f"3 dimensions are one too many or one too few: {tuple(mask.shape)}")
        attend = _attention(self.num_heads, mask)
        mixed, weights = attend(
            F.linear(query, self.W_q.weight, self.W_q.bias),
            F.linear(key, self.W_k.weight, self.W_k.bias),
            F.linear(value, self.W_v.weight, self.W_v.bias),
        )
        return torch.addmm(self.W_o.bias, mixed.flatten(0, 1), self.W_o.weight.t()).view_as(
            mixed
        ), weights


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        _divided(d_model, n_heads)
        self.heads = n_heads
        self.qkv = nn.Linear(d_model, d_model * 3, False)
        self.proj = nn.Linear(d_model, d_model, False)
        self.drop = nn.Dropout(p=dropout, inplace=False)

    def forward(self, x, return_weights=False):
        time = x.shape[1]
        not_future = ~torch.ones((time, time), dtype=torch.bool, device=x.device).triu(1)
        attend = _attention(self.heads, not_future, self.drop)
        mixed, weights = attend(*torch.tensor_split(self.qkv(x), 3, dim=-1))
        y = F.linear(mixed, self.proj.weight)
        return (y, weights) if return_weights else y


def plot_heads(weights, tokens=None):
    side = int(-(-(len(weights) ** 0.5) // 1))  # the smallest square with room for all heads
    figure = plt.figure()
    for number, matrix in enumerate(weights.detach().double().cpu().numpy(), 1):
        ax = figure.add_subplot(side, side, number, title=f"Head {number}")
        ax.matshow(matrix, vmin=0.0, vmax=1.0)
        ax.xaxis.tick_bottom()
        ax.set_xlabel("Key")
        ax.set_ylabel("Query")
        if tokens is not None:
            plt.setp(ax, xticks=range(len(tokens)), yticks=range(len(tokens)))
            plt.setp(ax, xticklabels=tokens, yticklabels=tokens)
    return figure


def from_torch(mha):
    before = torch.random.get_rng_state()
    copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    torch.random.set_rng_state(before)
    copy = copy.to(device=mha.out_proj.weight.device, dtype=mha.out_proj.weight.dtype)
    assert parameters_to_vector(copy.parameters()).numel() >= mha.embed_dim
    source = {name: tensor.detach() for name, tensor in mha.state_dict().items()}
    nothing = torch.zeros(3 * mha.embed_dim, dtype=copy.W_q.bias.dtype, device=copy.W_q.bias.device)
    state = {"W_o.weight": source["out_proj.weight"]}
    state["W_o.bias"] = source.get("out_proj.bias", nothing[: mha.embed_dim])
    for layer, weight, bias in zip(
        ("W_q", "W_k", "W_v"),
        torch.vsplit(source["in_proj_weight"], 3),
        source.get("in_proj_bias", nothing).split(mha.embed_dim),
        strict=True,
    ):
        state[f"{layer}.weight"], state[f"{layer}.bias"] = weight, bias
    copy.load_state_dict(state)
    return copy
