"""Loops over tokens wherever a loop is allowed, with lists, numbers and outer products."""

import math


def feature_map(x):
    out = torch.empty_like(x)
    positive = x > 0
    out[positive] = x[positive] + 1
    out[~positive] = torch.exp(x[~positive])
    return out


def linear_attention(q, k, v):
    state, rows = None, []
    for position in range(q.shape[2]):
        row, state = linear_attention_step(state, q[:, :, position], k[:, :, position], v[:, :, position])
        rows.append(row)
    return torch.stack(rows, dim=2)


def linear_attention_step(state, q, k, v):
    kind = v.dtype
    if kind in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    q, k = feature_map(q), feature_map(k)
    if state is None:
        state = (torch.zeros(1, dtype=k.dtype, device=k.device), torch.zeros(1, dtype=k.dtype, device=k.device))
    table = state[0] + torch.matmul(k[..., :, None], v[..., None, :])
    total = state[1] + k
    above = (q[..., None] * table).sum(dim=-2)
    below = (q * total).sum(dim=-1)
    return (above / below[..., None]).to(kind), (table, total)


def gated_linear_attention(q, k, v, log_decay):
    if list(log_decay.shape) != list(v.shape[:3]):
        raise ValueError(f"log_decay of shape {tuple(log_decay.shape)}")
    kind = v.dtype
    if kind in (torch.float16, torch.bfloat16):
        q, k, v, log_decay = q.float(), k.float(), v.float(), log_decay.float()
    decay = log_decay.exp()
    state, rows = 0, []
    for position in range(q.shape[2]):
        new = k[:, :, position, :, None] * v[:, :, position, None, :]
        state = decay[:, :, position, None, None] * state + new
        rows.append((q[:, :, position, :, None] * state).sum(dim=2))
    return torch.stack(rows, dim=2).to(kind)


def chunked_linear_attention(q, k, v, log_decay, chunk=64, state=None):
    if chunk <= 0:
        raise ValueError(f"a chunk of {chunk}")
    kind, size = v.dtype, q.shape[2]
    if kind in (torch.float16, torch.bfloat16):
        q, k, v, log_decay = q.float(), k.float(), v.float(), log_decay.float()
    if state is None:
        state = torch.zeros((), dtype=v.dtype, device=v.device).expand(*q.shape[:2], q.shape[3], v.shape[3])
    result = torch.empty_like(v)
    for start in range(0, size, chunk):
        place = slice(start, min(start + chunk, size))
        g = torch.cumsum(log_decay[:, :, place], dim=-1)
        gap = g[..., :, None] - g[..., None, :]
        gap = torch.where(torch.ones_like(gap).tril() > 0, gap, torch.full_like(gap, -math.inf))
        scores = torch.exp(gap) * torch.matmul(q[:, :, place], k[:, :, place].transpose(2, 3))
        decayed = torch.exp(g)[..., None] * q[:, :, place]
        result[:, :, place] = torch.matmul(scores, v[:, :, place]) + torch.matmul(decayed, state)
        kept = torch.exp(g[..., -1:] - g)[..., None] * v[:, :, place]
        state = state * torch.exp(g[..., -1])[..., None, None] + torch.matmul(k[:, :, place].transpose(2, 3), kept)
    return result.to(kind), state


def delta_rule(q, k, v, beta, state=None):
    if beta.dim() != 3 or beta.shape != k.shape[:3]:
        raise ValueError(f"beta of shape {tuple(beta.shape)}")
    kind = v.dtype
    if kind in (torch.float16, torch.bfloat16):
        q, k, v, beta = q.float(), k.float(), v.float(), beta.float()
    identity = torch.eye(k.shape[-1], dtype=k.dtype, device=k.device)
    rows = []
    for position in range(q.shape[2]):
        key = k[:, :, position, :, None]
        strength = beta[:, :, position, None, None]
        new = strength * key * v[:, :, position, None, :]
        state = new if state is None else (identity - strength * key * key.transpose(2, 3)) @ state + new
        rows.append((q[:, :, position, :, None] * state).sum(dim=2))
    return torch.stack(rows, dim=2).to(kind), state


def delta_rule_chunked(q, k, v, beta, chunk=64, state=None):
    if chunk <= 0:
        raise ValueError(f"a chunk of {chunk}")
    kind, size = v.dtype, q.shape[2]
    if kind in (torch.float16, torch.bfloat16):
        q, k, v, beta = q.float(), k.float(), v.float(), beta.float()
    if state is None:
        state = torch.zeros(*q.shape[:2], q.shape[3], v.shape[3], dtype=v.dtype, device=v.device)
    rest = -size % chunk
    q, k, v = (F.pad(x, (0, 0, 0, rest)).unflatten(2, (-1, chunk)) for x in (q, k, v))
    strength = F.pad(beta, (0, rest)).unflatten(2, (-1, chunk))[..., None]
    products = torch.matmul(k, k.transpose(3, 4))
    # Forward substitution, one row at a time, for all chunks together.
    both = strength * torch.cat([v, k], dim=-1)
    rows = []
    for row in range(chunk):
        line = both[:, :, :, row : row + 1]
        if rows:
            before = torch.cat(rows, dim=3)
            line = line - strength[:, :, :, row : row + 1] * products[:, :, :, row : row + 1, :row] @ before
        rows.append(line)
    values, keys = torch.cat(rows, dim=3).split([v.shape[-1], k.shape[-1]], dim=-1)
    outputs = []
    for piece in range(q.shape[2]):
        change = values[:, :, piece] - keys[:, :, piece] @ state
        scores = torch.tril(q[:, :, piece] @ k[:, :, piece].transpose(2, 3))
        outputs.append(q[:, :, piece] @ state + scores @ change)
        state = state + k[:, :, piece].transpose(2, 3) @ change
    return torch.cat(outputs, dim=2)[:, :, :size].to(kind), state


class RecurrentAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model // n_heads * n_heads != d_model:
            raise ValueError(f"d_model {d_model}, heads {n_heads}")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.W_g = nn.Linear(d_model, n_heads)

    def heads(self, x):
        return torch.stack(x.chunk(self.n_heads, dim=-1), dim=1)

    def forward(self, x, state=None):
        q, k, v = self.heads(self.W_q(x)), self.heads(self.W_k(x)), self.heads(self.W_v(x))
        log_decay = nn.LogSigmoid()(self.W_g(x)).mT / 16.0
        if x.shape[1] == 1:
            wide = torch.promote_types(x.dtype, torch.float32)
            new = k.to(wide).mT @ v.to(wide)
            state = new if state is None else torch.exp(log_decay.to(wide))[..., None] * state + new
            o = (q.to(wide) @ state).to(x.dtype)
        else:
            o, state = chunked_linear_attention(q, k, v, log_decay, 16, state)
        o = rms_norm(o)
        return self.W_o(torch.cat([o[:, head] for head in range(self.n_heads)], dim=-1)), state
