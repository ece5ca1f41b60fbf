"""Week 13: a cache that fits.

You make the memory of attention smaller, as large models do: with a cache that keeps a window and
a few first positions, with a cache of latent vectors instead of keys and values, and with codes of
4 or 8 bits instead of floats. The electives are a router that chooses which weights a token uses,
and attention on a ring of devices, each of which stores one block of the sequence.

Shapes: `B` batch, `H` heads, `T` positions so far, `s` new positions, `m` stored positions, `C`
width of the model (`d_model`), `d` width of a head, `d_c` width of a latent vector, `d_r` width of
a rotary query or key. Positions count from 0 at the beginning of the sequence.

Conventions: half-precision inputs are converted to float32 before scores, sums or scales are
computed, and float64 inputs stay float64; outputs are converted back. Inputs are never changed.

Not allowed this week: calls of a library's `scaled_dot_product_*`, `*multi_head_attention*`,
`MultiheadAttention`, `flex_attention`, `torch.onnx.ops.*`, `quantize_per_*` and
`*fake_quantize*` (`*` matches anything), under any alias. Such a call does the exercise for you
and costs all of its points.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files that you
submit. Other libraries are not available during grading.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F

Quantized = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def rotary_frequencies(d: int, base: float = 10000.0) -> torch.Tensor:
    """Provided, from week 10: the d/2 frequencies of rotary positions, in radians per position."""
    return (base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)).float()


def rotate(x: torch.Tensor, positions: torch.Tensor, frequencies: torch.Tensor) -> torch.Tensor:
    """Provided, from week 10: rotate the pairs (2i, 2i + 1) by position · frequencies[i].

    x (B, H, s, d), positions (s,), frequencies (d/2,) on x's device -> (B, H, s, d) in x's dtype.
    """
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[:, None] * frequencies.to(wide)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide).unflatten(-1, (-1, 2)).unbind(-1)
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)


class RollingCache:
    """The keys and values of one layer: the first `sinks` and the last `window` positions.

    Memory is bounded: between calls, the cache stores at most sinks + window positions, each once,
    and no tensor keeps the memory of another one alive. Keys are stored as they are passed, without
    rotary positions (Xiao et al., 2024, §3.2), in their dtype and on their device. If the caller
    changes them afterwards, the cache does not change.

    Attributes:
        length: the number of positions appended so far, stored or not, an int. It starts at 0.

    Raises:
        ValueError: window is below 1 or sinks below 0; the message contains the number.
    """

    def __init__(self, window: int, sinks: int = 0) -> None:
        # TODO: check the numbers; the cache is empty until the first append.
        raise NotImplementedError("RollingCache.__init__")

    def append(
        self, k: torch.Tensor, v: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Add s >= 1 positions; return what was stored before, followed by the new positions.

        The new queries need all of these, because the first of them looks back a whole window. Only
        then are positions evicted. There may be more new positions than the window is long.
        Gradients need not pass through the cache.

        Args:
            k: new keys, (B, H, s, d), not rotated.
            v: new values, (B, H, s, d_v).

        Returns:
            keys (B, H, m + s, d), values (B, H, m + s, d_v) and their positions in the sequence,
            int64 (m + s,), ascending, on k's device. Later appends do not change these tensors.
        """
        # TODO: positions of the new keys; join with what is stored; keep the first and the last.
        raise NotImplementedError("RollingCache.append")


