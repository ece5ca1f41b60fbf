"""Einstein sums for every product and `torch.where` for every choice."""

import torch
from matplotlib.colors import Normalize
from torch import nn


def causal_mask(seq_len, device=None):
    return torch.tril(torch.ones((seq_len, seq_len), dtype=torch.bool, device=device))


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = lengths.max().item()
    for length in lengths.tolist():
        if not 0 <= length <= max_len:
            raise ValueError(f"length {length} is not between 0 and {max_len}")
    return torch.lt(torch.arange(max_len, device=lengths.device), torch.unsqueeze(lengths, 1))


def combine_masks(causal, padding):
    return torch.einsum("qk,bk->bqk", causal.float(), padding.float()).bool()[:, None]


def masked_softmax(scores, mask, dim=-1):
    minus_infinity = torch.full_like(scores, float("-inf"))
    weights = torch.softmax(torch.where(mask, scores, minus_infinity), dim)
    some_allowed = torch.any(mask.expand_as(scores), dim=dim, keepdim=True)
    return torch.where(some_allowed, weights, torch.zeros_like(weights))


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.einsum("...nd,...md->...nm", q, k) * q.size(-1) ** -0.5
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
    weights = masked_softmax(scores, mask)
    return torch.einsum("...nm,...me->...ne", weights, v), weights


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        for name in ("W_q", "W_k", "W_v"):
            self.add_module(name, nn.Linear(embed_size, embed_size, bias=False))

    def forward(self, x, mask=None):
        q, k, v = (
            torch.einsum("btc,oc->bto", x, layer.weight) for layer in (self.W_q, self.W_k, self.W_v)
        )
        return scaled_dot_product_attention(q, k, v, mask=mask)


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        ax = plt.figure(figsize=(4, 4)).add_subplot()  # noqa: F821 (pyplot comes with the module)
    drawn = ax.imshow(
        weights.detach().cpu().double().numpy(), norm=Normalize(0, 1), interpolation="nearest"
    )
    ax.figure.colorbar(drawn, ax=ax)
    ax.set(xlabel="Key", ylabel="Query", title="Attention")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)))
        ax.set_xticklabels(key_tokens, rotation=45)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)))
        ax.set_yticklabels(query_tokens)
    return ax
