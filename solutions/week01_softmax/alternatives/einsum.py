"""Every product and every sum written as an einsum; no transposes, no matrix products."""

import numpy as np
import torch


def softmax_numpy(x, axis=-1):
    rows = np.moveaxis(
        np.asarray(x, dtype=x.dtype if x.dtype.kind == "f" else np.float64), axis, -1
    )
    grown = np.exp(rows - np.amax(rows, -1)[..., np.newaxis])
    weights = np.einsum("...m,...->...m", grown, 1 / np.einsum("...m->...", grown))
    return np.moveaxis(weights, -1, axis)


def softmax(x, dim=-1):
    rows = x.movedim(dim, -1)
    grown = (rows - rows.max(-1).values.unsqueeze(-1)).exp()
    weights = torch.einsum("...m,...->...m", grown, torch.einsum("...m->...", grown).reciprocal())
    return weights.movedim(-1, dim)


def scaled_dot_product_attention_numpy(q, k, v):
    scores = np.einsum("...nd,...md->...nm", q, k) * float(q.shape[-1] ** -0.5)
    weights = softmax_numpy(scores)
    return np.einsum("...nm,...me->...ne", weights, v), weights


def scaled_dot_product_attention(q, k, v):
    scores = torch.einsum("...nd,...md->...nm", q, k) * q.size(-1) ** -0.5
    weights = softmax(scores)
    return torch.einsum("...nm,...me->...ne", weights, v), weights


class SelfAttention:
    def __init__(self, d_model, dk, dv, seed=42):
        normal = np.random.default_rng(seed).normal
        spread = lambda fan_out: np.sqrt(2 / (d_model + fan_out))  # noqa: E731 - a style on purpose
        self.Wq = normal(scale=spread(dk), size=(d_model, dk))
        self.Wk = normal(scale=spread(dk), size=(d_model, dk))
        self.Wv = normal(scale=spread(dv), size=(d_model, dv))

    def forward(self, X):
        project = lambda W: np.einsum("...td,de->...te", X, W)  # noqa: E731
        output, weights = scaled_dot_product_attention_numpy(
            *map(project, (self.Wq, self.Wk, self.Wv))
        )
        return output.astype(X.dtype), weights.astype(X.dtype)
