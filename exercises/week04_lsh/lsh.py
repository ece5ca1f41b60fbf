"""Week 4: attention for long sequences by locality-sensitive hashing.

Full attention compares every position with every other one, and its score matrix grows with the
square of the length. This module avoids that as the Reformer does (Kitaev, Kaiser and
Levskaya, 2020, "Reformer: The Efficient Transformer", section 2): hash every vector so that similar
ones share a bucket, sort the positions by bucket, and let each position attend only to its own
chunk and the previous one. Several rounds of hashing find keys that one round misses.

Shapes: ``B`` batch, ``H`` heads, ``T`` sequence length, ``C`` model size, ``d`` head size, ``d_v``
value size, ``...`` any number of leading dimensions, including none.

Not allowed this week: calls of a library's `scaled_dot_product_*`, `*multi_head_attention*`,
`MultiheadAttention`, `flex_attention` and `torch.onnx.ops.*` (`*` matches anything), under any
alias. Such a call does the exercise for you and costs all of its points.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files that you
submit. Other libraries are not available during grading.
"""

from __future__ import annotations

import math

import torch
from torch import nn


def attention_memory(
    seq_len: int,
    kind: str = "full",
    bucket_size: int = 64,
    n_hashes: int = 1,
    bytes_per_element: int = 4,
) -> int:
    """Compute the bytes of the attention scores of one head.

    Args:
        seq_len: number of positions n.
        kind: ``"full"`` for n x n scores; ``"lsh"`` if, in each of ``n_hashes`` rounds, each
            position is compared with the two chunks of ``bucket_size`` positions that it may
            attend to; the first chunk counts like all others.
        bucket_size: positions in a chunk.
        n_hashes: rounds of hashing.
        bytes_per_element: size of one score, 4 for float32.

    Returns:
        The number of bytes, a whole number.

    Raises:
        ValueError: ``kind`` is neither ``"full"`` nor ``"lsh"``; the message names it.
    """
    # TODO: count the scores of each kind, then multiply by their size; refuse an unknown kind.
    raise NotImplementedError("attention_memory")


def hash_vectors(x: torch.Tensor, rotations: torch.Tensor) -> torch.Tensor:
    """Compute the bucket of every vector in every round: argmax over [xR ; -xR].

    Random rotations make a hash of angles (Andoni et al., 2015; Reformer, section 2, "Locality
    sensitive hashing"): vectors of similar direction probably share a bucket.

    Args:
        x: vectors, (..., T, d).
        rotations: one random matrix R per round, (n_hashes, d, n_buckets / 2); converted to the
            dtype of the hash, which is that of ``x``, or float32 if ``x`` is narrower.

    Returns:
        Bucket numbers from 0 to n_buckets - 1, (..., n_hashes, T), int64.
    """
    # TODO: rotate every vector in every round, append the negated result, and find the index of the
    # largest entry.
    raise NotImplementedError("hash_vectors")


def sort_by_bucket(buckets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sort positions by bucket, and within a bucket by position; return the order and its inverse.

    Args:
        buckets: bucket numbers, (..., T); each row of T is sorted separately.

    Returns:
        order: int64, (..., T); ``order[..., s]`` is the position that comes s-th.
        inverse: int64, (..., T); ``inverse[..., t]`` is the place at which position t comes, so
            that ``order.gather(-1, inverse)`` is 0, 1, ..., T-1.
    """
    # TODO: sort so that ties keep their order, then find the permutation that undoes the sort.
    raise NotImplementedError("sort_by_bucket")


def combine_rounds(outputs: torch.Tensor, logsumexps: torch.Tensor) -> torch.Tensor:
    """Combine the outputs of several rounds, weighted by the softmax of their logsumexps.

    The logsumexp of a round is the logarithm of its softmax's denominator, so these weights
    give the result of a single softmax over the keys of all rounds (Reformer, section 2,
    "Multi-round LSH attention").

    Args:
        outputs: each round's attention output, (..., n_hashes, T, d_v).
        logsumexps: each round's logsumexp of the scores, (..., n_hashes, T).

    Returns:
        (..., T, d_v), in the dtype of ``outputs``. A position whose logsumexp is -inf in every
        round has no visible key and gets zeros, in the gradients too.
    """
    # TODO: softmax over the axis of rounds, then the weighted sum over that axis.
    raise NotImplementedError("combine_rounds")


def lsh_attention(
    qk: torch.Tensor,
    v: torch.Tensor,
    rotations: torch.Tensor,
    bucket_size: int,
    causal: bool = False,
) -> torch.Tensor:
    """Compute shared-QK attention within hash buckets (Reformer, section 2, "LSH attention").

    The queries are ``qk`` and the keys are ``qk`` scaled to unit length (a zero vector stays zero).
    In each round the positions are sorted by bucket and split into chunks of ``bucket_size``.
    Position i may see position j if both have the same bucket, j's chunk is i's chunk or the
    previous one in sorted order (the first chunk has no previous one), and, if ``causal``, j <= i.
    Scores are q.k / sqrt(d), in at least float32; a position's score with itself is lowered by 1e5,
    so that it attends to itself only if it sees no other key. The rounds are restored to the
    original order and combined by ``combine_rounds``; a key found in two rounds counts twice.

    Args:
        qk: shared queries and keys, (..., T, d).
        v: values, (..., T, d_v).
        rotations: one random matrix per round, (n_hashes, d, n_buckets / 2).
        bucket_size: positions in a chunk.
        causal: whether a position may not see those after it.

    Returns:
        (..., T, d_v), in the dtype of the inputs. No tensor made on the way has T x T elements.

    Raises:
        ValueError: T is not divisible by ``bucket_size``; the message says which T.
    """
    # TODO: hash, sort, split into chunks, attend to this chunk and the previous one, undo the sort,
    # combine the rounds. Start with a helper that returns the windows of two chunks.
    raise NotImplementedError("lsh_attention")


class LSHAttention(nn.Module):
    """Multi-head LSH attention: bias-free ``W_qk``, ``W_v`` and ``W_o``, each Linear(C, C).

    Args:
        d_model: model size C, divisible by ``num_heads``.
        num_heads: number of heads H; each has size d = C / H.
        bucket_size: positions in a chunk.
        n_hashes: rounds of hashing.
        causal: whether a position may not see those after it.

    Raises:
        ValueError: ``d_model`` is not divisible by ``num_heads``; the message names ``d_model``.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        bucket_size: int = 64,
        n_hashes: int = 4,
        causal: bool = False,
    ) -> None:
        super().__init__()
        # TODO: check the sizes, store them, create the three projections without bias.
        raise NotImplementedError("LSHAttention.__init__")

    def forward(
        self,
        x: torch.Tensor,
        rotations: torch.Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> torch.Tensor:
        """Compute LSH self-attention of x, with the same rotations for all heads and sequences.

        Args:
            x: (B, T, C), T divisible by ``bucket_size``.
            rotations: (n_hashes, d, n_buckets / 2). If None, they are drawn with
                ``torch.randn(n_hashes, d, n_buckets // 2, generator=generator)`` on x's device in
                the default dtype, with n_buckets = T / bucket_size rounded up to an even number.
            generator: random generator, on x's device; None uses torch's global one.

        Returns:
            (B, T, C).

        Raises:
            ValueError: T is not divisible by ``bucket_size``.
        """
        # TODO: check T, draw rotations if they are None, project, split the heads, attend,
        # merge the heads, project.
        raise NotImplementedError("LSHAttention.forward")
