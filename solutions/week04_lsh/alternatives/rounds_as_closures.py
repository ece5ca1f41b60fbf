"""One round is a closure, mapped over the rotations; torch.baddbmm; values keep their dtype."""

import functools

import torch
import torch.nn.functional as F
from torch import nn


def hash_vectors(x, rotations):
    def one_round(rotation):
        wide = torch.promote_types(x.dtype, torch.float32)
        rotated = F.linear(x.to(wide), rotation.to(wide).T)
        return torch.topk(torch.stack([rotated, -rotated], dim=-2).flatten(-2), 1).indices.squeeze(
            -1
        )

    return torch.stack(list(map(one_round, rotations.unbind(0))), dim=-2)


def sort_by_bucket(buckets):
    ranked = buckets.unsqueeze(-2), buckets.unsqueeze(-1)
    place = torch.arange(buckets.shape[-1], device=buckets.device)
    earlier = (ranked[0] < ranked[1]) | (
        (ranked[0] == ranked[1]) & (place[None, :] < place[:, None])
    )
    inverse = earlier.sum(-1)
    return inverse.argsort(-1), inverse


def combine_rounds(outputs, logsumexps):
    def merge(one, other):
        (out1, lse1), (out2, lse2) = one, other
        total = torch.logaddexp(lse1, lse2)
        return out1 * (lse1 - total).exp().unsqueeze(-1) + out2 * (lse2 - total).exp().unsqueeze(
            -1
        ), total

    wide = torch.promote_types(outputs.dtype, torch.float32)
    lonely = (logsumexps == -torch.inf).all(dim=-2, keepdim=True)
    found = logsumexps.masked_fill(lonely, 0.0).to(wide)
    rounds = zip(outputs.to(wide).unbind(-3), found.unbind(-2), strict=True)
    merged = functools.reduce(merge, rounds)[0]
    return merged.masked_fill(lonely.squeeze(-2).unsqueeze(-1), 0.0).to(outputs.dtype)


def _stable_order(buckets):
    order = torch.sort(buckets, stable=True, dim=-1).indices
    return order, torch.argsort(order, dim=-1)


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    length, d = qk.shape[-2:]
    n_chunks, rest = divmod(length, bucket_size)
    if rest:
        raise ValueError(f"{length=} {bucket_size=}")
    wide = torch.promote_types(qk.dtype, torch.float32)
    flat, values = qk.reshape(-1, length, d), v.reshape(-1, length, v.shape[-1])
    unit = F.normalize(flat.to(wide), dim=-1)

    def windows(rows):
        cut = rows.unflatten(1, (n_chunks, bucket_size))
        return torch.cat([torch.cat([torch.zeros_like(cut[:, :1]), cut[:, :-1]], 1), cut], 2)

    def one_round(buckets):
        order, inverse = _stable_order(buckets)

        def take(rows):
            return rows.gather(1, order.unsqueeze(-1).expand(-1, -1, rows.shape[-1]))

        place, label = order.unsqueeze(-1), buckets.gather(1, order).unsqueeze(-1) + 1
        seen, labels = windows(place).transpose(2, 3), windows(label).transpose(2, 3)
        place, label = (x.unflatten(1, (n_chunks, bucket_size)) for x in (place, label))
        bias = torch.zeros_like(seen + place, dtype=wide)
        bias = bias.masked_fill((seen == place) & (labels > 0), -1e5).masked_fill(
            labels != label, -torch.inf
        )
        if causal:
            bias = bias.masked_fill(seen > place, -torch.inf)
        queries = take(flat).to(wide).unflatten(1, (n_chunks, bucket_size)).flatten(0, 1)
        keys = windows(take(unit)).flatten(0, 1).transpose(1, 2)
        scores = torch.baddbmm(bias.flatten(0, 1), queries, keys, alpha=d**-0.5)
        out = torch.bmm(scores.softmax(-1).to(v.dtype), windows(take(values)).flatten(0, 1))
        out = out.unflatten(0, (-1, n_chunks)).flatten(1, 2)
        lse = scores.logsumexp(-1).unflatten(0, (-1, n_chunks)).flatten(1, 2)
        return out.gather(1, inverse.unsqueeze(-1).expand_as(out)), lse.gather(1, inverse)

    rounds = [one_round(buckets) for buckets in hash_vectors(flat, rotations).unbind(1)]
    outputs, sums = (torch.stack(parts, dim=1) for parts in zip(*rounds, strict=True))
    return combine_rounds(outputs, sums).reshape(*qk.shape[:-1], v.shape[-1])


class LSHAttention(nn.Module):
    def __init__(self, d_model, num_heads, bucket_size=64, n_hashes=4, causal=False):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(
                f"d_model must be divisible by num_heads, got {d_model} and {num_heads}"
            )
        self.W_qk = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self._heads = functools.partial(torch.chunk, chunks=num_heads, dim=-1)
        self._attend = functools.partial(lsh_attention, bucket_size=bucket_size, causal=causal)
        self._size = lambda length: (
            n_hashes,
            d_model // num_heads,
            (length // bucket_size + 1) // 2,
        )

    def forward(self, x, rotations=None, generator=None):
        if rotations is None:
            rotations = torch.randn(*self._size(x.shape[1]), generator=generator, device=x.device)
        qk, v = (torch.stack(self._heads(project(x)), dim=1) for project in (self.W_qk, self.W_v))
        merged = self._attend(qk, v, rotations)
        return self.W_o(torch.cat(merged.unbind(1), dim=-1))
