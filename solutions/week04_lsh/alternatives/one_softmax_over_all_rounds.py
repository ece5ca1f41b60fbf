"""Lists for each query the keys it sees in all rounds, and takes one softmax over the list."""

import torch
from torch import nn


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    *lead, length, d = qk.shape
    if length % bucket_size:
        raise ValueError(f"a length of {length} leaves a remainder in chunks of {bucket_size}")
    wide = torch.promote_types(qk.dtype, torch.float32)
    q = qk.to(wide).reshape(-1, length, d)
    values = v.to(wide).reshape(-1, length, v.shape[-1])
    keys = q / torch.linalg.vector_norm(q, dim=-1, keepdim=True).clamp_min(1e-30)
    buckets = hash_vectors(q, rotations)
    order, inverse = sort_by_bucket(buckets)
    chunks = order.unflatten(-1, (-1, bucket_size))
    before = torch.cat([torch.full_like(chunks[..., :1, :], -1), chunks[..., :-1, :]], dim=-2)
    seen_by_chunk = torch.cat([before, chunks], dim=-1)
    chunk_of = (inverse // bucket_size).unsqueeze(-1).expand(*inverse.shape, 2 * bucket_size)
    seen = seen_by_chunk.gather(-2, chunk_of)  # (N, n_hashes, T, 2 bucket_size), -1 for none
    same = buckets.gather(-1, seen.clamp(min=0).flatten(-2)).view_as(seen) == buckets.unsqueeze(-1)
    visible = same & (seen >= 0)
    me = torch.arange(length, device=qk.device).view(length, 1)
    if causal:
        visible = visible & (seen <= me)
    seen, visible = (
        t.transpose(1, 2).flatten(2) for t in (seen, visible)
    )  # (N, T, n_hashes * 2 bucket_size)
    row = torch.arange(q.shape[0], device=qk.device).view(-1, 1, 1)
    found = seen.clamp(min=0)
    scores = (q.unsqueeze(2) * keys[row, found]).sum(-1) / d**0.5
    scores = torch.where(seen == me, scores - 1e5, scores).masked_fill(~visible, -torch.inf)
    out = (scores.softmax(-1).unsqueeze(-1) * values[row, found]).sum(2)
    return out.reshape(*lead, length, v.shape[-1]).to(v.dtype)


def combine_rounds(outputs, logsumexps):
    masses = logsumexps.to(outputs.dtype)
    nobody = masses.isneginf().all(dim=-2, keepdim=True)
    weights = nn.Softmax(dim=-2)(masses.masked_fill(nobody, 0)).masked_fill(nobody, 0)
    return outputs.movedim(-3, -1).matmul(weights.movedim(-2, -1).unsqueeze(-1)).squeeze(-1)


class LSHAttention(nn.Module):
    def __init__(self, d_model, num_heads, bucket_size=64, n_hashes=4, causal=False):
        super().__init__()
        if d_model // num_heads * num_heads != d_model:
            raise ValueError(f"d_model={d_model}, num_heads={num_heads}")
        self.W_qk, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(3))
        self.heads, self.bucket_size, self.n_hashes, self.causal = (
            num_heads,
            bucket_size,
            n_hashes,
            causal,
        )

    def forward(self, x, rotations=None, generator=None):
        batch, length, width = x.shape
        if length % self.bucket_size > 0:
            raise ValueError(f"T = {length}")
        size = width // self.heads
        if rotations is None:
            half = -(-(length // self.bucket_size) // 2)
            rotations = torch.randn(self.n_hashes, size, half, device=x.device, generator=generator)
        qk, v = (
            w(x).view(batch, length, self.heads, size).permute(0, 2, 1, 3)
            for w in (self.W_qk, self.W_v)
        )
        y = lsh_attention(qk, v, rotations, self.bucket_size, causal=self.causal)
        return self.W_o(y.permute(0, 2, 1, 3).reshape(batch, length, width))
