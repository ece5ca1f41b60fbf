"""Writes the softmax out: shift by the largest allowed score, exponentiate, divide."""

import torch
from torch import nn


def causal_mask(seq_len, device=None):
    return (
        torch.ones(seq_len, seq_len, dtype=torch.uint8, device=device)
        .cumsum(0)
        .ge(torch.ones(seq_len, seq_len, dtype=torch.uint8, device=device).cumsum(1))
    )


def combine_masks(causal, padding):
    return torch.logical_not(~causal[None, None] | ~padding[:, None, None])


def masked_softmax(scores, mask, dim=-1):
    dtype = scores.dtype
    wide = scores.float() if dtype in (torch.float16, torch.bfloat16) else scores
    wide = torch.where(mask, wide, torch.zeros((), dtype=wide.dtype, device=wide.device))
    with torch.no_grad():
        peak = torch.where(mask, wide, torch.finfo(wide.dtype).min).amax(dim, keepdim=True)
        peak = torch.where(mask.expand_as(wide).any(dim, keepdim=True), peak, 0.0)
    powers = torch.where(mask, torch.where(mask, wide - peak, 0.0).exp(), 0.0)
    total = powers.sum(dim, keepdim=True)
    return (powers / torch.where(total > 0, total, 1.0)).to(dtype)


def scaled_dot_product_attention(q, k, v, mask=None):
    root = q.shape[-1] ** 0.25
    scores = (q / root) @ (k / root).swapaxes(-1, -2)
    everything = scores.new_ones(scores.shape, dtype=torch.bool)
    weights = masked_softmax(scores, everything if mask is None else mask)
    return torch.matmul(weights, v), weights


class SelfAttention(nn.Module):
    """Three bare matrices under the names that three linear layers would have."""

    class Projection(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.weight = nn.Parameter(torch.empty(size, size))
            nn.init.xavier_normal_(self.weight)

    def __init__(self, embed_size):
        super().__init__()
        self.W_q = self.Projection(embed_size)
        self.W_k = self.Projection(embed_size)
        self.W_v = self.Projection(embed_size)

    def forward(self, x, mask=None):
        stacked = torch.cat([self.W_q.weight, self.W_k.weight, self.W_v.weight])
        q, k, v = (x @ stacked.t()).chunk(3, dim=-1)
        return scaled_dot_product_attention(q, k, v, mask)


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    axes = plt.subplots(1, 1)[1] if ax is None else ax  # noqa: F821 (pyplot comes with the module)
    values = torch.Tensor.numpy(weights.clone().detach().double().cpu())
    axes.imshow(values, origin="upper", aspect="auto", cmap="gray", clim=(0.0, 1.0))
    axes.set_ylabel("Query")
    axes.set_xlabel("Key")
    if query_tokens is not None:
        axes.set_yticks(range(values.shape[0]), list(query_tokens))
    if key_tokens is not None:
        axes.set_xticks(range(values.shape[1]), list(key_tokens), rotation=90)
    return axes
