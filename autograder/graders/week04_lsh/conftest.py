"""Inputs that every correct program hashes to the same buckets.

Correct programs may round differently, and a vector between two buckets may then fall into either.
These fixtures create inputs with unambiguous buckets: `planted` chooses the bucket of every
position, `clear` keeps only vectors whose largest rotated entry leads by a margin.

A position that is alone in every round has scores near -1e5, where float32 values are 0.008 apart,
so correct programs agree only to about 0.01 there. Tests either ensure that every position sees
another one in some round (`company`), or use one round (where the score does not matter), or
compare in float64.
"""

import math

import pytest
import torch


@pytest.fixture
def planted(draw):
    """Return a function that creates vectors in chosen buckets.

    `planted(rounds, *lead, n_buckets=4)` -> x (*lead, T, d), rotations. `rounds[r][t]` is the
    bucket of position t in round r. Each round reads separate columns of x, and none reads the last
    column, so d is n_hashes * n_buckets / 2 + 1. The largest rotated entry leads by at least 2.
    """

    def make(rounds, *lead, n_buckets=4):
        half, buckets = n_buckets // 2, torch.tensor(rounds)
        n_hashes, length = buckets.shape
        size = n_hashes * half + 1
        x = draw.uniform(*lead, length, size, low=-1.0, high=1.0)
        for r in range(n_hashes):
            sign = torch.where(buckets[r] < half, 3.0, -3.0).to(x.dtype)
            x[..., torch.arange(length), r * half + buckets[r] % half] = sign
        rotations = torch.eye(size).unflatten(1, (size,))[:, : n_hashes * half]
        return x, rotations.reshape(size, n_hashes, half).transpose(0, 1).contiguous()

    return make


@pytest.fixture
def clear(draw):
    """Return a function that draws vectors with unambiguous hashes.

    `clear(rotations, *shape)` -> x of shape (..., T, d). `project`, if given, maps rows of x to the
    vectors that are hashed (any shape ending in d), as in a module. With `bucket_size`, every
    position sees another one in at least one round.
    """

    def make(rotations, *shape, project=None, bucket_size=None, margin=0.05):
        def search():
            return _clear(draw, rotations, shape, project or _as_it_is, bucket_size, margin)

        if project is not None:  # a function cannot be part of the cache key
            return search()
        return draw.found(search, _bytes_of(rotations), shape, bucket_size, margin)

    return make


def _clear(draw, rotations, shape, project, bucket_size, margin):
    count = math.prod(shape[:-1])
    for _ in range(200):
        pool = draw.normal(40 * count, shape[-1])
        vectors = project(pool.double())
        safe = (_lead(vectors, rotations.double()) > margin).reshape(len(pool), -1).all(-1)
        x = pool[safe][:count].reshape(shape)
        if bucket_size is None or company(
            _buckets(project(x.double()), rotations.double()), bucket_size
        ):
            return x
    raise RuntimeError("no input was found on which all right programs agree")


def _as_it_is(rows):
    return rows


def _bytes_of(x):
    return str(x.dtype), tuple(x.shape), x.contiguous().view(torch.uint8).numpy().tobytes()


def _rotated(vectors, rotations):
    """Return [xR ; -xR] for every round: (..., d) -> (..., n_hashes, n_buckets)."""
    turned = torch.einsum("...d,hdk->...hk", vectors, rotations)
    return torch.cat([turned, -turned], dim=-1)


def _lead(vectors, rotations):
    """Return (largest - second largest) / (|x| |r|), r: R's longest column, (..., n_hashes)."""
    best = _rotated(vectors, rotations).topk(2, dim=-1).values
    largest = vectors.norm(dim=-1, keepdim=True) * rotations.norm(dim=1).amax(-1)
    return (best[..., 0] - best[..., 1]) / largest


def _buckets(vectors, rotations):
    """Return the buckets: (B, T, d) -> (B, n_hashes, T), or (B, T, H, d) -> (B, H, n_hashes, T)."""
    heads_first = vectors if vectors.ndim < 4 else vectors.transpose(-3, -2)
    return _rotated(heads_first, rotations).argmax(-1).transpose(-1, -2)


def company(buckets, bucket_size):
    """Return True if every position sees another one in some round, without a causal mask."""
    order = buckets.argsort(dim=-1, stable=True)
    chunk = order.argsort(dim=-1) // bucket_size
    back = chunk.unsqueeze(-1) - chunk.unsqueeze(-2)
    sees = (buckets.unsqueeze(-1) == buckets.unsqueeze(-2)) & (back >= 0) & (back <= 1)
    sees &= ~torch.eye(buckets.shape[-1], dtype=torch.bool)
    return bool(sees.any(-1).any(-2).all())
