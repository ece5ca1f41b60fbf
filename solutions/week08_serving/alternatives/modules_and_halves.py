"""The cache is a module with one buffer for both, heads fold into the batch, pages are rows."""

import functools
import operator

import torch
from torch import nn
from torch.nn import functional as F


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    bits = torch.finfo(dtype).bits if dtype.is_floating_point else torch.iinfo(dtype).bits
    return functools.reduce(operator.mul, (2, n_layers, n_kv_heads, d, length, batch, bits)) // 8


class KVCache(nn.Module):
    def __init__(self, batch, n_kv_heads, max_len, d, dtype=torch.float32, device=None):
        super().__init__()
        both = torch.zeros((2, batch, n_kv_heads, max_len, d), dtype=dtype, device=device)
        self.register_buffer("both", both, persistent=False)
        self.length = 0

    def append(self, k, v):
        start, self_end = self.length, self.length + k.size(2)
        if self_end > self.both.size(3):
            raise ValueError(f"position {self_end} is beyond the end")
        places = torch.arange(self.both.size(3), device=self.both.device)[start:self_end]
        with torch.no_grad():
            self.both[0][:, :, places], self.both[1][:, :, places] = k.to(self.both), v.to(self.both)
        self.length = self_end
        return self.both[..., :self_end, :].unbind(0)


def grouped_query_attention(q, k, v, mask=None):
    (B, H, n, d), (_, G, m, d_v) = q.shape, v.shape
    if H // G * G != H:
        raise ValueError(f"{H} heads in {G} groups")
    dtype, wide = q.dtype, torch.promote_types(q.dtype, torch.float32)
    q, k, v = q.to(wide), k.to(wide), v.to(wide)
    scores = torch.baddbmm(
        q.new_zeros(1, 1, 1),
        q.reshape(B * G, -1, d),
        k.reshape(B * G, m, d).mT,
        beta=0,
        alpha=d**-0.5,
    ).view(B, H, n, m)
    if mask is None:
        mask = torch.ones(n, m, dtype=torch.bool, device=q.device)
    shifted = scores - scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True).detach()
    e = shifted.masked_fill(~mask, -torch.inf).exp()
    total = e.sum(-1, keepdim=True)
    weights = e / torch.where(total == 0, 1.0, total)
    output = torch.bmm(weights.view(B * G, -1, m), v.reshape(B * G, m, d_v))
    return output.view(B, H, n, d_v).to(dtype), weights.to(dtype)


class _Bare(nn.Linear):
    def __init__(self, before, after):
        super().__init__(before, after, False)

    def forward(self, x, heads=1):
        return F.linear(x, self.weight).view(*x.shape[:2], heads, -1).permute(0, 2, 1, 3)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        for whole, parts in ((d_model, n_heads), (n_heads, n_kv_heads)):
            if whole % parts:
                raise ValueError(f"{whole} is not divisible by {parts}")
        super().__init__()
        width = d_model * n_kv_heads // n_heads
        self.heads = n_heads, n_kv_heads
        self.W_q, self.W_o = _Bare(d_model, d_model), _Bare(d_model, d_model)
        self.W_k, self.W_v = _Bare(d_model, width), _Bare(d_model, width)

    def forward(self, x, cache=None):
        H, G = self.heads
        q, k, v = (
            self.W_q(x.contiguous(), H),
            self.W_k(x.contiguous(), G),
            self.W_v(x.contiguous(), G),
        )
        if cache is not None:
            k, v = cache.append(k, v)
        n, m = q.size(2), k.size(2)
        hidden = torch.ones(n, m, device=x.device, dtype=torch.bool).triu(m - n + 1)
        y = grouped_query_attention(q, k, v, ~hidden)[0]
        return self.W_o(y.permute(0, 2, 1, 3).reshape(x.shape)).squeeze(1)


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    full = torch.ones(offset + n, max(m, offset + n), dtype=torch.bool, device=device)
    band = full.tril() & full.triu(1 - window)
    band[:, :sinks] |= full.tril()[:, :sinks]
    return band[offset:, :m]


def generate_cached(model, idx, max_new_tokens):
    B, T = idx.shape
    ids = F.pad(idx, (0, max_new_tokens))
    modes = {part: part.training for part in model.modules()}
    caches = model.eval().new_caches(B, T + max_new_tokens)
    try:
        with torch.no_grad():
            start = 0
            for end in range(T, T + max_new_tokens):
                ids[:, end] = model(ids[:, start:end], caches)[:, -1].max(-1).indices
                start = end
    finally:
        for part, mode in modes.items():
            part.training = mode
    return ids


class PagedCache:
    def __init__(self, num_pages, page_size, n_kv_heads, d):
        self.pool = torch.full((num_pages, 2, n_kv_heads, page_size, d), float("nan"))
        self.stack = [*range(num_pages)][::-1]
        self.of = {}

    def __getattr__(self, name):
        if name == "free_pages":
            return len(self.stack)
        raise AttributeError(name)

    def append(self, seq, k, v):
        table, length = self.of.get(seq, ([], 0))
        size, new = self.pool.shape[3], k.shape[1]
        short = length + new - size * len(table)
        if short > size * len(self.stack):
            raise ValueError(f"{length + new} positions are too many")
        table = list(table)
        while new:
            if length == size * len(table):
                table.append(self.stack.pop())
            slot = length % size
            count = min(size - slot, new)
            page = self.pool[table[-1]]
            page[0, :, slot : slot + count], k = k[:, :count].detach(), k[:, count:]
            page[1, :, slot : slot + count], v = v[:, :count].detach(), v[:, count:]
            length, new = length + count, new - count
        self.of[seq] = table, length

    def gather(self, seq):
        table, length = self.of[seq]
        pages = self.pool[table]  # (pages, 2, H_kv, page_size, d)
        both = pages.permute(1, 2, 0, 3, 4).flatten(2, 3)[:, :, :length]
        return both[0], both[1]

    def free(self, seq):
        table, _ = self.of.pop(seq)
        self.stack.extend(table)


def speculative_step(draft, p, q, u):
    step = 0
    while step < draft.numel():
        t = draft[step]
        if u[step] * q[step, t] < p[step, t]:
            step += 1
            continue
        p = torch.maximum(p[step] - q[step], torch.zeros_like(q[step])).unsqueeze(0)
        break
    row = p[-1]
    beyond = torch.cumsum(row, 0) > u[-1] * row.sum()
    return step, beyond.nonzero()[0].item()
