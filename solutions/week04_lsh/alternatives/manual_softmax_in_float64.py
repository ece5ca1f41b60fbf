"""Everything in float64 inside; softmax by hand, masks by torch.where, sums for products."""

import torch


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind not in {"full", "lsh"}:
        raise ValueError(f"kind={kind!r}")
    width = seq_len if kind == "full" else 2 * n_hashes * bucket_size
    return seq_len * width * bytes_per_element


def hash_vectors(x, rotations):
    rotated = (x.double()[..., None, :, :, None] * rotations.double()[:, None, :, :]).sum(-2)
    best, bucket = rotated.max(-1)
    worst, opposite = rotated.min(-1)
    return torch.where(best >= -worst, bucket, opposite + rotations.shape[-1])


def sort_by_bucket(buckets):
    earlier = torch.arange(buckets.shape[-1], device=buckets.device)
    order = torch.sort(buckets.double() + earlier / (2.0 * buckets.shape[-1]), dim=-1)[1]
    return order, torch.sort(order, dim=-1)[1]


def combine_rounds(outputs, logsumexps):
    lse = logsumexps.double()
    top = lse.max(dim=-2, keepdim=True).values.detach()
    mass = torch.exp(lse - torch.where(torch.isinf(top), 0.0, top))
    total = mass.sum(dim=-2, keepdim=True)
    share = mass / torch.where(total == 0, 1.0, total)
    return (share[..., None] * outputs.double()).sum(dim=-3).to(outputs.dtype)


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    length, d = qk.shape[-2:]
    if length % bucket_size != 0:
        raise ValueError(f"qk has {length} rows, and {length} % {bucket_size} is not 0")
    order, inverse = sort_by_bucket(hash_vectors(qk, rotations))
    place = torch.arange(length, device=qk.device)
    first = (place // bucket_size - 1) * bucket_size
    window = first[:, None] + torch.arange(2 * bucket_size, device=qk.device)
    exists = (window >= 0) & (window // bucket_size <= place[:, None] // bucket_size)
    window = window.clamp(
        min=0
    )  # (T, 2 bucket_size): places in sorted order that each place may look at

    def rows(x):
        return torch.take_along_dim(x.double().unsqueeze(-3), order.unsqueeze(-1), -2)

    queries, values = rows(qk), rows(v)
    norms = queries.square().sum(-1, keepdim=True)
    keys = queries / torch.where(norms == 0, 1.0, norms).sqrt()
    sorted_buckets = hash_vectors(qk, rotations).gather(-1, order)
    scores = (queries.unsqueeze(-2) * keys[..., window, :]).sum(-1) / d**0.5
    seen = order[..., window]
    scores = scores - torch.where(seen == order.unsqueeze(-1), 1e5, 0.0)
    visible = exists & (sorted_buckets[..., window] == sorted_buckets.unsqueeze(-1))
    if causal:
        visible = visible & (seen <= order.unsqueeze(-1))
    scores = torch.where(visible, scores, -torch.inf)
    top = scores.max(-1, keepdim=True).values
    mass = (scores - top).exp()
    total = mass.sum(-1, keepdim=True)
    out = ((mass / total).unsqueeze(-1) * values[..., window, :]).sum(-2)
    lse = (top + total.log()).squeeze(-1)
    out = torch.take_along_dim(out, inverse.unsqueeze(-1), -2)
    return combine_rounds(out, lse.gather(-1, inverse)).to(v.dtype)
