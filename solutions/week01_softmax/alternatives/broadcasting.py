"""No matrix product anywhere: new axes, a multiplication, a sum. Functions made by functions."""

from dataclasses import dataclass, field

import numpy as np
import torch


def _softmax_over(library, keep):
    """Build a softmax for a library whose keyword for keeping an axis is `keep`."""

    def soften(x, axis):
        grown = library.exp(x - library.amax(x, axis, **{keep: True}))
        return grown / library.sum(grown, axis, **{keep: True})

    return soften


_soften_array = _softmax_over(np, "keepdims")
_soften_tensor = _softmax_over(torch, "keepdim")


def softmax_numpy(x, axis=-1):
    return _soften_array(x * 1.0 if x.dtype.kind in "iub" else x, axis)


def softmax(x, dim=-1):
    return _soften_tensor(x, dim)


def logsumexp(x, dim=-1, keepdim=False):
    # The entries below the largest, as a share of the largest: log1p of their sum. The first
    # largest entry itself is left out of the sum by its position.
    largest, place = x.max(dim, keepdim=True)
    gap = torch.where(torch.isneginf(largest), torch.zeros_like(x), x - largest)
    others = torch.exp(gap).scatter(dim, place, 0.0).sum(dim, keepdim=True)
    result = largest + torch.where(
        torch.isneginf(largest), torch.zeros_like(others), torch.log1p(others)
    )
    return result if keepdim else result.squeeze(dim)


def scaled_dot_product_attention_numpy(q, k, v):
    products = q[..., :, None, :] * k[..., None, :, :]
    weights = softmax_numpy(products.sum(axis=-1) / q.shape[-1] ** 0.5)
    return (weights[..., None] * v[..., None, :, :]).sum(axis=-2), weights


def scaled_dot_product_attention(q, k, v):
    products = q.unsqueeze(-2) * k.unsqueeze(-3)
    weights = softmax(products.sum(-1).div(q.shape[-1] ** 0.5))
    return (weights.unsqueeze(-1) * v.unsqueeze(-3)).sum(-2), weights


@dataclass
class SelfAttention:
    d_model: int
    dk: int
    dv: int
    seed: int = 42
    Wq: np.ndarray = field(init=False)
    Wk: np.ndarray = field(init=False)
    Wv: np.ndarray = field(init=False)

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        self.Wq, self.Wk, self.Wv = (
            rng.normal(0, (2 / (self.d_model + out)) ** 0.5, (self.d_model, out))
            for out in (self.dk, self.dk, self.dv)
        )

    def __call__(self, X):
        q, k, v = [(X[..., None] * W.astype(X.dtype)).sum(-2) for W in (self.Wq, self.Wk, self.Wv)]
        return scaled_dot_product_attention_numpy(q, k, v)

    forward = __call__


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    shades = np.array(list(chars))
    share = weights / (weights.max() or 1.0)
    cells = shades[
        np.clip(
            (weights * (len(chars) - 1) / (weights.max() or 1.0)).astype(int), 0, len(chars) - 1
        )
    ]
    assert cells.shape == share.shape
    head = " " * width + "".join(t.rjust(width) for t in tokens)
    body = [
        t.rjust(width) + "".join("  " + c + " " * (width - 3) for c in row)
        for t, row in zip(tokens, cells)
    ]
    return "\n".join([line.rstrip() for line in [head, *body]])
