"""Plain loops: over sequences, rounds and chunks, one small matrix at a time."""

import torch
from torch import nn


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    match kind:
        case "full":
            return bytes_per_element * seq_len**2
        case "lsh":
            return sum(
                bytes_per_element * seq_len * (bucket_size + bucket_size) for _ in range(n_hashes)
            )
        case _:
            raise ValueError("no such kind of attention: " + str(kind))


def hash_vectors(x, rotations):
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    rounds = []
    for rotation in rotations:
        projected = torch.matmul(x.to(dtype), rotation.to(dtype))
        rounds.append(torch.max(torch.cat([projected, -projected], dim=-1), dim=-1).indices)
    return torch.stack(rounds, dim=-2)


def sort_by_bucket(buckets):
    rows = buckets.reshape(-1, buckets.shape[-1])
    orders = torch.empty_like(rows)
    inverses = torch.empty_like(rows)
    for row, order, inverse in zip(rows, orders, inverses, strict=True):
        order.copy_(torch.sort(row, stable=True).indices)
        inverse[order] = torch.arange(len(row), device=row.device)
    return orders.reshape(buckets.shape), inverses.reshape(buckets.shape)


def combine_rounds(outputs, logsumexps):
    top = logsumexps.amax(dim=-2, keepdim=True).detach()
    top = torch.where(top == -torch.inf, torch.zeros_like(top), top)
    mass = (logsumexps - top).exp()
    total, result = 0, 0
    for r in range(outputs.shape[-3]):
        total = total + mass[..., r, :]
        result = result + mass[..., r, :, None] * outputs[..., r, :, :]
    return (result / torch.where(total > 0, total, 1.0)[..., None]).to(outputs.dtype)


def _one_round(qk, v, buckets, bucket_size, causal):
    length, d = qk.shape
    order, inverse = sort_by_bucket(buckets)
    keys = qk / qk.norm(dim=-1, keepdim=True).clamp_min(torch.finfo(qk.dtype).tiny)
    outputs, sums = [], []
    for start in range(0, length, bucket_size):
        mine = order[start : start + bucket_size]
        seen = order[max(0, start - bucket_size) : start + bucket_size]
        scores = qk[mine] @ keys[seen].T / d**0.5
        scores = torch.where(mine[:, None] == seen[None, :], scores - 1e5, scores)
        allowed = buckets[mine][:, None] == buckets[seen][None, :]
        if causal:
            allowed = allowed & (seen[None, :] <= mine[:, None])
        scores = scores.masked_fill(~allowed, -torch.inf)
        outputs.append(scores.softmax(-1) @ v[seen])
        sums.append(scores.logsumexp(-1))
    return torch.cat(outputs)[inverse], torch.cat(sums)[inverse]


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    length = qk.size(-2)
    if length % bucket_size != 0:
        raise ValueError(f"{length} positions do not fill chunks of {bucket_size}")
    dtype = torch.float64 if qk.dtype == torch.float64 else torch.float32
    flat_qk = qk.reshape(-1, length, qk.size(-1)).to(dtype)
    flat_v = v.reshape(-1, length, v.size(-1)).to(dtype)
    results = []
    for one_qk, one_v in zip(flat_qk, flat_v, strict=True):
        rounds = [
            _one_round(one_qk, one_v, b, bucket_size, causal)
            for b in hash_vectors(one_qk, rotations)
        ]
        outputs, sums = zip(*rounds, strict=True)
        results.append(combine_rounds(torch.stack(outputs), torch.stack(sums)))
    return torch.stack(results).reshape(*qk.shape[:-1], v.size(-1)).to(v.dtype)


class LSHAttention(nn.Module):
    def __init__(self, d_model, num_heads, bucket_size=64, n_hashes=4, causal=False):
        super().__init__()
        self.d, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{d_model} features cannot be shared by {num_heads} heads")
        for name in ("W_qk", "W_v", "W_o"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))
        self.settings = (bucket_size, n_hashes, causal)

    def forward(self, x, rotations=None, generator=None):
        bucket_size, n_hashes, causal = self.settings
        if x.shape[1] % bucket_size:
            raise ValueError(f"length {x.shape[1]} is not a multiple of {bucket_size}")
        if rotations is None:
            n_buckets = x.shape[1] // bucket_size
            n_buckets += n_buckets % 2
            rotations = torch.randn(
                n_hashes, self.d, n_buckets // 2, generator=generator, device=x.device
            )
        heads = zip(self.W_qk(x).split(self.d, -1), self.W_v(x).split(self.d, -1), strict=True)
        return self.W_o(
            torch.cat([lsh_attention(a, b, rotations, bucket_size, causal) for a, b in heads], -1)
        )