def sink_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    positions: torch.Tensor,
    window: int,
    sinks: int,
    frequencies: torch.Tensor,
) -> torch.Tensor:
    """Attend from new queries to a window and to attention sinks, with positions in the cache.

    The last s keys belong to the s queries. The query at position p sees the keys at positions
    a <= p with p - a < window, and those with a < min(sinks, p + 1). Rotary positions are counted
    within the cache that this query sees (Xiao et al., 2024, §3.2), where they have no gaps:
    the query is at c = min(p, window + sinks - 1), a sink at its own position a, and every other
    key at c - (p - a). The rotations depend only on these, so p may exceed all trained positions.

    Args:
        q: new queries, (B, H, s, d), not rotated.
        k: keys, (B, H, m, d), not rotated, m >= s. They include all keys that a query sees; some
            may be visible to no query.
        v: values, (B, H, m, d_v).
        positions: int64 (m,), ascending: the positions of the keys in the sequence.
        window: number of positions that a query sees, including its own.
        sinks: number of first positions that every later query sees as well.
        frequencies: (d/2,), of the rotary positions.

    Returns:
        (B, H, s, d_v), in v's dtype: softmax attention with the scale 1/√d. Feeding a sequence in
        chunks gives the same outputs as feeding it at once.

    Raises:
        ValueError: the number of positions differs from the number of keys; the message contains
            the number of positions.
    """
    # TODO: the distance of a query and a key in its window does not depend on c, so two score
    # matrices are enough: one for the window, one for the sinks. Then mask, softmax, values.
    raise NotImplementedError("sink_attention")


