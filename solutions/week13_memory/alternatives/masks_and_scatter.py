"""One mask or index per question: gathers, scatters and index arithmetic instead of joins."""

import itertools


class RollingCache:
    def __init__(self, window, sinks=0):
        for name, number, least in (("window", window, 1), ("sinks", sinks, 0)):
            if number < least:
                raise ValueError(f"{name} is {number}, but must be at least {least}")
        self.limits = window, sinks
        self.length = 0
        self.sink_parts, self.window_parts = [], []

    def append(self, k, v):
        window, sinks = self.limits
        start, s = self.length, k.shape[2]
        self.length = start + s
        held = self.sink_parts + self.window_parts
        keys = torch.cat([part[0] for part in held] + [k.detach()], dim=2)
        values = torch.cat([part[1] for part in held] + [v.detach()], dim=2)
        first = start - sum(part[0].shape[2] for part in self.window_parts)
        numbers = itertools.chain(range(min(sinks, start)), range(first, self.length))
        places = torch.tensor(list(numbers), dtype=torch.int64, device=k.device)
        wanted = min(sinks, self.length)
        self.sink_parts = [(keys[:, :, :wanted].clone(), values[:, :, :wanted].clone())]
        last = max(wanted, self.length - window)
        size = self.length - last
        cut = keys.shape[2] - size
        self.window_parts = [(keys[:, :, cut:].clone(), values[:, :, cut:].clone())]
        return keys, values, places


def sink_attention(q, k, v, positions, window, sinks, frequencies):
    """Splits the keys into sinks and the rest, and joins two score matrices."""
    if positions.numel() != k.shape[2]:
        raise ValueError(f"got {positions.numel()} positions for {k.shape[2]} keys")
    wide = torch.promote_types(v.dtype, torch.float32)
    q, k, value = (x.to(wide) for x in (q, k, v))
    z = int((positions < sinks).sum())
    p = positions[len(positions) - q.shape[2] :]
    end = torch.clamp_max(p, window + sinks - 1)
    to_sinks = rotate(q, end, frequencies) @ rotate(k[:, :, :z], positions[:z], frequencies).transpose(2, 3)
    newest = positions[-1]
    near = rotate(q, p - newest, frequencies)
    to_window = near @ rotate(k[:, :, z:], positions[z:] - newest, frequencies).transpose(2, 3)
    gap = p[:, None] - positions[None]
    hidden = gap < 0
    hidden[:, z:] |= gap[:, z:] >= window
    bias = torch.zeros_like(gap, dtype=wide).masked_fill(hidden, float("-inf"))
    scores = torch.cat([to_sinks, to_window], dim=3) / q.shape[3] ** 0.5 + bias
    return torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), value).type(v.dtype)


class MultiHeadLatentAttention(nn.Module):
    """Concatenates both parts of queries and keys, and scales the queries."""

    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if d_model / n_heads != d_model // n_heads:
            raise ValueError(f"d_model {d_model} / {n_heads}")
        if d_rope & 1:
            raise ValueError(f"d_rope {d_rope}")
        self.n_heads, self.d_latent = n_heads, d_latent
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.register_buffer("f", rotary_frequencies(d_rope), persistent=False)

    def split(self, y):
        return torch.stack(y.chunk(self.n_heads, dim=-1), dim=1)

    def forward(self, x, cache=None):
        f = self.f.float().to(x.device)
        new = F.linear(x, torch.cat([self.W_dkv.weight, self.W_kr.weight]))
        t = (cache.shape[1] if cache is not None else 0) + torch.arange(x.shape[1], device=x.device)
        keys = rotate(new[..., self.d_latent :].unsqueeze(1), t, f).squeeze(1)
        new = torch.cat([new[..., : self.d_latent], keys], -1)
        rows = torch.cat([part for part in (cache, new) if part is not None], dim=1)
        latents, shared = rows.tensor_split([self.d_latent], dim=-1)
        q = torch.cat([self.split(self.W_q(x)), rotate(self.split(self.W_qr(x)), t, f)], -1)
        k = self.split(self.W_uk(latents))
        k = torch.cat([k, shared.unsqueeze(1).expand(-1, self.n_heads, -1, -1)], -1)
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
        bias = torch.where(torch.arange(rows.shape[1], device=x.device) <= t[:, None], 0.0, float("-inf"))
        mixed = torch.softmax(scores + bias.to(scores.dtype), -1) @ self.split(self.W_uv(latents))
        return self.W_o(torch.cat(mixed.unbind(1), dim=-1)), rows


