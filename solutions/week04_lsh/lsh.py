"""Week 4: attention for long sequences by locality-sensitive hashing.

Full attention compares every position with every other one, and its score matrix grows with the
square of the length. This module avoids that as the Reformer does (Kitaev, Kaiser and
Levskaya, 2020, "Reformer: The Efficient Transformer", section 2): hash every vector so that similar
ones share a bucket, sort the positions by bucket, and let each position attend only to its own
chunk and the previous one. Several rounds of hashing find keys that one round misses.

Shapes: ``B`` batch, ``H`` heads, ``T`` sequence length, ``C`` model size, ``d`` head size, ``d_v``
value size, ``...`` any number of leading dimensions, including none.
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
    # BEGIN SOLUTION
    if kind == "full":
        scores = seq_len * seq_len
    elif kind == "lsh":
        scores = n_hashes * seq_len * 2 * bucket_size
    else:
        raise ValueError(f"kind must be 'full' or 'lsh', not {kind!r}")
    return scores * bytes_per_element
    # END SOLUTION


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
    # BEGIN SOLUTION
    dtype = torch.promote_types(x.dtype, torch.float32)
    vectors = x.detach().to(dtype).unsqueeze(-3)  # (..., 1, T, d)
    rotated = vectors @ rotations.detach().to(dtype)  # (..., n_hashes, T, n_buckets / 2)
    return torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1)
    # END SOLUTION


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
    # BEGIN SOLUTION
    order = buckets.argsort(dim=-1, stable=True)
    return order, order.argsort(dim=-1)
    # END SOLUTION


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
    # BEGIN SOLUTION
    dtype = torch.promote_types(outputs.dtype, torch.float32)
    logits = logsumexps.to(dtype)
    nothing = (logits == -torch.inf).all(dim=-2, keepdim=True)
    weights = logits.masked_fill(nothing, 0.0).softmax(dim=-2).masked_fill(nothing, 0.0)
    return (weights.unsqueeze(-1) * outputs.to(dtype)).sum(dim=-3).to(outputs.dtype)
    # END SOLUTION


# BEGIN SOLUTION
def _unit_length(x: torch.Tensor) -> torch.Tensor:
    """Vectors (..., d) scaled to length 1; a zero vector stays zero."""
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x / length.masked_fill(length == 0, 1.0)


def _sorted_chunks(x: torch.Tensor, order: torch.Tensor, bucket_size: int) -> torch.Tensor:
    """Rows of x (..., T, f) in sorted order, cut: (..., n_hashes, n_chunks, bucket_size, f)."""
    in_order = torch.take_along_dim(x.unsqueeze(-3), order.unsqueeze(-1), dim=-2)
    return in_order.unflatten(-2, (-1, bucket_size))


def _look_back(chunks: torch.Tensor, nothing: int = 0) -> torch.Tensor:
    """Each chunk behind the one before it: (..., n_chunks, 2 bucket_size, f).

    Before the first there is `nothing`.
    """
    first = torch.full_like(chunks[..., :1, :, :], nothing)
    before = torch.cat([first, chunks[..., :-1, :, :]], dim=-3)
    return torch.cat([before, chunks], dim=-2)


def _in_original_order(chunks: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    """Undoes `_sorted_chunks`: (..., n_chunks, bucket_size, f) -> (..., T, f)."""
    return torch.take_along_dim(chunks.flatten(-3, -2), inverse.unsqueeze(-1), dim=-2)


def _may_see(positions: torch.Tensor, buckets: torch.Tensor, causal: bool) -> torch.Tensor:
    """Which keys of its window each query may see: (..., n_chunks, bucket_size, 2 bucket_size).

    `positions` and `buckets` are chunks of one feature; a bucket of -1 fills the place before the
    first chunk.
    """
    visible = buckets == _look_back(buckets, nothing=-1).transpose(-2, -1)
    if causal:
        visible = visible & (_look_back(positions).transpose(-2, -1) <= positions)
    return visible


def _scores(queries: torch.Tensor, keys: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Scaled scores of each chunk with its window, a position's score with itself lowered."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    itself = positions == _look_back(positions, nothing=-1).transpose(-2, -1)
    return torch.where(itself, scores - 1e5, scores)


def _attend(
    scores: torch.Tensor, visible: torch.Tensor, values: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output and logsumexp (with a last axis of 1) of each query.

    Every query sees itself, so no row is empty.
    """
    scores = scores.masked_fill(~visible, -torch.inf)
    return scores.softmax(dim=-1) @ values, scores.logsumexp(dim=-1, keepdim=True)


# END SOLUTION


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
    # BEGIN SOLUTION
    length = qk.shape[-2]
    if length % bucket_size != 0:
        raise ValueError(f"sequence length {length} is not divisible by bucket_size {bucket_size}")
    dtype = torch.promote_types(qk.dtype, torch.float32)
    buckets = hash_vectors(qk, rotations)
    order, inverse = sort_by_bucket(buckets)

    queries = _sorted_chunks(qk.to(dtype), order, bucket_size)
    keys = _look_back(_sorted_chunks(_unit_length(qk.to(dtype)), order, bucket_size))
    values = _look_back(_sorted_chunks(v.to(dtype), order, bucket_size))
    chunked_positions = order.unflatten(-1, (-1, bucket_size)).unsqueeze(-1)
    chunked_buckets = buckets.gather(-1, order).unflatten(-1, (-1, bucket_size)).unsqueeze(-1)

    scores = _scores(queries, keys, chunked_positions)
    visible = _may_see(chunked_positions, chunked_buckets, causal)
    outputs, logsumexps = _attend(scores, visible, values)
    outputs = _in_original_order(outputs, inverse)
    logsumexps = _in_original_order(logsumexps, inverse)
    return combine_rounds(outputs, logsumexps.squeeze(-1)).to(v.dtype)
    # END SOLUTION


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
        # BEGIN SOLUTION
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
        self.num_heads = num_heads
        self.bucket_size = bucket_size
        self.n_hashes = n_hashes
        self.causal = causal
        self.W_qk = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        # END SOLUTION

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
        # BEGIN SOLUTION
        _, length, d_model = x.shape
        if length % self.bucket_size != 0:
            raise ValueError(
                f"sequence length {length} is not divisible by bucket_size {self.bucket_size}"
            )
        if rotations is None:
            n_chunks = length // self.bucket_size
            size = (self.n_hashes, d_model // self.num_heads, (n_chunks + 1) // 2)
            rotations = torch.randn(size, generator=generator, device=x.device)
        qk = self.W_qk(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        v = self.W_v(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = lsh_attention(qk, v, rotations, self.bucket_size, self.causal)
        return self.W_o(attended.transpose(1, 2).flatten(2))
        # END SOLUTION
