"""The formulas of the papers as they stand, in the dtype of the input wherever that will do."""

import math

import torch


def sparsemax(x, dim=-1):
    ordered, _ = torch.sort(x, dim=dim, descending=True)
    shape = [1] * x.dim()
    shape[dim] = -1
    k = torch.arange(1, x.size(dim) + 1, dtype=x.dtype, device=x.device).view(shape)
    sums = ordered.cumsum(dim) - 1
    size = (k * ordered > sums).sum(dim, keepdim=True)
    tau = sums.gather(dim, size - 1) / size.to(x.dtype)
    return torch.clamp(x - tau, min=0)


def entmax15(x, dim=-1):
    x = (x - x.max(dim, keepdim=True).values) / 2
    ordered, _ = torch.sort(x, dim=dim, descending=True)
    shape = [1] * x.dim()
    shape[dim] = -1
    k = torch.arange(1, x.size(dim) + 1, dtype=x.dtype, device=x.device).view(shape)
    with torch.no_grad():
        mean = ordered.cumsum(dim) / k
        mean_of_squares = (ordered**2).cumsum(dim) / k
        delta = (1 - k * (mean_of_squares - mean**2)) / k
        tau = mean - torch.clamp(delta, min=0).sqrt()
        size = (tau <= ordered).sum(dim, keepdim=True)
    inside = k <= size
    top = ordered.masked_fill(~inside, 0)
    mean = top.sum(dim, keepdim=True) / size
    spread = (top - mean).masked_fill(~inside, 0).pow(2).sum(dim, keepdim=True)
    tau = mean - ((1 - spread) / size).sqrt()
    return torch.where(x > tau, x - tau, 0) ** 2


def relative_attention(q, k, v, relative_keys):
    distances = [
        [
            max(0, min(len(relative_keys) - 1, j - i + len(relative_keys) // 2))
            for j in range(k.shape[-2])
        ]
        for i in range(q.shape[-2])
    ]
    q = q / math.sqrt(q.shape[-1])
    rows = torch.tensor(distances, device=q.device)
    table = torch.matmul(q, relative_keys.t())
    place = torch.take_along_dim(table, rows.view(*[1] * (q.dim() - 2), *rows.shape), dim=-1)
    weights = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) + place, dim=-1)
    return torch.matmul(weights, v), weights


def rotary(x, positions=None, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError(f"size {x.shape[-1]} has no pairs")
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    i = torch.arange(x.shape[-1] // 2, device=x.device).float()
    angles = positions.float()[..., None] / base ** (2 * i / x.shape[-1])
    angles = angles.repeat_interleave(2, dim=-1)
    turned = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2)
    return x * angles.cos().to(x.dtype) + turned * angles.sin().to(x.dtype)


def favor_features(x, projection):
    x = x * x.shape[-1] ** -0.25
    return torch.exp(x @ projection.mT - (x**2).sum(-1, keepdim=True) / 2) * len(projection) ** -0.5


def performer_attention(q, k, v, projection, causal=False):
    def phi(x):
        x = x * x.shape[-1] ** -0.25
        return torch.exp(x @ projection.mT - (x**2).sum(-1, keepdim=True) / 2)

    queries, keys = phi(q), phi(k)
    if not causal:
        weight = (queries * keys.sum(-2, keepdim=True)).sum(-1, keepdim=True)
        return queries @ (keys.mT @ v) / weight
    short = q.shape[-2] - k.shape[-2]
    if short > 0:  # keys of no weight for the queries that have none of their own
        keys = torch.nn.functional.pad(keys, (0, 0, 0, short))
        v = torch.nn.functional.pad(v, (0, 0, 0, short))
    keys, v = keys[..., : q.shape[-2], :], v[..., : q.shape[-2], :]
    output = torch.einsum(
        "...tr,...trv->...tv", queries, (keys[..., None] * v[..., None, :]).cumsum(-3)
    )
    return output / (queries * keys.cumsum(-2)).sum(-1, keepdim=True)


def keras_attention(q, k, v, mask=None):
    from keras.ops import (
        logical_and,
        logical_not,
        matmul,
        max,
        softmax,
        transpose,
        where,
        zeros_like,
    )

    axes = list(range(len(k.shape)))
    scores = matmul(q / math.sqrt(q.shape[-1]), transpose(k, axes[:-2] + [axes[-1], axes[-2]]))
    if mask is None:
        return matmul(softmax(scores), v), softmax(scores)
    hidden = logical_not(mask)
    scores = where(hidden, float("-inf"), scores)
    alone = logical_and(hidden, max(scores, axis=-1, keepdims=True) == float("-inf"))
    weights = softmax(where(alone, zeros_like(scores), scores))
    weights = where(hidden, zeros_like(weights), weights)
    return matmul(weights, v), weights


def attention_backward(q, k, v, grad_out, mask=None):
    q = q / math.sqrt(q.shape[-1])
    scores = torch.matmul(q, k.transpose(-1, -2))
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~mask, -30_000)
    p = torch.softmax(scores, dim=-1)
    if mask is not None:
        p = torch.where(mask, p, 0)
    dv = torch.matmul(p.transpose(-1, -2), grad_out)
    dp = torch.matmul(grad_out, v.transpose(-1, -2)) * p
    ds = dp - p * dp.sum(-1, keepdim=True)
    dq = torch.matmul(ds, k) / math.sqrt(q.shape[-1])
    return dq, torch.matmul(ds.transpose(-1, -2), q), dv
