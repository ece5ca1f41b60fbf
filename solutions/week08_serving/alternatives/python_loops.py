"""Everything in plain loops, with Python's own lists, ints and floats where they will do."""

import torch
from torch import nn


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    total = 0
    for _ in range(n_layers):
        for _ in ("keys", "values"):
            total += batch * n_kv_heads * length * d * dtype.itemsize
    return total


class KVCache:
    def __init__(self, batch, n_kv_heads, max_len, d, dtype=torch.float32, device=None):
        self.max_len = max_len
        make = lambda: torch.zeros(batch, n_kv_heads, max_len, d, dtype=dtype, device=device)  # noqa: E731
        self.buffers = [make(), make()]
        self.length = 0

    def append(self, *new):
        count = new[0].shape[2]
        if self.length + count > self.max_len:
            raise ValueError(f"{count} new positions, {self.max_len - self.length} places")
        for buffer, x in zip(self.buffers, new, strict=True):
            for i in range(count):
                buffer[:, :, self.length + i].copy_(x.detach()[:, :, i])
        self.length += count
        return tuple(buffer[:, :, : self.length] for buffer in self.buffers)


def grouped_query_attention(q, k, v, mask=None):
    H, H_kv = q.shape[1], k.shape[1]
    if H % H_kv:
        raise ValueError(f"H = {H}, H_kv = {H_kv}")
    outputs, weights = [], []
    for h in range(H):
        shared = h // (H // H_kv)
        scores = torch.bmm(q[:, h], k[:, shared].transpose(1, 2)) / q.shape[-1] ** 0.5
        seen = None
        if mask is not None:
            seen = mask if mask.dim() == 2 else mask[:, h if mask.shape[1] > 1 else 0]
        w = _masked_softmax(scores, seen)  # noqa: F821  # of the stub
        weights.append(w)
        outputs.append(torch.bmm(w, v[:, shared]))
    return torch.stack(outputs, 1), torch.stack(weights, 1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model}")
        if n_heads % n_kv_heads != 0:
            raise ValueError(f"n_heads {n_heads}")
        self.d = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.d * n_kv_heads, bias=False)
        self.W_v = nn.Linear(d_model, self.d * n_kv_heads, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        q, k, v = (
            torch.stack(layer(x).split(self.d, dim=-1), dim=1)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        before = 0 if cache is None else cache.length
        if cache is not None:
            k, v = cache.append(k, v)
        outputs = []
        for i in range(x.shape[1]):  # a query at a time sees what is there up to itself
            end = before + i + 1
            y, _ = grouped_query_attention(q[:, :, i : i + 1], k[:, :, :end], v[:, :, :end])
            outputs.append(torch.cat(y.unbind(1), dim=-1))
        return self.W_o(torch.cat(outputs, dim=1))


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    rows = []
    for i in range(offset, offset + n):
        rows.append([j <= i and (i - j < window or j < sinks) for j in range(m)])
    return torch.tensor(rows, dtype=torch.bool, device=device)


def generate_cached(model, idx, max_new_tokens):
    mode = model.training
    model.train(False)
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    logits = model(idx, caches).detach()
    ids = idx
    for _ in range(max_new_tokens):  # the last token is fed as well
        chosen = torch.argmax(logits[:, -1, :], dim=1)[:, None]
        ids = torch.hstack([ids, chosen])
        logits = model(chosen, caches).detach()
    model.train(mode)
    return ids


class PagedCache:
    def __init__(self, num_pages, page_size, n_kv_heads, d):
        self.size = page_size
        self.pages = [torch.zeros(2, n_kv_heads, page_size, d) for _ in range(num_pages)]
        self.owner = [None] * num_pages
        self.free_pages = num_pages
        self.tables, self.counts = {}, {}

    def append(self, seq, k, v):
        count, table = self.counts.get(seq, 0), self.tables.get(seq, ())
        wanted = (count + k.shape[1] + self.size - 1) // self.size - len(table)
        if wanted > self.free_pages:
            raise ValueError(f"{self.free_pages} free pages")
        for number, owner in enumerate(self.owner):
            if wanted and owner is None:
                self.owner[number] = ("of", seq)
                table, wanted = (*table, number), wanted - 1
                self.free_pages -= 1
        for i in range(k.shape[1]):
            page = self.pages[table[(count + i) // self.size]]
            page[0, :, (count + i) % self.size] = k.detach()[:, i]
            page[1, :, (count + i) % self.size] = v.detach()[:, i]
        self.tables[seq], self.counts[seq] = table, count + k.shape[1]

    def gather(self, seq):
        both = torch.cat([self.pages[number] for number in self.tables[seq]], dim=2)
        return both[0, :, : self.counts[seq]], both[1, :, : self.counts[seq]]

    def free(self, seq):
        for number in self.tables.pop(seq):
            self.owner[number] = None
            self.free_pages += 1
        self.counts.pop(seq)


def speculative_step(draft, p, q, u):
    def draw(row, at):
        total, last = 0.0, 0
        for token, probability in enumerate(row):
            total += probability
            if probability > 0:
                last = token
            if total > at:
                return token
        return last

    p, q, u = p.double().tolist(), q.double().tolist(), u.double().tolist()
    accepted = 0
    for token, theirs, ours, luck in zip(draft.tolist(), p, q, u, strict=False):
        if luck >= theirs[token] / ours[token]:
            left = [max(a - b, 0.0) for a, b in zip(theirs, ours, strict=True)]
            return accepted, draw([x / sum(left) for x in left], u[-1])
        accepted += 1
    return accepted, draw(p[accepted], u[-1])
