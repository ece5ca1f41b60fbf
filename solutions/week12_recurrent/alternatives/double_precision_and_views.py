"""Computes in float64, folds batch and heads into one axis, and scales queries and keys apart."""

DOUBLE = torch.float64


def state_type(x):
    return torch.promote_types(x.dtype, torch.float32)


def feature_map(x):
    small = torch.minimum(x, torch.zeros_like(x))
    return torch.where(x <= 0, torch.exp(small), torch.add(x, 1))


def linear_attention(q, k, v):
    features = [feature_map(x.to(DOUBLE)) for x in (q, k)]
    ones = torch.ones(*v.shape[:3], 1, dtype=DOUBLE, device=v.device)
    total, size = 0, 32  # sums over chunks: first the chunks before, then the own one
    rows = []
    both = torch.cat([v.to(DOUBLE), ones], dim=3)
    for a, b, c in zip(features[0].split(size, 2), features[1].split(size, 2), both.split(size, 2)):
        rows.append(a @ total + (a @ b.mT).tril() @ c if rows else (a @ b.mT).tril() @ c)
        total = total + b.mT @ c
    out = torch.cat(rows, dim=2)
    return (out[..., :-1] / out[..., -1:]).to(v.dtype)


def linear_attention_step(state, q, k, v):
    kind = state_type(v)
    a, b, c = feature_map(q.to(DOUBLE)), feature_map(k.to(DOUBLE)), v.to(DOUBLE)
    d_k, d_v = b.shape[-1], c.shape[-1]
    old = [0.0, 0.0] if state is None else [x.to(DOUBLE) for x in state]
    products = old[0] + torch.bmm(b.reshape(-1, d_k, 1), c.reshape(-1, 1, d_v)).reshape(*b.shape, d_v)
    keys = old[1] + b
    out = torch.bmm(a.reshape(-1, 1, d_k), products.reshape(-1, d_k, d_v)).reshape(c.shape)
    return (out / torch.linalg.vecdot(a, keys)[..., None]).to(v.dtype), (products.to(kind), keys.to(kind))


def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != v.shape[:-1]:
        raise ValueError(f"got {tuple(log_decay.shape)} decays for {tuple(v.shape)} values")
    g = torch.cumsum(log_decay.to(DOUBLE), 2)
    gap = torch.clamp(g[:, :, :, None] - g[:, :, None, :], max=0)
    table = torch.tril(torch.exp(gap)) * torch.matmul(q.to(DOUBLE), k.to(DOUBLE).transpose(2, 3))
    return torch.matmul(table, v.to(DOUBLE)).to(v.dtype)


def chunked_linear_attention(q, k, v, log_decay, chunk=64, state=None):
    if not chunk >= 1:
        raise ValueError(f"chunk {chunk}")
    kind = state_type(v)
    batch, heads, size = log_decay.shape
    q, k, values = (x.to(DOUBLE).reshape(batch * heads, size, -1) for x in (q, k, v))
    g = log_decay.to(DOUBLE).reshape(batch * heads, size)
    if state is None:
        S = torch.zeros(batch * heads, q.shape[2], v.shape[3], dtype=DOUBLE, device=q.device)
    else:
        S = state.to(DOUBLE).reshape(batch * heads, q.shape[2], v.shape[3])
    out, start = [], 0
    while start < size:
        stop = min(size, start + chunk)
        a, b, c, h = (x[:, start:stop] for x in (q, k, values, g))
        h = h.cumsum(1)
        # The decay from the key to the query, by prepending the state as if it were at position -1.
        gap = torch.cat([h[:, :, None], (h[:, :, None] - h[:, None, :]).clamp(max=0)], dim=2).exp()
        inner = gap[:, :, 1:].tril() * torch.bmm(a, b.mT)
        out.append(torch.baddbmm(gap[:, :, :1] * torch.bmm(a, S), inner, c))
        to_end = gap[:, -1:, :].mT
        S = to_end[:, :1] * S + torch.bmm((to_end[:, 1:] * b).mT, c)
        start = stop
    result = torch.cat(out, dim=1).reshape(v.shape).to(v.dtype)
    return result, S.reshape(batch, heads, S.shape[1], S.shape[2]).to(kind)


def delta_rule(q, k, v, beta, state=None):
    if beta.shape != v.shape[:-1]:
        raise ValueError(f"got {tuple(beta.shape)} strengths for {tuple(v.shape)} values")
    S = torch.zeros(*k.shape[:2], k.shape[3], v.shape[3], device=v.device) if state is None else state
    S = S.to(DOUBLE)
    out = []
    steps = zip(*(x.to(DOUBLE).unbind(2) for x in (q, k, v, beta)))
    for a, b, c, strength in steps:
        known = torch.einsum("bhk,bhkv->bhv", b, S)
        S = S + torch.einsum("bh,bhk,bhv->bhkv", strength, b, c - known)
        out.append(torch.einsum("bhk,bhkv->bhv", a, S))
    return torch.stack(out, 2).to(v.dtype), S.to(state_type(v))


def delta_rule_chunked(q, k, v, beta, chunk=64, state=None):
    if not chunk >= 1:
        raise ValueError(f"chunk {chunk}")
    S = torch.zeros(*k.shape[:2], k.shape[3], v.shape[3], device=v.device) if state is None else state
    S = S.to(DOUBLE)
    out = torch.zeros(v.shape, dtype=DOUBLE, device=v.device)
    parts = [x.to(DOUBLE) for x in (q, k, v, beta.unsqueeze(-1))]
    for start in range(0, v.shape[2], chunk):
        a, b, c, strength = (x.narrow(2, start, min(chunk, v.shape[2] - start)) for x in parts)
        system = torch.eye(b.shape[2], dtype=DOUBLE, device=b.device) + (strength * (b @ b.mT)).tril(-1)
        change = torch.linalg.solve(system, strength * (c - b @ S))
        S, old = S + b.mT @ change, S
        out[:, :, start : start + chunk] = a @ old + (a @ b.mT).tril() @ change
    return out.to(v.dtype), S.to(state_type(v))


class RecurrentAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        width, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError(f"{d_model} / {n_heads} is not a whole number")
        self.shape = (n_heads, width)
        make = lambda: nn.Linear(d_model, n_heads * width, bias=False)
        self.W_q, self.W_k = make(), make()
        self.W_v, self.W_o = make(), make()
        self.W_g = nn.Linear(d_model, n_heads, bias=True)

    def forward(self, x, state=None):
        rows = [layer(x).unflatten(2, self.shape).movedim(2, 1) for layer in (self.W_q, self.W_k, self.W_v)]
        gate = self.W_g(x).to(DOUBLE).movedim(2, 1)
        log_decay = -torch.logaddexp(torch.zeros_like(gate), -gate) / 16
        out, state = chunked_linear_attention(*rows, log_decay, 50, state)
        out = F.rms_norm(out.float() if out.dtype.itemsize < 4 else out, (self.shape[1],), eps=1e-5)
        return self.W_o(out.to(x.dtype).movedim(1, 2).flatten(2)), state
