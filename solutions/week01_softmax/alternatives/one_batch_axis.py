"""Flattens all leading axes into one batch and lets the batched products of torch do the work."""

import math

import numpy as np
import torch


def softmax_numpy(x, axis=-1):
    """By way of torch's exponential: NumPy in, NumPy out."""
    kind = x.dtype if np.issubdtype(x.dtype, np.floating) else np.dtype(np.float64)
    tensor = torch.from_numpy(np.array(x, dtype=kind))
    tensor = torch.exp(tensor - tensor.amax(axis, keepdim=True))
    return torch.div(tensor, tensor.sum(axis, keepdim=True)).numpy()


def softmax(x, dim=-1):
    x = x.transpose(dim, -1)
    rows = x.reshape(-1, x.shape[-1])
    grown = torch.exp(torch.sub(rows, torch.max(rows, 1, keepdim=True).values))
    return torch.div(grown, torch.sum(grown, 1, keepdim=True)).reshape(x.shape).transpose(dim, -1)


def logsumexp(x, dim=-1, keepdim=False):
    largest = torch.amax(x.detach(), dim, keepdim=True)
    largest[largest == -math.inf] = 0
    total = torch.exp(x - largest).sum(dim, keepdim=keepdim)
    return torch.log(total) + largest.reshape(total.shape)


def scaled_dot_product_attention_numpy(q, k, v):
    flat_q, flat_k, flat_v = (a.reshape(-1, *a.shape[-2:]) for a in (q, k, v))
    pairs = []
    for one_q, one_k, one_v in zip(flat_q, flat_k, flat_v):
        weights = softmax_numpy(one_q.dot(one_k.T) / math.sqrt(q.shape[-1]))
        pairs.append((weights.dot(one_v), weights))
    outputs, weights = (np.stack(part) for part in zip(*pairs))
    return tuple(a.reshape(*q.shape[:-2], *a.shape[1:]) for a in (outputs, weights))


def scaled_dot_product_attention(q, k, v):
    leading = q.shape[:-2]
    flat_q, flat_k, flat_v = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v))
    nothing = flat_q.new_zeros(flat_q.shape[0], flat_q.shape[1], flat_k.shape[1])
    scores = torch.baddbmm(nothing, flat_q, flat_k.transpose(1, 2), alpha=1 / math.sqrt(q.size(-1)))
    weights = softmax(scores, 2)
    output = torch.bmm(weights, flat_v)
    return output.unflatten(0, leading) if leading else output[0], (
        weights.unflatten(0, leading) if leading else weights[0]
    )
