"""Windows by padding one chunk in front and unfolding; functional calls."""

import torch
import torch.nn.functional as F


def sort_by_bucket(buckets):
    order = torch.sort(buckets, dim=-1, stable=True)[1]
    inverse = torch.zeros_like(order)
    inverse.scatter_(
        -1, order, torch.arange(order.size(-1), device=order.device).repeat(*order.shape[:-1], 1)
    )
    return order, inverse


def hash_vectors(x, rotations):
    both = torch.cat([rotations, -rotations], dim=-1).to(
        torch.promote_types(torch.float32, x.dtype)
    )
    return (x.to(both.dtype)[..., None, :, :] @ both).argmax(-1)


def combine_rounds(outputs, logsumexps):
    empty = logsumexps.isneginf().all(-2, keepdim=True)
    masses = logsumexps.masked_fill(empty, 0.0)
    weights = torch.exp(masses - torch.logsumexp(masses, dim=-2, keepdim=True)) * ~empty
    return (outputs * weights.unsqueeze(-1).type_as(outputs)).sum(-3)


def _window(rows, bucket_size, fill):
    """(..., T, f) -> (..., n_chunks, 2 bucket_size, f)"""
    padded = F.pad(rows, (0, 0, bucket_size, 0), value=fill)
    return padded.unfold(-2, 2 * bucket_size, bucket_size).transpose(-1, -2)


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    length, d = qk.shape[-2], qk.shape[-1]
    if divmod(length, bucket_size)[1]:
        raise ValueError(f"not divisible: {length} by {bucket_size}")
    wide = torch.promote_types(qk.dtype, torch.float32)
    buckets = hash_vectors(qk, rotations)
    order, inverse = sort_by_bucket(buckets)
    tags = torch.stack([buckets.gather(-1, order), order], dim=-1)

    def pick(x):
        index = order[..., None].expand(*order.shape, x.shape[-1])
        return x[..., None, :, :].expand(*index.shape).gather(-2, index)

    query = pick(qk.to(wide)).unflatten(-2, (length // bucket_size, bucket_size))
    key = _window(pick(F.normalize(qk.to(wide), dim=-1)), bucket_size, 0.0)
    value = _window(pick(v.to(wide)), bucket_size, 0.0)
    mine = tags.unflatten(-2, (length // bucket_size, bucket_size)).unsqueeze(-2)
    theirs = _window(tags, bucket_size, -1).unsqueeze(-3)
    scores = (query / d**0.5) @ key.mT
    ok = mine[..., 0] == theirs[..., 0]
    if causal:
        ok = ok.logical_and(theirs[..., 1].le(mine[..., 1]))
    scores = scores.masked_fill(ok.logical_not(), -torch.inf)
    scores = scores.sub((mine[..., 1] == theirs[..., 1]).to(wide).mul(1e5))
    lse = scores.logsumexp(-1, keepdim=True)
    answer = torch.cat([(scores - lse).exp() @ value, lse], dim=-1).flatten(-3, -2)
    answer = answer.gather(-2, inverse[..., None].expand(answer.shape))
    return combine_rounds(answer[..., :-1], answer[..., -1]).to(v.dtype)
