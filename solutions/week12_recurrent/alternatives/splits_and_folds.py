"""Splits sequences in halves recursively, and folds states with `reduce` and `accumulate`."""

from functools import reduce
from itertools import accumulate


def widened(*tensors):
    return tuple(x.float() if x.dtype.itemsize == 2 else x for x in tensors)


def feature_map(x):
    return torch.relu(x) + torch.exp(-torch.relu(-x))


def linear_attention(q, k, v):
    a, b, c = widened(q, k, v)
    a, b = feature_map(a), feature_map(b)
    sums = (b[..., :, None] * c[..., None, :]).cumsum(dim=2)
    read = torch.matmul(a[..., None, :], sums)[..., 0, :]
    return (read / torch.sum(a * b.cumsum(dim=2), dim=-1, keepdim=True)).type(v.dtype)


def linear_attention_step(state, q, k, v):
    a, b, c = widened(q, k, v)
    a, b = feature_map(a), feature_map(b)
    terms = [(torch.matmul(b.unsqueeze(-1), c.unsqueeze(-2)), b)]
    if state is not None:
        terms.insert(0, state)
    products, keys = reduce(lambda x, y: (x[0] + y[0], x[1] + y[1]), terms)
    above = torch.matmul(products.transpose(-1, -2), a.unsqueeze(-1)).squeeze(-1)
    return (above / (a * keys).sum(-1).unsqueeze(-1)).type(v.dtype), (products, keys)


def halves(q, k, v, g, smallest):
    """Outputs without earlier tokens, the last state, and the sum of the logarithms."""
    size = q.shape[2]
    if size <= smallest:
        total = g.cumsum(2)
        ahead = (total[..., :, None] - total[..., None, :]).clamp(max=0.0).exp()
        out = ((q @ k.transpose(2, 3)) * ahead).tril() @ v
        left = (total[..., -1:] - total).exp()
        return out, (k * left[..., None]).transpose(2, 3) @ v, total[..., -1]
    middle = smallest * max(1, size // smallest // 2)
    first, state, _ = halves(*(x[:, :, :middle] for x in (q, k, v, g)), smallest)
    later = tuple(x[:, :, middle:] for x in (q, k, v, g))
    second, state_later, _ = halves(*later, smallest)
    faded = later[3].cumsum(2).exp()[..., None]
    out = torch.cat([first, second + faded * (later[0] @ state)], dim=2)
    return out, state_later + faded[:, :, -1:] * state, g.sum(2)


def gated_linear_attention(q, k, v, log_decay):
    if log_decay.shape != q.shape[:3]:
        raise ValueError(f"one logarithm per token, but log_decay is {tuple(log_decay.shape)}")
    return halves(*widened(q, k, v, log_decay), 7)[0].type(v.dtype)


def chunked_linear_attention(q, k, v, log_decay, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f"cannot split into chunks of {chunk}")
    q_, k_, v_, g = widened(q, k, v, log_decay)
    parts = [halves(*piece, chunk) for piece in zip(*(torch.split(x, chunk, 2) for x in (q_, k_, v_, g)))]
    if state is None:
        state = torch.zeros_like(parts[0][1])
    states = list(accumulate(parts, lambda s, part: part[2].exp()[..., None, None] * s + part[1], initial=state))
    outputs = [
        part[0] + h.cumsum(2).exp()[..., None] * (a @ s)
        for part, a, h, s in zip(parts, q_.split(chunk, 2), g.split(chunk, 2), states)
    ]
    return torch.cat(outputs, 2).type(v.dtype), states[-1]


def delta_rule(q, k, v, beta, state=None):
    if tuple(beta.shape) != tuple(q.shape[:3]):
        raise ValueError(f"one strength per token, but beta is {tuple(beta.shape)}")
    q_, k_, v_, b = widened(q, k, v, beta)
    if state is None:
        state = torch.zeros_like(k_[:, :, 0, :, None] * v_[:, :, 0, None, :])

    def write(s, token):
        key, value, strength = token
        known = (key[..., None] * s).sum(2)
        return s + (strength[..., None] * key)[..., None] * (value - known)[:, :, None]

    tokens = zip(k_.unbind(2), v_.unbind(2), b.unbind(2))
    states = list(accumulate(tokens, write, initial=state))
    rows = [(query[..., None] * s).sum(2) for query, s in zip(q_.unbind(2), states[1:])]
    return torch.stack(rows, 2).type(v.dtype), states[-1]


def delta_rule_chunked(q, k, v, beta, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f"cannot split into chunks of {chunk}")
    q_, k_, v_, b = widened(q, k, v, beta[..., None])
    outputs = []
    for a, key, value, strength in zip(*(x.split(chunk, 2) for x in (q_, k_, v_, b))):
        one = torch.eye(key.shape[2], dtype=key.dtype, device=key.device)
        inverse = torch.linalg.inv(one + torch.tril(strength * (key @ key.transpose(2, 3)), -1))
        target = value if state is None else value - key @ state
        new = inverse @ (strength * target)
        out = torch.tril(a @ key.transpose(2, 3)) @ new
        outputs.append(out if state is None else out + a @ state)
        added = key.transpose(2, 3) @ new
        state = added if state is None else state + added
    return torch.cat(outputs, 2).type(v.dtype), state


class RecurrentAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if n_heads * int(d_model / n_heads) != d_model:
            raise ValueError(f"{n_heads} heads do not divide d_model = {d_model}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_g = nn.Linear(d_model, n_heads)

    def forward(self, x, state=None):
        joined = torch.cat([self.W_q.weight, self.W_k.weight, self.W_v.weight])
        q, k, v = F.linear(x, joined).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        gate = self.W_g(x).transpose(1, 2)
        log_decay = (torch.clamp(gate, max=0) - torch.log1p(torch.exp(-gate.abs()))) / 16
        out, state = chunked_linear_attention(q, k, v, log_decay, chunk=20, state=state)
        wide = widened(out)[0]
        out = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.W_o(out.type(x.dtype).transpose(1, 2).flatten(2)), state
