"""einsum for the products, index_copy_ into the buffers, one flat pool of places for the pages."""

import torch
from torch import nn


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    one = torch.empty((), dtype=dtype).element_size()
    return n_layers * (
        batch * length * n_kv_heads * d * one + batch * length * n_kv_heads * d * one
    )


class KVCache:
    def __init__(self, batch, n_kv_heads, max_len, d, dtype=torch.float32, device=None):
        self.k_buffer = torch.empty(batch, n_kv_heads, max_len, d, dtype=dtype, device=device)
        self.v_buffer = torch.empty_like(self.k_buffer)
        self.filled = 0

    @property
    def length(self):
        return self.filled

    def __len__(self):
        return self.filled

    @torch.no_grad()
    def append(self, k, v):
        places = torch.arange(len(self), len(self) + k.size(-2), device=self.k_buffer.device)
        if len(places) > self.k_buffer.size(2) - len(self):
            raise ValueError(f"no room for {len(places)} more after {len(self)}")
        self.k_buffer.index_copy_(2, places, k.to(self.k_buffer.dtype))
        self.v_buffer.index_copy_(2, places, v.to(self.v_buffer.dtype))
        self.filled += len(places)
        return self.k_buffer.narrow(2, 0, len(self)), self.v_buffer.narrow(2, 0, len(self))


def grouped_query_attention(q, k, v, mask=None):
    H, G = q.size(1), k.size(1)
    if H % G != 0:
        raise ValueError(f"H={H} must be a multiple of H_kv={G}")
    q = q.unflatten(1, (G, H // G)) * q.size(-1) ** -0.5
    scores = torch.einsum("bgrnd,bgmd->bgrnm", q, k).flatten(1, 2)
    if mask is not None:
        scores = torch.where(mask, scores, float("-inf"))
        dead = (~mask).all(-1, keepdim=True)
        scores = torch.where(dead, 0.0, scores)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = torch.where(mask, weights, 0.0)
    output = torch.einsum("bgrnm,bgmv->bgrnv", weights.unflatten(1, (G, H // G)), v)
    return output.flatten(1, 2), weights


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        d, rest = divmod(d_model, n_heads)
        if rest or n_heads % n_kv_heads:
            raise ValueError(f"sizes do not fit: {d_model}, {n_heads}, {n_kv_heads}")
        self.d = d
        for name, out in (("q", d_model), ("k", n_kv_heads * d), ("v", n_kv_heads * d)):
            setattr(self, f"W_{name}", nn.Linear(d_model, out, bias=False))
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d)).movedim(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        past = cache.length if cache is not None else 0
        if cache is not None:
            k, v = cache.append(k, v)
        total = past + x.size(1)
        mask = torch.ones(total, total, dtype=torch.bool, device=x.device).tril()[past:]
        y, _ = grouped_query_attention(q, k, v, mask)
        return self.W_o(y.movedim(1, 2).flatten(-2))


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    back = torch.arange(offset, offset + n, device=device)[:, None] - torch.arange(m, device=device)
    recent = torch.logical_and(back >= 0, back < window)
    sink = torch.logical_and(back >= 0, torch.arange(m, device=device).expand(n, m) < sinks)
    return torch.logical_or(recent, sink)


@torch.inference_mode()
def generate_cached(model, idx, max_new_tokens):
    if model.training:
        try:
            return generate_cached(model.eval(), idx, max_new_tokens)
        finally:
            model.train()
    caches = model.new_caches(len(idx), idx.size(1) + max_new_tokens - 1)
    if max_new_tokens == 0:
        return idx.clone()
    out = [idx, model(idx, caches)[:, -1:].argmax(-1)]
    while len(out) <= max_new_tokens:
        out.append(model(out[-1], caches)[:, -1:].argmax(-1))
    return torch.cat(out, dim=1)


class PagedCache:
    def __init__(self, num_pages, page_size, n_kv_heads, d):
        self.page = page_size
        self.pool = torch.zeros(2, n_kv_heads, num_pages * page_size, d)
        self.unused = set(range(num_pages))
        self.slots = {}  # of each sequence, the place of every position
        self.held = {}

    free_pages = property(lambda self: len(self.unused))

    def append(self, seq, k, v):
        slots, held = self.slots.get(seq, []), self.held.get(seq, [])
        room = len(held) * self.page - len(slots)
        more = max(0, -((room - k.size(1)) // self.page))
        if more > len(self.unused):
            raise ValueError(f"{k.size(1)} positions asked for, {len(self.unused)} pages free")
        for _ in range(more):
            held.append(self.unused.pop())
        self.held[seq], self.slots[seq] = held, slots
        new = [
            held[i // self.page] * self.page + i % self.page
            for i in range(len(slots), len(slots) + k.size(1))
        ]
        slots.extend(new)
        self.pool.index_copy_(2, torch.tensor(new), torch.stack([k, v]))

    def gather(self, seq):
        k, v = self.pool.index_select(2, torch.tensor(self.slots[seq])).unbind(0)
        return k, v

    def free(self, seq):
        self.unused.update(self.held.pop(seq))
        self.slots.pop(seq)


def speculative_step(draft, p, q, u):
    k = len(draft)
    rows = torch.arange(k, device=p.device)
    kept = u[:k] < p[rows, draft] / q[rows, draft]
    accepted = int(kept.long().cumprod(0).sum())
    rest = p[accepted]
    if accepted < k:
        rest = torch.relu(rest - q[accepted])
    edges = rest.cumsum(0) / rest.sum()
    return accepted, int(torch.searchsorted(edges, u[k], right=True))
