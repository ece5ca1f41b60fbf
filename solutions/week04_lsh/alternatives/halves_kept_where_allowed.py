"""Halves stay halves except in hash and scores; 1e-8 against zero lengths; a class with __call__."""

import torch
import torch.nn.functional as F
from torch import nn


def hash_vectors(x, rotations):
    at_least_float = torch.float64 if x.dtype is torch.float64 else torch.float32
    halves = torch.tensordot(x.to(at_least_float), rotations.to(at_least_float), dims=([-1], [1]))
    halves = halves.movedim(-2, -3)
    top, place = halves.abs().max(dim=-1)
    side = halves.gather(-1, place.unsqueeze(-1)).squeeze(-1)
    return place + rotations.shape[-1] * (side < 0).long()


def combine_rounds(outputs, logsumexps):
    logsumexps = logsumexps.to(outputs.dtype)
    met = logsumexps.amax(dim=-2).unsqueeze(-1) > -torch.inf
    shares = F.softmax(logsumexps.transpose(-1, -2).masked_fill(~met, 0.0), dim=-1) * met
    return torch.matmul(shares.unsqueeze(-2), outputs.transpose(-3, -2)).squeeze(-2)


class _Round:
    def __init__(self, buckets, bucket_size, causal):
        self.order, self.inverse = sort_by_bucket(buckets)
        self.buckets = torch.gather(buckets, -1, self.order)
        self.size, self.causal = bucket_size, causal

    def cut(self, rows):
        return torch.stack(rows.split(self.size, dim=-2), dim=-3)

    def window(self, rows, fill):
        chunks = self.cut(rows)
        return torch.cat(
            [F.pad(chunks, (0, 0, 0, 0, 1, 0), value=fill)[..., :-1, :, :], chunks], -2
        )

    def sort(self, rows):
        return rows.gather(-2, self.order[..., None].expand(*self.order.shape, rows.shape[-1]))

    def unsort(self, rows):
        return rows.gather(-2, self.inverse[..., None].expand(*self.order.shape, rows.shape[-1]))

    def __call__(self, qk, v):
        keys = qk / (qk.norm(dim=-1, keepdim=True) + 1e-8)
        wide = torch.promote_types(torch.float32, qk.dtype)
        query, key = self.cut(self.sort(qk)).to(wide), self.window(self.sort(keys), 0).to(wide)
        scores = torch.einsum("...qd,...kd->...qk", query, key).div(qk.shape[-1] ** 0.5)
        here, there = self.cut(self.order[..., None]), self.window(self.order[..., None], -1).mT
        mine, theirs = (
            self.cut(self.buckets[..., None]),
            self.window(self.buckets[..., None], -1).mT,
        )
        scores = scores.sub((here == there).to(wide), alpha=1e5)
        scores = scores.masked_fill_(mine.ne(theirs), -torch.inf)
        if self.causal:
            scores = scores.masked_fill_(there.gt(here), -torch.inf)
        weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True)).to(v.dtype)
        found = torch.einsum("...qk,...kv->...qv", weights, self.window(self.sort(v), 0))
        sums = torch.logsumexp(scores, -1, keepdim=True)
        return self.unsort(found.flatten(-3, -2)), self.unsort(sums.flatten(-3, -2)).squeeze(-1)


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    if qk.shape[-2] % bucket_size:
        raise ValueError(f"{qk.shape[-2]} positions cannot be cut into chunks of {bucket_size}")
    rounds = hash_vectors(qk, rotations).unbind(-2)
    results = [_Round(buckets, bucket_size, causal)(qk, v) for buckets in rounds]
    outputs, sums = zip(*results, strict=True)
    shares = torch.stack(sums, dim=-2).softmax(dim=-2).to(v.dtype)
    return sum(share[..., None] * y for share, y in zip(shares.unbind(-2), outputs, strict=True))


class LSHAttention(nn.Module):
    def __init__(self, d_model, num_heads, bucket_size=64, n_hashes=4, causal=False):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads do not divide d_model = {d_model}")
        self.num_heads, self.bucket_size = num_heads, bucket_size
        self.n_hashes, self.causal = n_hashes, causal
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_qk = nn.Linear(d_model, d_model, bias=False)

    def _heads(self, rows):
        return rows.reshape(*rows.shape[:2], self.num_heads, -1).permute(0, 2, 1, 3)

    def forward(self, x, rotations=None, generator=None):
        qk, v = self._heads(self.W_qk(x)), self._heads(self.W_v(x))
        if x.shape[1] % self.bucket_size != 0:
            raise ValueError(f"the sequence has {x.shape[1]} positions")
        if rotations is None:
            n_buckets = x.shape[1] // self.bucket_size
            n_buckets = n_buckets if n_buckets % 2 == 0 else n_buckets + 1
            shape = self.n_hashes, qk.shape[-1], n_buckets // 2
            rotations = torch.randn(*shape, generator=generator, device=x.device)
        mixed = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(mixed.permute(0, 2, 1, 3).reshape(x.shape))