class MultiHeadLatentAttention(nn.Module):
    """Causal attention whose cache is one latent vector and one rotary key per token.

    This is the attention of DeepSeek-V2 (DeepSeek-AI, 2024, §2.1.2 and §2.1.3) without its
    compression of queries. All layers are Linear without a bias, and d = d_model / n_heads:

    - `W_q`: C to n_heads · d, and `W_qr`: C to n_heads · d_r: two queries for each head;
    - `W_dkv`: C to d_c: the latent vector, from which `W_uk` and `W_uv`, both d_c to n_heads · d,
      compute the keys and values of all heads;
    - `W_kr`: C to d_r: one key for all heads;
    - `W_o`: n_heads · d to C.

    Only the queries of W_qr and the keys of W_kr are rotated, with `rotary_frequencies(d_r)`. The
    score of a query and a key is (q · k + q_r · k_r) / √(d + d_r).

    Raises:
        ValueError: d_model is not divisible by n_heads, or d_rope is odd; the message contains
            d_model or d_rope.
    """

    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        # TODO: check the sizes, make the seven layers.
        raise NotImplementedError("MultiHeadLatentAttention.__init__")

    def forward(
        self, x: torch.Tensor, cache: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Continue a sequence by s positions: all of them at once, or one at a time.

        Heads are consecutive blocks of features, as in week 3. The module stores nothing between
        calls, and the given cache is not changed.

        Args:
            x: (B, s, C).
            cache: (B, T, d_c + d_r), returned by the call for the previous T positions; None at the
                beginning of a sequence.

        Returns:
            y (B, s, C), and the cache of all T + s positions, (B, T + s, d_c + d_r): for each token
            its latent vector, followed by its rotated key.
        """
        # TODO: extend the cache; keys and values of all heads from it; two products; mask; attend.
        raise NotImplementedError("MultiHeadLatentAttention.forward")


def quantize_kv(k: torch.Tensor, v: torch.Tensor, bits: int = 4) -> tuple[Quantized, Quantized]:
    """Round keys per channel and values per token to 2^bits levels (Liu et al., 2024, §3).

    The levels of a group of numbers are equally spaced from its minimum, `zero`, to its maximum:
    code = round((x - zero) / scale) with scale = (maximum - minimum) / (2^bits - 1). If all numbers
    of a group are equal, its scale is 1. Keys have a group for each feature, over all positions of
    a sequence and head; values have a group for each position, over all of its features.

    Args:
        k: keys, (B, H, T, d).
        v: values, (B, H, T, d_v).
        bits: 4 or 8.

    Returns:
        (codes, scale, zero) of the keys, then of the values. Codes are uint8: (B, H, T, d) for 8
        bits, and (B, H, T, d/2) for 4, where byte i is code 2i plus 16 times code 2i + 1. Scale and
        zero are (B, H, 1, d) for keys and (B, H, T, 1) for values, in float32, or in float64 for
        float64 inputs.

    Raises:
        ValueError: bits is neither 4 nor 8, or d or d_v is odd for 4 bits; the message contains
            bits, or the odd width.
    """
    # TODO: check the arguments; for keys and values: range over the right axis, codes, bytes.
    raise NotImplementedError("quantize_kv")


def dequantize_kv(
    keys: Quantized, values: Quantized, bits: int = 4, dtype: torch.dtype = torch.float32
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute keys and values from their codes: zero + scale · code.

    Args:
        keys, values: as `quantize_kv` returns them, for the same number of bits.
        bits: 4 or 8.
        dtype: dtype of the result. Everything is computed in the dtype of scale, then converted.

    Returns:
        k (B, H, T, d) and v (B, H, T, d_v), in `dtype`.
    """
    # TODO: for 4 bits, two codes from each byte, interleaved; then one line.
    raise NotImplementedError("dequantize_kv")


def route_tokens(
    logits: torch.Tensor, k: int, capacity: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Choose k experts for each token, with at most `capacity` choices per expert.

    Probabilities are a softmax over the E experts. A token chooses the k most likely experts. The
    places of an expert are filled first by all tokens' first choices, in the order of the tokens,
    then by their second choices, and so on. Choices that find no place are dropped (Fedus et al.,
    2022, §2.2, for k = 1; Lepikhin et al., 2021, §2.2, for the order with k = 2).

    The load-balancing loss is E · Σ_e f_e · P_e (Fedus et al., equations 4 to 6, without their
    coefficient), where f_e is the share of the T · k choices that fall on expert e, dropped ones
    included, and P_e is its mean probability over all tokens.

    Args:
        logits: (T, E), T tokens and E experts.
        k: number of experts per token, 1 to E.
        capacity: number of places of each expert, at least 1.

    Returns:
        experts: int64 (T, k), most likely first.
        weights: (T, k), the probabilities of the chosen experts, not renormalised; 0 for dropped
            choices. In float32, or in float64 for float64 logits.
        slots: int64 (T, k), the place within the expert, counted from 0; -1 for dropped choices.
        loss: a scalar, in the dtype of the weights.

    Raises:
        ValueError: k is not between 1 and E, or capacity is below 1; the message contains the
            number.
    """
    # TODO: softmax, topk; one-hot choices in the order of filling, and a running count; the loss.
    raise NotImplementedError("route_tokens")


def ring_attention(
    q: Sequence[torch.Tensor],
    k: Sequence[torch.Tensor],
    v: Sequence[torch.Tensor],
    causal: bool = True,
) -> list[torch.Tensor]:
    """Compute attention over a sequence whose blocks are stored by the n devices of a ring.

    Device r starts with the queries, keys and values of block r. In each of n steps, it attends
    from its queries to one block of keys and values, and merges the result with those of the steps
    before. Meanwhile it sends that block to the next device (the last device to the first), and
    receives the block for its next step (Liu et al., 2023, §3). Here, a loop over devices takes the
    place of the ring, so blocks need not be copied.

    Each step computes with one block of keys and values: no tensor is larger than one block, its
    outputs, or the scores of one block of queries with one block of keys. In causal attention, no
    scores are computed with a block that lies in the future of all queries.

    Args:
        q, k: n blocks of (B, H, s_r, d); blocks may have different sizes s_r.
        v: n blocks of (B, H, s_r, d_v).
        causal: position i of the whole sequence attends to positions 0 … i; otherwise to all.

    Returns:
        n blocks of outputs, (B, H, s_r, d_v) in v's dtype: softmax attention with the scale 1/√d.

    Raises:
        ValueError: q, k and v have different numbers of blocks; the message contains one of them.
    """
    # TODO: for each step and device: scores of one block, their logsumexp, a merge as in week 4.
    raise NotImplementedError("ring_attention")
