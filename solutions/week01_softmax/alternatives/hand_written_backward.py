"""autograd.Functions that know their own derivatives."""

import math

import torch


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        weights = torch.exp(x - torch.amax(x, dim, keepdim=True))
        weights /= weights.sum(dim, keepdim=True)
        ctx.save_for_backward(weights)
        ctx.dim = dim
        return weights

    @staticmethod
    def backward(ctx, upstream):
        (weights,) = ctx.saved_tensors
        mean = (weights * upstream).sum(ctx.dim, keepdim=True)
        return weights * (upstream - mean), None


class _LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        largest = torch.amax(x, dim, keepdim=True)
        largest = torch.where(torch.isinf(largest), 0.0, largest).to(x.dtype)
        grown = torch.exp(x - largest)
        total = grown.sum(dim, keepdim=True)
        ctx.save_for_backward(grown / total)
        return total.log() + largest

    @staticmethod
    def backward(ctx, upstream):
        (weights,) = ctx.saved_tensors
        return weights * upstream, None


def softmax(x, dim=-1):
    return _Softmax.apply(x, dim)


def logsumexp(x, dim=-1, keepdim=False):
    result = _LogSumExp.apply(x, dim)
    return result if keepdim else torch.squeeze(result, dim)


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        ctx.scale = 1.0 / math.sqrt(q.shape[-1])
        weights = torch.exp((s := (q @ k.mT) * ctx.scale) - s.amax(-1, keepdim=True))
        weights = weights / weights.sum(-1, keepdim=True)
        ctx.save_for_backward(q, k, v, weights)
        return weights @ v, weights

    @staticmethod
    def backward(ctx, to_output, to_weights):
        q, k, v, weights = ctx.saved_tensors
        to_weights = to_weights + to_output @ v.mT
        to_scores = (
            weights * (to_weights - (weights * to_weights).sum(-1, keepdim=True)) * ctx.scale
        )
        return to_scores @ k, to_scores.mT @ q, weights.mT @ to_output


def scaled_dot_product_attention(q, k, v):
    return _Attention.apply(q, k, v)
