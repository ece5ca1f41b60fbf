"""Einsum throughout; distinct sort keys, bucket * T + position; the way back by scatter."""

import torch
import torch.nn as nn


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    scores_per_query = {"full": seq_len, "lsh": 2 * bucket_size * n_hashes}
    if kind not in scores_per_query:
        raise ValueError(f"unknown kind: {kind}")
    return int(seq_len * scores_per_query[kind] * bytes_per_element)


def hash_vectors(x, rotations):
    wide = torch.promote_types(x.dtype, torch.float32)
    xr = torch.einsum("...td,hdk->...htk", x.to(wide), rotations.to(wide))
    return torch.argmax(torch.cat((xr, -xr), dim=-1), dim=-1)


def sort_by_bucket(buckets):
    length = buckets.shape[-1]
    place = torch.arange(length, device=buckets.device)
    order = torch.argsort(buckets.long() * length + place, dim=-1)
    inverse = torch.empty_like(order).scatter_(-1, order, place.expand_as(order).contiguous())
    return order, inverse


def combine_rounds(outputs, logsumexps):
    alone = torch.isneginf(logsumexps).all(-2, keepdim=True)
    weights = torch.softmax(torch.where(alone, 0.0, logsumexps), dim=-2).to(outputs.dtype) * ~alone
    return torch.einsum("...rt,...rtv->...tv", weights, outputs)


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    *lead, length, d = qk.shape
    if length % bucket_size:
        raise ValueError(f"T={length} cannot be cut into chunks of {bucket_size}")
    wide = torch.promote_types(qk.dtype, torch.float32)
    n_chunks, n_hashes = length // bucket_size, rotations.shape[0]
    buckets = hash_vectors(qk, rotations)
    order, inverse = sort_by_bucket(buckets)

    def chunk(rows):
        width = rows.shape[-1]
        index = order.unsqueeze(-1).expand(*order.shape, width)
        rows = rows.unsqueeze(-3).expand(*lead, n_hashes, length, width)
        return rows.gather(-2, index).reshape(*lead, n_hashes, n_chunks, bucket_size, width)

    def back(chunks):
        return torch.roll(chunks, 1, dims=-3)

    q = chunk(qk.to(wide))
    k = chunk(nn.functional.normalize(qk.to(wide), dim=-1))
    w = chunk(v.to(wide))
    k2, w2 = torch.cat([back(k), k], -2), torch.cat([back(w), w], -2)
    place = order.reshape(*lead, n_hashes, n_chunks, bucket_size, 1)
    label = buckets.gather(-1, order).reshape(place.shape)
    place2 = torch.cat([back(place), place], -2).squeeze(-1)
    label2 = torch.cat([back(label), label], -2).squeeze(-1)

    scores = torch.einsum("...id,...jd->...ij", q, k2) * d**-0.5
    scores = scores - 1e5 * (place == place2.unsqueeze(-2)).to(wide)
    hidden = label != label2.unsqueeze(-2)
    before_the_first = torch.zeros(n_chunks, 1, 2 * bucket_size, dtype=torch.bool, device=qk.device)
    before_the_first[0, :, :bucket_size] = True
    hidden = hidden | before_the_first
    if causal:
        hidden = hidden | (place2.unsqueeze(-2) > place)
    scores = scores.masked_fill(hidden, float("-inf"))
    lse = torch.logsumexp(scores, dim=-1)
    out = torch.einsum("...ij,...jv->...iv", torch.softmax(scores, -1), w2)
    out = out.reshape(*lead, n_hashes, length, v.shape[-1])
    out = out.gather(-2, inverse.unsqueeze(-1).expand(out.shape))
    lse = lse.reshape(*lead, n_hashes, length).gather(-1, inverse)
    return combine_rounds(out, lse).to(v.dtype)