def quantize_kv(k, v, bits=4):
    levels = {4: 15, 8: 255}.get(bits)
    if levels is None:
        raise ValueError(f"no codes of {bits} bits")

    def codes_of(x, axis):
        if bits == 4 and x.shape[-1] % 2 != 0:
            raise ValueError(f"{x.shape[-1]} features are not pairs")
        x = x.double() if x.dtype == torch.float64 else x.float()
        bottom = torch.amin(x, axis, True)
        span = torch.amax(x, axis, True) - bottom
        scale = torch.where(span == 0, torch.ones_like(span), span / levels)
        numbers = torch.round((x - bottom) / scale).to(torch.int32)
        if bits == 4:
            low, high = numbers.reshape(*numbers.shape[:-1], -1, 2).unbind(-1)
            numbers = torch.bitwise_or(low, torch.bitwise_left_shift(high, 4))
        return numbers.to(torch.uint8), scale, bottom

    return codes_of(k, 2), codes_of(v, 3)


def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    def numbers(codes, scale, zero):
        if bits == 4:
            codes = codes.repeat_interleave(2, dim=-1)
            odd = torch.arange(codes.shape[-1], device=codes.device) % 2 == 1
            codes = torch.where(odd, codes.div(16, rounding_mode="floor"), codes.remainder(16))
        return torch.add(zero, codes * scale).to(dtype)

    return numbers(*keys), numbers(*values)


def route_tokens(logits, k, capacity):
    tokens, n = logits.shape
    if k not in range(1, n + 1):
        raise ValueError(f"k is {k}")
    if capacity < 1:
        raise ValueError(f"capacity is {capacity}")
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    p = (wide - wide.logsumexp(1, keepdim=True)).exp()
    experts = p.topk(k).indices
    flat = experts.t().reshape(-1)
    order = flat.argsort(stable=True)  # grouped by expert, in the order of filling
    starts = torch.bincount(flat, minlength=n).cumsum(0).roll(1)
    starts[0] = 0
    slots = torch.empty_like(flat)
    slots[order] = torch.arange(flat.numel(), device=flat.device) - starts[flat[order]]
    slots = slots.reshape(k, tokens).t()
    weights = p.gather(1, experts)
    full = slots >= capacity
    f = torch.zeros(n, dtype=p.dtype, device=p.device).index_add(0, flat, torch.ones_like(flat, dtype=p.dtype))
    loss = n * torch.dot(f / flat.numel(), p.sum(0) / tokens)
    return experts, weights * ~full, slots * ~full - full.long(), loss


def ring_attention(q, k, v, causal=True):
    """Accumulates numerators and denominators relative to a running maximum."""
    if len(q) != len(k) or len(k) != len(v):
        raise ValueError(f"numbers of blocks: {len(q)}, {len(k)}, {len(v)}")
    wide = torch.promote_types(v[0].dtype, torch.float32)
    states = [[] for _ in q]
    for step in range(len(q)):
        for r, query in enumerate(q):
            at = r - step
            if causal and at < 0:
                continue
            scores = torch.matmul(query.to(wide), k[at].to(wide).mT).div(math.sqrt(query.shape[-1]))
            if causal and at == r:
                i = torch.arange(scores.shape[-1], device=scores.device)
                scores = torch.where(i[:, None] >= i, scores, torch.tensor(-torch.inf, dtype=wide, device=scores.device))
            weights = torch.softmax(scores, -1)
            new = [torch.logsumexp(scores, -1, keepdim=True), weights @ v[at].to(wide)]
            if states[r]:
                old = states[r]
                shares = torch.softmax(torch.cat([old[0], new[0]], -1), -1)
                new[1] = shares[..., :1] * old[1] + shares[..., 1:] * new[1]
                new[0] = torch.logaddexp(old[0], new[0])
            states[r] = new
    return [state[1].to(block.dtype) for state, block in zip(states, v)]
