"""Loops over queries, tokens and devices, with lists and Python numbers wherever possible."""

from collections import deque


class RollingCache:
    def __init__(self, window, sinks=0):
        if not window > 0:
            raise ValueError(f"a window of {window} positions")
        if sinks < 0:
            raise ValueError(f"{sinks} sinks")
        self.window, self.sinks = window, sinks
        self.first, self.recent = [], deque(maxlen=window)
        self.length = 0

    def append(self, k, v):
        old = dict(self.first)
        old.update(self.recent)
        places = [*old, *range(self.length, self.length + k.shape[2])]
        keys = torch.cat([key for key, _ in old.values()] + [k], dim=2).detach()
        values = torch.cat([value for _, value in old.values()] + [v], dim=2).detach()
        for i in range(k.shape[2]):
            item = (self.length, (k[:, :, i : i + 1].detach().clone(), v[:, :, i : i + 1].detach().clone()))
            if self.length < self.sinks:
                self.first.append(item)
            else:
                self.recent.append(item)
            self.length += 1
        # the window may still contain sinks, which are stored once
        while self.recent and self.recent[0][0] < self.length - self.window:
            self.recent.popleft()
        return keys, values, torch.tensor(places, device=k.device)


def sink_attention(q, k, v, positions, window, sinks, frequencies):
    """Counts the keys that a query sees, which have no gaps within the cache."""
    B, H, m, d = k.shape
    if len(positions) != m:
        raise ValueError(f"{len(positions)} positions do not fit {m} keys")
    half = v.dtype in (torch.float16, torch.bfloat16)
    a, b, c = (x.float() if half else x for x in (q, k, v))
    rows = []
    for i, p in enumerate(positions[m - q.size(2) :].tolist()):
        seen = (positions <= p) & ((p - positions < window) | (positions < sinks))
        places = torch.arange(int(seen.sum()), device=q.device)
        query = rotate(a[:, :, i : i + 1], places[-1:], frequencies)
        keys = rotate(b[:, :, seen], places, frequencies)
        scores = torch.matmul(query, keys.transpose(2, 3)) * d**-0.5
        rows.append(torch.matmul(scores.softmax(dim=3), c[:, :, seen]))
    return torch.cat(rows, dim=2).to(v.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        self.d = d_model // n_heads
        if self.d * n_heads != d_model:
            raise ValueError(f"{n_heads} heads for d_model = {d_model}")
        if d_rope // 2 * 2 != d_rope:
            raise ValueError(f"an odd d_rope, {d_rope}")
        self.sizes = n_heads, d_latent, d_rope
        for name, rows, columns in (
            ("W_q", d_model, d_model),
            ("W_qr", d_model, n_heads * d_rope),
            ("W_dkv", d_model, d_latent),
            ("W_uk", d_latent, d_model),
            ("W_uv", d_latent, d_model),
            ("W_kr", d_model, d_rope),
            ("W_o", d_model, d_model),
        ):
            self.add_module(name, nn.Linear(rows, columns, bias=False))

    def forward(self, x, cache=None):
        n_heads, d_latent, d_rope = self.sizes
        if cache is None:
            cache = x.new_zeros(x.shape[0], 0, d_latent + d_rope)
        frequencies = rotary_frequencies(d_rope).to(x.device)
        outputs = []
        for token in x.split(1, dim=1):  # one token at a time, also in a prompt
            place = torch.tensor([cache.shape[1]], device=x.device)
            key = rotate(self.W_kr(token)[:, None], place, frequencies)[:, 0]
            cache = torch.cat([cache, torch.cat([self.W_dkv(token), key], dim=2)], dim=1)
            latents, keys = cache[..., :d_latent], cache[..., d_latent:]
            heads = []
            for h in range(n_heads):
                part = slice(h * self.d, (h + 1) * self.d)
                q = self.W_q(token)[..., part]
                q_r = self.W_qr(token)[:, None, :, h * d_rope : (h + 1) * d_rope]
                q_r = rotate(q_r, place, frequencies)[:, 0]
                joined = torch.cat([q, q_r], dim=-1)
                both = torch.cat([self.W_uk(latents)[..., part], keys], dim=-1)
                weights = (joined @ both.transpose(1, 2) / (self.d + d_rope) ** 0.5).softmax(dim=-1)
                heads.append(weights @ self.W_uv(latents)[..., part])
            outputs.append(self.W_o(torch.cat(heads, dim=-1)))
        return torch.cat(outputs, dim=1), cache


def quantize_kv(k, v, bits=4):
    if bits != 4 and bits != 8:
        raise ValueError(f"4 or 8 bits, not {bits}")
    for x in (k, v):
        if bits == 4 and x.shape[3] & 1:
            raise ValueError(f"pairs of features, but the width is {x.shape[3]}")

    def group(x, dim):
        x = x.float() if x.dtype.itemsize == 2 else x
        low, high = x.min(dim, keepdim=True).values, x.max(dim, keepdim=True).values
        step = (high - low) / (15 if bits == 4 else 255)
        step = step.masked_fill(high == low, 1.0)
        codes = torch.floor((x - low) / step + 0.5).clamp(0, 255).to(torch.uint8)
        if bits == 4:
            pairs = codes.unflatten(-1, (-1, 2))
            codes = pairs[..., 0] | (pairs[..., 1] << 4)
        return codes, step, low

    return group(k, 2), group(v, 3)


def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    def restore(codes, scale, zero):
        if bits == 4:
            wide = codes.new_empty(*codes.shape[:-1], 2 * codes.shape[-1])
            wide[..., 0::2] = codes & 15
            wide[..., 1::2] = codes >> 4
            codes = wide
        return (codes.to(scale.dtype) * scale + zero).to(dtype)

    return restore(*keys), restore(*values)


def route_tokens(logits, k, capacity):
    tokens, n_experts = logits.shape
    if k < 1 or k > n_experts:
        raise ValueError(f"{k} of {n_experts} experts")
    if capacity <= 0:
        raise ValueError(f"a capacity of {capacity}")
    logits = logits.float() if logits.dtype.itemsize == 2 else logits
    p = logits.softmax(dim=1)
    order = p.argsort(dim=1, descending=True)[:, :k]
    load, slots = [0] * n_experts, [[-1] * k for _ in range(tokens)]
    chosen = order.tolist()
    for choice in range(k):
        for token in range(tokens):
            expert = chosen[token][choice]
            if load[expert] < capacity:
                slots[token][choice] = load[expert]
                load[expert] += 1
    slots = torch.tensor(slots, device=logits.device)
    weights = p.gather(1, order) * (slots >= 0)
    shares = torch.bincount(order.flatten(), minlength=n_experts) / (tokens * k)
    loss = n_experts * sum(shares[e] * p[:, e].mean() for e in range(n_experts))
    return order, weights, slots, loss.to(p.dtype)


def ring_attention(q, k, v, causal=True):
    if len({len(q), len(k), len(v)}) > 1:
        raise ValueError(f"blocks of q, k, v: {len(q)}, {len(k)}, {len(v)}")
    n = len(q)
    outputs = []
    for device in range(n):
        query = q[device].float() if q[device].dtype.itemsize == 2 else q[device]
        largest = denominator = numerator = None
        for step in range(n):
            source = (device - step) % n
            if causal and source > device:
                continue
            key, value = k[source].to(query.dtype), v[source].to(query.dtype)
            scores = torch.einsum("bhid,bhjd->bhij", query, key) * query.shape[-1] ** -0.5
            if causal and source == device:
                row = torch.arange(scores.shape[-1], device=scores.device)
                scores = scores.masked_fill(row > row[:, None], float("-inf"))
            top = scores.amax(dim=-1, keepdim=True).detach()
            new = top if largest is None else torch.maximum(largest, top)
            weights = torch.exp(scores - new)
            if largest is None:
                denominator, numerator = weights.sum(-1, keepdim=True), weights @ value
            else:
                shrink = torch.exp(largest - new)
                denominator = shrink * denominator + weights.sum(-1, keepdim=True)
                numerator = shrink * numerator + weights @ value
            largest = new
        outputs.append((numerator / denominator).to(v[device].dtype))
    return outputs
