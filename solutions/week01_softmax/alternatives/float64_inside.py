"""Computes everything in float64 and answers in the type that came in."""

import functools
import io

import numpy as np
import torch


def in_double(function):
    """Hand the tensors to `function` in float64 and turn its answers back."""

    @functools.wraps(function)
    def wrapped(*tensors, **options):
        kind = tensors[0].dtype
        doubles = [t.double() if isinstance(t, torch.Tensor) else t for t in tensors]
        answer = function(*doubles, **options)
        if isinstance(answer, tuple):
            return tuple(part.to(kind) for part in answer)
        return answer.to(kind)

    return wrapped


def softmax_numpy(x, axis=-1):
    kind = x.dtype if x.dtype in (np.float16, np.float32) else np.float64
    wide = x.astype(np.float64)
    wide = np.exp(wide - np.expand_dims(wide.max(axis), axis))
    wide /= np.expand_dims(wide.sum(axis), axis)
    return wide.astype(kind)


@in_double
def softmax(x, dim=-1):
    grown = torch.exp(x - x.amax(dim, True))
    return grown / grown.sum(dim, True)


@in_double
def logsumexp(x, dim=-1, keepdim=False):
    largest = x.amax(dim, keepdim=True)
    largest = torch.nan_to_num(largest, neginf=0.0).detach()
    result = torch.log(torch.sum(torch.exp(x - largest), dim, keepdim)) + (
        largest if keepdim else largest.squeeze(dim)
    )
    return result


def scaled_dot_product_attention_numpy(q, k, v):
    wide_q, wide_k, wide_v = (a.astype(np.float64) for a in (q, k, v))
    weights = softmax_numpy(wide_q @ np.moveaxis(wide_k, -1, -2) / np.sqrt(q.shape[-1]))
    return (weights @ wide_v).astype(q.dtype), weights.astype(q.dtype)


@in_double
def scaled_dot_product_attention(q, k, v):
    weights = softmax(torch.matmul(q / q.shape[-1] ** 0.5, k.transpose(-1, -2)))
    return torch.matmul(weights, v), weights


class SelfAttention:
    def __init__(self, d_model, dk, dv, seed=42):
        rng = np.random.Generator(np.random.PCG64(seed))
        shapes = {"Wq": (d_model, dk), "Wk": (d_model, dk), "Wv": (d_model, dv)}
        for name, shape in shapes.items():
            setattr(self, name, rng.standard_normal(shape) * (2 / sum(shape)) ** 0.5)

    def forward(self, X):
        wide = X.astype(np.float64)
        output, weights = scaled_dot_product_attention_numpy(
            wide @ self.Wq, wide @ self.Wk, wide @ self.Wv
        )
        return output.astype(X.dtype), weights.astype(X.dtype)


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    page = io.StringIO()
    print("", *tokens, sep="\t", file=page)
    steps = np.divide(
        weights * (len(chars) - 1),
        weights.max(),
        where=weights.max() > 0,
        out=np.zeros_like(weights),
    )
    for token, row in zip(tokens, np.minimum(steps.astype(int), len(chars) - 1)):
        print(token, *(f"  {chars[level]}".ljust(width) for level in row), sep="\t", file=page)
    lines = page.getvalue().rstrip("\n").split("\n")
    return "\n".join("".join(part.rjust(width) for part in line.split("\t")) for line in lines)
