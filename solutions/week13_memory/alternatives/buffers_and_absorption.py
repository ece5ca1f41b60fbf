"""A ring buffer, the absorbed form of latent attention, complex numbers, and blocks in one batch."""


class RollingCache:
    """Keeps sinks and window in two buffers; the window is a ring buffer."""

    def __init__(self, window, sinks=0):
        if window < 1 or sinks < 0:
            raise ValueError(f"window {window} must be positive and sinks {sinks} not negative")
        self.room, self.head, self.length = window, sinks, 0
        self.buffers = None

    def _stored(self):
        """Positions that are stored, and their places in the buffer."""
        positions = [p for p in range(min(self.head, self.length))]
        positions += range(max(self.head, self.length - self.room), self.length)
        places = [p if p < self.head else self.head + (p - self.head) % self.room for p in positions]
        return positions, places

    def append(self, k, v):
        if self.buffers is None:
            rows = self.head + self.room
            self.buffers = [torch.zeros(*x.shape[:2], rows, x.shape[3], dtype=x.dtype, device=x.device) for x in (k, v)]
        positions, places = self._stored()
        places = torch.tensor(places, dtype=torch.long, device=k.device)
        both = [torch.cat([buffer[:, :, places], x.detach()], dim=2) for buffer, x in zip(self.buffers, (k, v))]
        begin = self.length
        self.length += k.shape[2]
        positions += range(begin, self.length)
        kept, places = self._stored()
        new = [(p, place) for p, place in zip(kept, places) if p >= begin]
        if new:
            source = torch.tensor([p - begin for p, _ in new], device=k.device)
            target = torch.tensor([place for _, place in new], device=k.device)
            for buffer, x in zip(self.buffers, (k, v)):
                buffer[:, :, target] = x.detach()[:, :, source]
        return both[0], both[1], torch.tensor(positions, dtype=torch.int64, device=k.device)


def sink_attention(q, k, v, positions, window, sinks, frequencies):
    """Rotates the query of each sink score by a difference, with complex numbers."""
    if positions.shape[0] != k.shape[2]:
        raise ValueError(f"{positions.shape[0]} positions")
    wide = torch.float64 if v.dtype == torch.float64 else torch.float32
    place = positions[positions.shape[0] - q.shape[2] :].unsqueeze(1)
    end = place.clamp(max=window + sinks - 1)
    old = positions < sinks
    distance = torch.where(old, end - positions, place - positions)
    seen = (positions <= place) & (old | (place - positions < window))
    distance = torch.where(seen, distance, torch.zeros_like(distance))

    def pairs(x, sign=1):
        even, odd = x.to(wide)[..., 0::2], x.to(wide)[..., 1::2]
        return torch.complex(even, sign * odd)

    angles = distance.to(wide).unsqueeze(-1) * frequencies.to(wide)  # (s, m, d/2)
    turn = torch.polar(torch.ones_like(angles), angles)
    scores = torch.einsum("bhif,bhjf,ijf->bhij", pairs(q), pairs(k, -1), turn).real
    scores = scores / math.sqrt(q.shape[-1])
    scores = torch.where(seen, scores, scores.new_full((), -1e30))
    weights = torch.exp(scores - scores.amax(-1, keepdim=True)) * seen
    return (weights @ v.to(wide) / weights.sum(-1, keepdim=True)).to(v.dtype)


class MultiHeadLatentAttention(nn.Module):
    """Uses W_uk on the query side and W_uv after the weighted sum of latents."""

    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if d_model % n_heads != 0 or d_rope % 2 != 0:
            raise ValueError(f"d_model = {d_model}, {n_heads} heads, d_rope = {d_rope}")
        self.heads = n_heads

        def layer(rows, columns):
            return nn.Linear(rows, columns, bias=False)

        self.W_q, self.W_qr = layer(d_model, d_model), layer(d_model, n_heads * d_rope)
        self.W_dkv, self.W_kr = layer(d_model, d_latent), layer(d_model, d_rope)
        self.W_uk, self.W_uv = layer(d_latent, d_model), layer(d_latent, d_model)
        self.W_o = layer(d_model, d_model)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache.size(1)
        d_latent, d_rope = self.W_dkv.out_features, self.W_kr.out_features
        where = torch.arange(past, past + x.size(1), device=x.device)
        f = rotary_frequencies(d_rope).to(x.device)
        rows = torch.cat((self.W_dkv(x), rotate(self.W_kr(x)[:, None], where, f)[:, 0]), -1)
        if cache is not None:
            rows = torch.cat((cache, rows), 1)
        b, s, _ = x.shape
        q = self.W_q(x).reshape(b, s, self.heads, -1)
        up = self.W_uk.weight.reshape(self.heads, -1, d_latent)
        absorbed = torch.einsum("bshd,hdc->bhsc", q, up)
        turned = rotate(self.W_qr(x).reshape(b, s, self.heads, d_rope).permute(0, 2, 1, 3), where, f)
        whole = torch.cat((absorbed, turned), -1)  # (B, H, s, d_c + d_r): the cache is the key
        scores = torch.einsum("bhsc,btc->bhst", whole, rows) * (q.shape[-1] + d_rope) ** -0.5
        ahead = torch.ones(s, rows.size(1), dtype=torch.bool, device=x.device).triu(past + 1)
        weights = scores.masked_fill(ahead, float("-inf")).softmax(-1)
        read = torch.einsum("bhst,btc->bhsc", weights, rows[..., :d_latent])
        down = self.W_uv.weight.reshape(self.heads, -1, d_latent)
        return self.W_o(torch.einsum("bhsc,hdc->bshd", read, down).reshape(b, s, -1)), rows


