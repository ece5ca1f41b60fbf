"""Pads, computes all chunks together, and combines their states with one matrix of decays."""


def feature_map(x):
    return x.clamp(min=0) + torch.exp(-torch.relu(-x))


def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    scores = torch.einsum("bhid,bhjd->bhij", feature_map(q.to(wide)), feature_map(k.to(wide)))
    visible = torch.ones_like(scores[0, 0]).tril()
    weights = scores * visible
    return torch.einsum("bhij,bhjd->bhid", weights / weights.sum(-1)[..., None], v.to(wide)).to(v.dtype)


def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    q, k, values = feature_map(q.to(wide)), feature_map(k.to(wide)), v.to(wide)
    both = torch.cat([values, torch.ones_like(values[..., :1])], dim=-1)
    table = torch.einsum("bhk,bhv->bhkv", k, both)
    if state is not None:
        table = table + torch.cat([state[0], state[1][..., None]], dim=-1)
    read = torch.einsum("bhk,bhkv->bhv", q, table)
    return (read[..., :-1] / read[..., -1:]).to(v.dtype), (table[..., :-1], table[..., -1])


def summed(logarithms):
    """The sum of the logarithms j + 1 to i at (i, j), and -inf above the diagonal."""
    size = logarithms.shape[-1]
    at = torch.arange(size, device=logarithms.device)
    table = logarithms[..., None].expand(*logarithms.shape, size)
    table = table.masked_fill(at[:, None] <= at, 0.0).cumsum(dim=-2)
    return table.masked_fill(at[:, None] < at, float("-inf"))


def gated_linear_attention(q, k, v, log_decay):
    batch, heads, size, _ = q.shape
    if tuple(log_decay.shape) != (batch, heads, size):
        raise ValueError(f"log_decay is {tuple(log_decay.shape)}")
    wide = torch.promote_types(v.dtype, torch.float32)
    decays = summed(log_decay.to(wide)).exp()
    out = torch.einsum("bhik,bhjk,bhij,bhjv->bhiv", q.to(wide), k.to(wide), decays, v.to(wide))
    return out.to(v.dtype)


def chunked_linear_attention(q, k, v, log_decay, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f"chunk is {chunk}")
    wide = torch.promote_types(v.dtype, torch.float32)
    batch, heads, size, d = q.shape
    count = -(-size // chunk)
    missing = count * chunk - size
    if state is None:
        state = torch.zeros(batch, heads, d, v.shape[-1], dtype=wide, device=q.device)
    query, key, value = (
        F.pad(x.to(wide), (0, 0, 0, missing)).reshape(batch, heads, count, chunk, -1) for x in (q, k, v)
    )
    logs = F.pad(log_decay.to(wide), (0, missing)).reshape(batch, heads, count, chunk)
    within = torch.exp(summed(logs)) * (query @ key.transpose(-1, -2))
    total = logs.cumsum(-1)
    left = torch.exp(total[..., -1:] - total)[..., None]
    added = torch.cat([state[:, :, None], (key * left).transpose(-1, -2) @ value], dim=2)
    between = torch.exp(summed(F.pad(total[..., -1], (1, 0))))
    states = torch.einsum("bhij,bhjkv->bhikv", between, added)
    out = within @ value + torch.exp(total)[..., None] * (query @ states[:, :, :-1])
    return out.flatten(2, 3)[:, :, :size].to(v.dtype), states[:, :, -1]


def delta_rule(q, k, v, beta, state=None):
    if beta.shape != q.shape[:3]:
        raise ValueError(f"beta is {tuple(beta.shape)}")
    return delta_rule_chunked(q, k, v, beta, max(q.shape[2], 1), state)


def delta_rule_chunked(q, k, v, beta, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f"chunk is {chunk}")
    wide = torch.promote_types(v.dtype, torch.float32)
    batch, heads, size, d = q.shape
    count = -(-size // chunk)
    missing = count * chunk - size
    if state is None:
        state = torch.zeros(batch, heads, d, v.shape[-1], dtype=wide, device=q.device)
    q, k, values = (F.pad(x.to(wide), (0, 0, 0, missing)).reshape(batch, heads, count, chunk, -1) for x in (q, k, v))
    b = F.pad(beta.to(wide), (0, missing)).reshape(batch, heads, count, chunk, 1)
    mix = torch.linalg.inv(torch.eye(chunk, dtype=wide, device=q.device) + (b * (k @ k.mT)).tril(-1)) * b.mT
    w, u = mix @ k, mix @ values
    scores = (q @ k.mT).tril()
    outputs = []
    for i in range(count):
        new = u[:, :, i] - w[:, :, i] @ state
        outputs.append(q[:, :, i] @ state + scores[:, :, i] @ new)
        state = state + k[:, :, i].mT @ new
    return torch.cat(outputs, dim=2)[:, :, :size].to(v.dtype), state


class RecurrentAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} features cannot be divided among {n_heads} heads")
        self.heads = n_heads
        for name in "qkvo":
            setattr(self, f"W_{name}", nn.Linear(d_model, d_model, bias=False))
        self.W_g = nn.Linear(d_model, n_heads)

    def forward(self, x, state=None):
        batch, size, width = x.shape
        rows = [
            layer(x).reshape(batch, size, self.heads, width // self.heads).permute(0, 2, 1, 3)
            for layer in (self.W_q, self.W_k, self.W_v)
        ]
        decay = -F.softplus(-self.W_g(x)).permute(0, 2, 1) / 16
        out, state = chunked_linear_attention(*rows, decay, 32, state)
        out = out / (out.float() if out.dtype.itemsize < 4 else out).pow(2).mean(-1, keepdim=True).add(1e-5).sqrt()
        return self.W_o(out.permute(0, 2, 1, 3).reshape(batch, size, width).to(x.dtype)), state
