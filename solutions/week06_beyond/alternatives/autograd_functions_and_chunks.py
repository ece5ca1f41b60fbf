"""Hand-written gradients for the sparse maps, complex numbers for rotary, chunks for causal."""

import torch


def _normal_form(x, dim):
    """Last axis, at least float32, largest entry 0."""
    z = x.to(torch.promote_types(x.dtype, torch.float32)).transpose(dim, -1)
    return z - z.max(-1, keepdim=True).values


def _pull_back(grad, slopes, dim):
    """The Jacobian of both maps: diag(s) - s sᵀ / Σs."""
    mean = (grad * slopes).sum(dim, keepdim=True) / slopes.sum(dim, keepdim=True)
    return slopes * (grad - mean)


class _Sparsemax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        z = _normal_form(x, dim)
        # entry i is in the support where 1 + Σ_j max(z_j - z_i, 0)·(-1) > 0
        above = (z.unsqueeze(-2) - z.unsqueeze(-1)).clamp(min=0).nan_to_num(0.0, posinf=9.0)
        support = above.sum(-1) < 1
        support &= ~torch.isinf(z)
        tau = (torch.where(support, z, 0.0).sum(-1, keepdim=True) - 1) / support.sum(
            -1, keepdim=True
        )
        p = torch.where(support, z - tau, 0.0).transpose(dim, -1).to(x.dtype)
        ctx.save_for_backward(support.transpose(dim, -1))
        ctx.dim = dim
        return p

    @staticmethod
    def backward(ctx, grad):
        (support,) = ctx.saved_tensors
        return _pull_back(grad, support.to(grad.dtype), ctx.dim), None


class _Entmax15(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        z = _normal_form(x, dim).double() / 2
        tau = torch.full_like(z[..., :1], -1.0)
        for _ in range(40):  # Newton from the left never overshoots: the function is convex
            gap = (z - tau).clamp(min=0)
            tau = tau + (gap.square().sum(-1, keepdim=True) - 1) / (2 * gap.sum(-1, keepdim=True))
        p = (z - tau).clamp(min=0).square().transpose(dim, -1).to(x.dtype)
        ctx.save_for_backward(p)
        ctx.dim = dim
        return p

    @staticmethod
    def backward(ctx, grad):
        (p,) = ctx.saved_tensors
        return _pull_back(grad, p.sqrt(), ctx.dim), None


def sparsemax(x, dim=-1):
    return _Sparsemax.apply(x, dim)


def entmax15(x, dim=-1):
    return _Entmax15.apply(x, dim)


def rotary(x, positions=None, base=10000.0):
    *_, tokens, d = x.shape
    if d % 2 == 1:
        raise ValueError(f"rotary needs an even size, not {d}")
    real = torch.promote_types(x.dtype, torch.float32)
    points = torch.view_as_complex(x.to(real).unflatten(-1, (d // 2, 2)).contiguous())
    if positions is None:
        positions = torch.arange(tokens, device=x.device)
    exponent = torch.arange(d // 2, device=x.device, dtype=real) * (2 / d)
    angle = positions[..., None] / torch.pow(torch.tensor(base, dtype=real), exponent)
    spun = points * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(spun).flatten(-2).to(x.dtype)


def favor_features(x, projection):
    # exp(w·x' - ‖x'‖²/2) = exp(-‖x' - w‖²/2 + ‖w‖²/2)
    scaled = x.float() if x.dtype.itemsize < 4 else x
    scaled = scaled * scaled.shape[-1] ** -0.25
    w = projection.to(scaled.dtype)
    squares = (scaled.unsqueeze(-2) - w).square().sum(-1)
    features = torch.exp((w.square().sum(-1) - squares) / 2) * len(w) ** -0.5
    return features.to(x.dtype)


def performer_attention(q, k, v, projection, causal=False, chunk=16):
    dtype = q.dtype
    q, k, v = (t.to(torch.promote_types(dtype, torch.float32)) for t in (q, k, v))
    phi_q, phi_k = favor_features(q, projection), favor_features(k, projection)
    v1 = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)  # the last column is the denominator
    if not causal:
        mixed = phi_q @ (phi_k.transpose(-1, -2) @ v1)
        return (mixed[..., :-1] / mixed[..., -1:]).to(dtype)
    state = phi_k.new_zeros(*phi_k.shape[:-2], phi_k.shape[-1], v1.shape[-1])
    pieces = []
    for start in range(0, q.shape[-2], chunk):
        here = slice(start, start + chunk)
        a, b, c = phi_q[..., here, :], phi_k[..., here, :], v1[..., here, :]
        inside = (a @ b.transpose(-1, -2)).tril()
        pieces.append(a @ state + inside @ c)
        state = state + b.transpose(-1, -2) @ c
    mixed = torch.cat(pieces, dim=-2)
    return (mixed[..., :-1] / mixed[..., -1:]).to(dtype)


def attention_backward(q, k, v, grad_out, mask=None):
    """A chunk of keys at a time, with the weights from one number per query."""
    wide = torch.promote_types(q.dtype, torch.float32)
    a, b, c, g = (x.to(wide) for x in (q / q.shape[-1] ** 0.5, k, v, grad_out))
    seen = None if mask is None else mask.expand(*q.shape[:-1], k.shape[-2])

    def scores(start):
        s = a @ b[..., start : start + 3, :].mT
        return s if seen is None else s.masked_fill(~seen[..., start : start + 3], -torch.inf)

    starts = range(0, k.shape[-2], 3)
    normalisers = torch.stack([scores(s).logsumexp(-1) for s in starts]).logsumexp(0)
    normalisers = normalisers.nan_to_num(neginf=0.0).unsqueeze(-1)
    weights = [torch.exp(scores(s) - normalisers) for s in starts]
    output = sum(w @ c[..., s : s + 3, :] for w, s in zip(weights, starts, strict=True))
    row = (output * g).sum(-1, keepdim=True)
    grad_q, grad_k, grad_v = torch.zeros_like(a), [], []
    for w, s in zip(weights, starts, strict=True):
        slopes = w * (g @ c[..., s : s + 3, :].mT - row)
        grad_q += slopes @ b[..., s : s + 3, :]
        grad_k.append(slopes.mT @ a)
        grad_v.append(w.mT @ g)
    parts = grad_q / q.shape[-1] ** 0.5, torch.cat(grad_k, -2), torch.cat(grad_v, -2)
    return tuple(part.to(q.dtype) for part in parts)
