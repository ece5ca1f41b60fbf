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
        # BEGIN SOLUTION
        if window < 1:
            raise ValueError(f"window = {window} is below 1")
        if sinks < 0:
            raise ValueError(f"sinks = {sinks} is below 0")
        self.window, self.sinks, self.length = window, sinks, 0
        self.stored: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
        # END SOLUTION

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
        # BEGIN SOLUTION
        positions = torch.arange(self.length, self.length + k.shape[2], device=k.device)
        keys, values = k.detach(), v.detach()
        if self.stored is not None:
            keys = torch.cat([self.stored[0], keys], dim=2)
            values = torch.cat([self.stored[1], values], dim=2)
            positions = torch.cat([self.stored[2], positions])
        self.length += k.shape[2]
        kept = (positions < self.sinks) | (positions >= self.length - self.window)
        self.stored = keys[:, :, kept], values[:, :, kept], positions[kept]  # copies, not views
        return keys, values, positions
        # END SOLUTION


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
    # BEGIN SOLUTION
    if positions.shape != k.shape[2:3]:
        raise ValueError(f"{positions.numel()} positions for {k.shape[2]} keys")
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = q.to(wide), k.to(wide)
    places = positions[-q.shape[2] :]
    capped = places.clamp(max=window + sinks - 1)
    recent = positions - places[0]  # small numbers: float32 angles of large ones are inexact
    near = rotate(query, recent[-q.shape[2] :], frequencies) @ rotate(key, recent, frequencies).mT
    far = rotate(query, capped, frequencies) @ rotate(key, positions, frequencies).mT
    sink, distance = positions < sinks, places[:, None] - positions
    visible = (distance >= 0) & (sink | (distance < window))
    scores = torch.where(sink, far, near) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)
    return (weights @ v.to(wide)).to(v.dtype)
    # END SOLUTION


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
        # BEGIN SOLUTION
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model} is not divisible by {n_heads} heads")
        if d_rope % 2:
            raise ValueError(f"d_rope = {d_rope} is odd: features are rotated in pairs")
        self.n_heads, self.d_latent, self.d_rope = n_heads, d_latent, d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        # END SOLUTION

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
        # BEGIN SOLUTION
        start = 0 if cache is None else cache.shape[1]
        places = start + torch.arange(x.shape[1], device=x.device)
        frequencies = rotary_frequencies(self.d_rope).to(x.device)
        key = rotate(self.W_kr(x).unsqueeze(1), places, frequencies).squeeze(1)
        new = torch.cat([self.W_dkv(x), key], dim=-1)
        cache = new if cache is None else torch.cat([cache, new], dim=1)
        latent, shared = cache.split([self.d_latent, self.d_rope], dim=-1)
        q, q_r, k, v = (
            y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for y in (self.W_q(x), self.W_qr(x), self.W_uk(latent), self.W_uv(latent))
        )
        q_r = rotate(q_r, places, frequencies)
        scores = (q @ k.mT + q_r @ shared.unsqueeze(1).mT) / math.sqrt(k.shape[-1] + self.d_rope)
        later = torch.arange(cache.shape[1], device=x.device) > places[:, None]
        weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), cache
        # END SOLUTION


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
    # BEGIN SOLUTION
    if bits not in (4, 8):
        raise ValueError(f"bits = {bits}: choose 4 or 8")
    quantized = []
    for x, dim in ((k, -2), (v, -1)):
        if bits == 4 and x.shape[-1] % 2:
            raise ValueError(f"a width of {x.shape[-1]} is odd: two codes share a byte")
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        zero = wide.amin(dim, keepdim=True)
        scale = (wide.amax(dim, keepdim=True) - zero) / (2**bits - 1)
        scale = torch.where(scale > 0, scale, 1.0)
        codes = ((wide - zero) / scale).round().to(torch.uint8)
        if bits == 4:
            codes = codes[..., 0::2] + 16 * codes[..., 1::2]
        quantized.append((codes, scale, zero))
    return quantized[0], quantized[1]
    # END SOLUTION


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
    # BEGIN SOLUTION
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((zero + scale * codes).to(dtype))
    return restored[0], restored[1]
    # END SOLUTION


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
    # BEGIN SOLUTION
    tokens, n_experts = logits.shape
    if not 1 <= k <= n_experts:
        raise ValueError(f"k = {k} is not between 1 and {n_experts}")
    if capacity < 1:
        raise ValueError(f"capacity = {capacity} is below 1")
    wide = torch.promote_types(logits.dtype, torch.float32)
    probabilities = torch.softmax(logits.to(wide), dim=-1)
    weights, experts = probabilities.topk(k, dim=-1)
    choices = F.one_hot(experts.T.flatten(), n_experts)  # all first choices, then all second ones
    before = (choices.cumsum(dim=0) - 1).gather(1, experts.T.reshape(-1, 1))
    slots = before.view(k, tokens).T
    dropped = slots >= capacity
    loss = n_experts * (choices.to(wide).mean(dim=0) * probabilities.mean(dim=0)).sum()
    return experts, weights.masked_fill(dropped, 0.0), slots.masked_fill(dropped, -1), loss
    # END SOLUTION


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
    # BEGIN SOLUTION
    n = len(q)
    if not n == len(k) == len(v):
        raise ValueError(f"{n}, {len(k)} and {len(v)} blocks of queries, keys and values")
    wide = torch.promote_types(v[0].dtype, torch.float32)
    merged: list[tuple[torch.Tensor, torch.Tensor] | None] = [None] * n
    ring = list(zip(range(n), k, v, strict=True))
    for _ in range(n):
        for device, (source, key, value) in enumerate(ring):
            if causal and source > device:
                continue
            query = q[device].to(wide)
            scores = query @ key.to(wide).mT / math.sqrt(query.shape[-1])
            if causal and source == device:
                later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
                scores = scores.masked_fill(later.triu(1), -torch.inf)
            total = scores.logsumexp(dim=-1, keepdim=True)
            output = (scores - total).exp() @ value.to(wide)
            if (previous := merged[device]) is not None:
                old, old_total = previous
                both = torch.logaddexp(old_total, total)
                output = (old_total - both).exp() * old + (total - both).exp() * output
                total = both
            merged[device] = output, total
        ring = ring[-1:] + ring[:-1]
    return [result[0].to(v[0].dtype) for result in merged if result is not None]
    # END SOLUTION
