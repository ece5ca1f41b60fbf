"""Loops that say one thing after another: row by row, pair by pair, token by token."""

import contextlib
import math

import torch


def _each_row(function, x, dim):
    rows = x.movedim(dim, -1)
    shape = rows.shape
    done = [function(row) for row in rows.reshape(-1, shape[-1]).unbind(0)]
    return torch.stack(done).reshape(shape).movedim(-1, dim)


def sparsemax(x, dim=-1):
    def project(row):
        z = row.to(torch.promote_types(row.dtype, torch.float32))
        support = z > z.detach().max() - 1
        while True:  # Michelot: drop what is negative until nothing is
            tau = (z[support].sum() - 1) / support.sum()
            kept = support & (z > tau)
            if kept.sum() == support.sum():
                break
            support = kept
        return torch.where(support, z - tau, torch.zeros_like(z)).to(row.dtype)

    return _each_row(project, x, dim)


def entmax15(x, dim=-1):
    def project(row):
        z = row.to(torch.promote_types(row.dtype, torch.float32)) / 2
        for _, index in zip(range(len(z)), z.detach().argsort().tolist(), strict=True):
            kept = z[z >= z[index]]  # from everything down to the largest alone
            if not bool(torch.isfinite(kept).all()):
                continue
            rest = 1 - (kept - kept.mean()).square().sum()
            if rest <= 0:
                continue
            tau = kept.mean() - (rest / len(kept)).sqrt()
            if z[index] > tau:
                break
        return torch.where(z > tau, (z - tau).clamp(min=0) ** 2, 0.0).to(row.dtype)

    return _each_row(project, x, dim)


def relative_attention(q, k, v, relative_keys):
    n, m = q.shape[-2], k.shape[-2]
    far = (len(relative_keys) - 1) // 2
    lines = []
    for i in range(n):
        line = (k * q[..., i : i + 1, :]).sum(-1)  # (..., m)
        known = [(row * q[..., i, :]).sum(-1) for row in relative_keys]
        place = torch.stack([known[max(-far, min(far, j - i)) + far] for j in range(m)], dim=-1)
        lines.append((line + place) / math.sqrt(q.shape[-1]))
    weights = torch.stack(lines, dim=-2).softmax(-1)
    return torch.matmul(weights, v), weights


def rotary(x, positions=None, base=10000.0):
    d = x.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"d={d}")
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    columns = []
    for i in range(0, d, 2):
        angle = positions.to(wide.dtype) * base ** (-i / d)
        a, b = wide[..., i], wide[..., i + 1]
        columns += [a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()]
    return torch.stack(columns, dim=-1).to(x.dtype)


def favor_features(x, projection):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    scaled = wide / wide.shape[-1] ** 0.25
    length = (scaled * scaled).sum(-1)
    found = [torch.exp((scaled * w).sum(-1) - 0.5 * length) for w in projection.to(wide.dtype)]
    return (torch.stack(found, dim=-1) / len(found) ** 0.5).to(x.dtype)


def performer_attention(q, k, v, projection, causal=False):
    wide = torch.promote_types(q.dtype, torch.float32)
    phi_q = favor_features(q.to(wide), projection)
    phi_k, values = favor_features(k.to(wide), projection), v.to(wide)
    if not causal:
        summed = phi_k.transpose(-1, -2) @ values
        total = phi_k.sum(dim=-2, keepdim=True)
        return ((phi_q @ summed) / (phi_q * total).sum(-1, keepdim=True)).to(q.dtype)
    state, total, lines = 0.0, 0.0, []
    for i in range(q.shape[-2]):
        if i < k.shape[-2]:
            state = state + phi_k[..., i, :, None] * values[..., i, None, :]
            total = total + phi_k[..., i, :]
        line = (phi_q[..., i, :, None] * state).sum(-2)
        lines.append(line / (phi_q[..., i, :] * total).sum(-1, keepdim=True))
    return torch.stack(lines, dim=-2).to(q.dtype)


def keras_attention(q, k, v, mask=None):
    from keras import ops

    scores = ops.matmul(q, ops.moveaxis(k, -1, -2))
    scores = ops.divide(scores, float(q.shape[-1]) ** 0.5)
    if mask is None:
        mask = ops.ones_like(scores, dtype="bool")
    mask = ops.broadcast_to(mask, ops.shape(scores))
    scores = ops.where(mask, scores, ops.full_like(scores, -60000.0))
    top = ops.max(scores, axis=-1, keepdims=True)
    powers = ops.where(mask, ops.exp(scores - top), ops.zeros_like(scores))
    total = ops.sum(powers, axis=-1, keepdims=True)
    weights = powers / ops.where(total > 0, total, ops.ones_like(total))
    return ops.matmul(weights, v), weights


@contextlib.contextmanager
def _looked_at(model):
    mode, attention = model.training, model.config._attn_implementation
    model.train(False)
    model.set_attn_implementation("eager")
    try:
        yield model
    finally:
        model.train(mode)
        model.set_attn_implementation(attention)


def sentence_attention(model, tokenizer, sentence):
    ids = tokenizer.encode(sentence)
    with _looked_at(model), torch.no_grad():
        batch = torch.tensor([ids], device=next(model.parameters()).device)
        attentions = model(input_ids=batch, output_attentions=True).attentions
    layers = []
    for layer in attentions:
        layers.append(torch.stack([head for head in layer[0]]))
    return [tokenizer.convert_ids_to_tokens(i) for i in ids], torch.stack(layers)


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    rows = []
    keys = torch.nn.functional.linear(k, W_k)
    for i in range(q.shape[-2]):
        query = torch.nn.functional.linear(q[..., i, :], W_q)
        columns = [(torch.tanh(query + keys[..., j, :]) * u).sum(-1) for j in range(k.shape[-2])]
        rows.append(torch.stack(columns, dim=-1))
    scores = torch.stack(rows, dim=-2)
    powers = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
    if mask is not None:
        powers = powers * mask
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total == 0, torch.ones_like(total), total)
    return weights @ v, weights


def attention_backward(q, k, v, grad_out, mask=None):
    """Query by query, with the whole Jacobian of each softmax."""
    d = q.shape[-1]
    grad_q, grad_k, grad_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], k.shape[-2])
    for i in range(q.shape[-2]):
        query, given = q[..., i, :], grad_out[..., i, :]
        scores = (k * query.unsqueeze(-2)).sum(-1) / d**0.5
        powers = torch.exp(scores - scores.amax(-1, keepdim=True))
        if mask is not None:
            hidden = scores.masked_fill(~mask[..., i, :], torch.finfo(scores.dtype).min)
            powers = torch.exp(hidden - hidden.amax(-1, keepdim=True)) * mask[..., i, :]
        total = powers.sum(-1, keepdim=True)
        p = powers / torch.where(total == 0, torch.ones_like(total), total)
        jacobian = torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)
        slopes = (v * given.unsqueeze(-2)).sum(-1)
        slopes = (jacobian @ slopes.unsqueeze(-1)).squeeze(-1) / d**0.5
        grad_q[..., i, :] = (slopes.unsqueeze(-1) * k).sum(-2)
        grad_k += slopes.unsqueeze(-1) * query.unsqueeze(-2)
        grad_v += p.unsqueeze(-1) * given.unsqueeze(-2)
    return grad_q, grad_k, grad_v
