"""Computes in float64 for any input, and clears the NaN of an empty row afterwards."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def causal_mask(seq_len, device=None):
    above = torch.triu(torch.ones(seq_len, seq_len, device=device), diagonal=1)
    return above == 0


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = int(lengths.max())
    wrong = lengths[(lengths < 0) | (lengths > max_len)]
    if len(wrong):
        raise ValueError(f"lengths out of range 0..{max_len}: {wrong.tolist()}")
    return (lengths.double()[:, None] - torch.arange(max_len, device=lengths.device)) > 0


def combine_masks(causal, padding):
    batch, length = padding.shape
    return (
        causal.view(1, 1, length, length).float() * padding.reshape(batch, 1, 1, length).float()
    ) > 0.5


def masked_softmax(scores, mask, dim=-1):
    weights = F.softmax(scores.double().masked_fill(mask.logical_not(), -math.inf), dim=dim)
    return torch.nan_to_num(weights).to(scores.dtype)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q.double(), k.double().mT) / torch.sqrt(torch.tensor(float(q.shape[-1])))
    if mask is not None:
        scores = torch.masked_fill(scores, mask == False, -math.inf)  # noqa: E712
    weights = F.softmax(scores, dim=-1)
    weights = torch.nan_to_num(weights, nan=0.0)
    return torch.matmul(weights, v.double()).to(v.dtype), weights.to(q.dtype)


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super(SelfAttention, self).__init__()
        self.embed_size = embed_size
        self.W_v = nn.Linear(embed_size, embed_size, False)
        self.W_k = nn.Linear(embed_size, embed_size, False)
        self.W_q = nn.Linear(embed_size, embed_size, False)

    def forward(self, x, mask=None):
        q = x.double() @ self.W_q.weight.double().T
        k = x.double() @ self.W_k.weight.double().T
        v = x.double() @ self.W_v.weight.double().T
        scores = q.matmul(k.transpose(1, 2)).div(self.embed_size**0.5)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(torch.float64).min)
        weights = scores.softmax(dim=2)
        if mask is not None:
            weights = weights * mask
        return (weights @ v).to(x.dtype), weights.to(x.dtype)