def quantize_kv(k, v, bits=4):
    if bits not in {4, 8}:
        raise ValueError(f"{bits} bits")
    if bits == 4:
        for x in (k, v):
            if x.shape[-1] % 2 == 1:
                raise ValueError(f"odd width {x.shape[-1]}")
    out = []
    for x, transposed in ((k, True), (v, False)):
        x = x.to(torch.promote_types(x.dtype, torch.float32))
        rows = x.mT if transposed else x
        low, high = torch.aminmax(rows, dim=-1, keepdim=True)
        scale = (high - low).div(2**bits - 1)
        scale = scale + (high == low)
        codes = torch.round((rows - low) / scale).long()
        if transposed:
            codes, scale, low = codes.mT, scale.mT, low.mT
        if bits == 4:
            codes = (codes.unflatten(-1, (-1, 2)) * torch.tensor([1, 16], device=codes.device)).sum(-1)
        out.append((codes.to(torch.uint8), scale, low))
    return tuple(out)


def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    both = []
    for codes, scale, zero in (keys, values):
        numbers = codes.long()
        if bits == 4:
            shifts = torch.tensor([0, 4], device=codes.device)
            numbers = ((numbers.unsqueeze(-1) >> shifts) & 15).flatten(-2)
        both.append(torch.addcmul(zero, scale, numbers.to(scale.dtype)).to(dtype))
    return tuple(both)


def route_tokens(logits, k, capacity):
    if not 0 < k <= logits.size(1):
        raise ValueError(f"cannot choose {k} of {logits.size(1)}")
    if capacity < 1:
        raise ValueError(f"no places: {capacity}")
    p = torch.softmax(logits, 1, dtype=torch.promote_types(logits.dtype, torch.float32))
    values, experts = p.sort(dim=1, descending=True)
    values, experts = values[:, :k], experts[:, :k]
    slots, used = [], torch.zeros(logits.size(1), dtype=torch.long, device=logits.device)
    for choice in experts.unbind(1):
        same = choice[:, None] == choice[None, :]
        earlier = same.tril(-1).sum(1)
        slots.append(used[choice] + earlier)
        used = used + torch.bincount(choice, minlength=logits.size(1))
    slots = torch.stack(slots, 1)
    kept = slots < capacity
    loss = (used / used.sum() * p.mean(0)).sum() * logits.size(1)
    return experts, torch.where(kept, values, 0.0), torch.where(kept, slots, -1), loss.to(p.dtype)


def ring_attention(q, k, v, causal=True):
    n = len(q)
    for x in (k, v):
        if len(x) != n:
            raise ValueError(f"{len(x)} blocks instead of {n}")
    wide = torch.promote_types(v[0].dtype, torch.float32)
    outputs = [torch.zeros(*q[r].shape[:3], v[r].shape[-1], dtype=wide, device=q[r].device) for r in range(n)]
    totals = [torch.full((*q[r].shape[:3], 1), -1e38, dtype=wide, device=q[r].device) for r in range(n)]
    owners, keys, values = list(range(n)), list(k), list(v)
    for _ in range(n):
        for r in range(n):
            if causal and owners[r] > r:
                continue
            scores = (q[r].to(wide) * q[r].shape[-1] ** -0.5) @ keys[r].to(wide).transpose(-1, -2)
            if causal and owners[r] == r:
                scores = scores + torch.full_like(scores[0, 0], float("-inf")).triu(1)
            total = torch.logsumexp(scores, -1, keepdim=True)
            share = torch.sigmoid(total - totals[r])  # the weight of the new block
            outputs[r] = outputs[r] + share * (torch.softmax(scores, -1) @ values[r].to(wide) - outputs[r])
            totals[r] = torch.logaddexp(totals[r], total)
        for travelling in (owners, keys, values):
            travelling.insert(0, travelling.pop())
    return [x.to(v[r].dtype) for r, x in enumerate(outputs)]
