"""Works with logarithms of weights throughout: a weight is exp(score - logsumexp of its row)."""

import numpy as np
import torch


def softmax_numpy(x, axis=-1):
    x = x if x.dtype.kind == "f" else x.astype(float)
    shifted = x - np.max(x, axis, keepdims=True)
    return np.exp(shifted - np.log(np.add.reduce(np.exp(shifted), axis, keepdims=True)))


def logsumexp(x, dim=-1, keepdim=False):
    largest = x.max(dim, keepdim=True)[0].clamp(min=torch.finfo(x.dtype).min)
    result = (x - largest).exp().sum(dim, keepdim=True).log().add(largest)
    return result if keepdim else result.select(dim, 0)


def softmax(x, dim=-1):
    return (x - logsumexp(x, dim, keepdim=True)).exp()


def scaled_dot_product_attention(q, k, v):
    scores = torch.matmul(q * q.shape[-1] ** -0.25, (k * k.shape[-1] ** -0.25).mT)
    weights = torch.exp(scores - logsumexp(scores, -1, True))
    return torch.matmul(weights, v), weights


def scaled_dot_product_attention_numpy(q, k, v):
    scores = np.matmul(q, k.swapaxes(-2, -1)) * q.dtype.type(q.shape[-1] ** -0.5)
    weights = softmax_numpy(scores)
    return np.matmul(weights, v), weights
