"""Objects that are called like functions, and partial applications of a general one."""

import functools
import operator

import torch
from torch import nn


class _Compared:
    """A mask from comparing key positions with a bound: built once, called often."""

    def __init__(self, relation):
        self.relation = relation

    def __call__(self, bound, width, device):
        return self.relation(torch.arange(width, device=device).unsqueeze(0), bound.unsqueeze(1))


class _CausalMask(_Compared):
    def __call__(self, seq_len, device=None):
        return super().__call__(torch.arange(seq_len, device=device), seq_len, device)


class _PaddingMask(_Compared):
    def __call__(self, lengths, max_len=None):
        longest = lengths.max().item()
        width = longest if max_len is None else max_len
        if (shortest := lengths.min().item()) < 0:
            raise ValueError(f"got a length of {shortest}")
        if longest > width:
            raise ValueError(f"got a length of {longest} for {width} places")
        return super().__call__(lengths, width, lengths.device)


causal_mask = _CausalMask(operator.le)
padding_mask = _PaddingMask(operator.lt)


def _both(*masks):
    return functools.reduce(torch.logical_and, masks)


def combine_masks(causal, padding):
    return _both(causal.expand(len(padding), 1, -1, -1), padding[..., None, None, :])


class _MaskedSoftmax(nn.Module):
    def forward(self, scores, mask, dim=-1):
        logits = scores.float() if scores.dtype.itemsize < 4 else scores
        logits = logits.masked_fill(mask.logical_not(), float("-inf"))
        # exp(logit - logsumexp): an empty row has -inf there, and 0 serves as well.
        total = logits.logsumexp(dim, keepdim=True)
        total = total.masked_fill(total == float("-inf"), 0.0)
        return (logits - total).exp().to(scores.dtype)


masked_softmax = _MaskedSoftmax()


def _scored(score):
    @functools.wraps(score)
    def attend(q, k, v, mask=None):
        scores = score(q, k)
        weights = torch.softmax(scores, -1) if mask is None else masked_softmax(scores, mask)
        return weights.matmul(v), weights

    return attend


@_scored
def scaled_dot_product_attention(q, k):
    return q.div(q.size(-1) ** 0.5).matmul(k.transpose(-1, -2))


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (
            nn.Linear(embed_size, embed_size, bias=False) for _ in range(3)
        )
        self.attend = functools.partial(scaled_dot_product_attention)

    def forward(self, x, mask=None):
        return self.attend(*(project(x) for project in (self.W_q, self.W_k, self.W_v)), mask=mask)
