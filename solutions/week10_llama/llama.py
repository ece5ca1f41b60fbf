"""Week 10: a modern transformer.

You build the decoder that most open language models have used since Llama (Touvron et al., 2023):
rotary positions that continue where a cache ends and stretch to longer sequences, RMSNorm, SwiGLU,
grouped-query attention with a cache, pre-norm blocks, and an output tied to the embedding. Then you
load a trained model into it, and a better way to draw its next token completes the week.

Shapes: `B` batch, `H` query heads, `H_kv` key-value heads, `s` new positions, `t` positions so far,
`C` width of the model (`d_model`), `d = C / H` width of one head, `V` size of the vocabulary. Token
ids are int64. Masks are bool tensors, True = may attend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class KVCache:
    """Provided, from week 8: the keys and values of one layer, for up to `max_len` positions.

    `append(k (B, H_kv, s, d), v)` stores new positions and returns all keys and all values so far,
    (B, H_kv, t, d) each. `length` is the number of positions stored.
    """

    def __init__(
        self,
        batch: int,
        n_kv_heads: int,
        max_len: int,
        d: int,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        shape = (batch, n_kv_heads, max_len, d)
        self.keys = torch.zeros(shape, dtype=dtype, device=device)
        self.values = torch.zeros(shape, dtype=dtype, device=device)
        self.length = 0

    def append(self, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store s new positions and return all t; raise ValueError if they do not fit."""
        end, most = self.length + k.shape[2], self.keys.shape[2]
        if end > most:
            raise ValueError(f"{end} positions do not fit in a cache of {most}")
        self.keys[:, :, self.length : end] = k.detach()
        self.values[:, :, self.length : end] = v.detach()
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Provided, from week 8: grouped-query attention that never copies keys or values.

    q (B, H, n, d), k and v (B, H_kv, m, d), mask (n, m) with at least one True in each row ->
    (B, H, n, d). Query head h uses key-value head h // (H / H_kv).
    """
    batch, heads, n, d = q.shape
    kv_heads, m = k.shape[1], k.shape[2]
    together = heads // kv_heads * n  # the queries of a group, stacked into one matrix
    scores = q.reshape(batch, kv_heads, together, d) @ k.transpose(-2, -1) / math.sqrt(d)
    scores = scores.reshape(batch, heads, n, m).masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1).reshape(batch, kv_heads, together, m)
    return (weights @ v).reshape(batch, heads, n, d)


def generate_cached(model: Any, idx: torch.Tensor, max_new_tokens: int) -> torch.Tensor:
    """Provided, from week 8: continue each sequence of idx (B, T) with its most likely tokens.

    The model is called as model(ids (B, s), caches) with the caches of model.new_caches(B, max_len).
    """
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            fed = model(fed, caches)[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, fed], dim=1)
    return idx


def rotary_frequencies(
    d: int,
    base: float = 10000.0,
    factor: float = 1.0,
    method: str = "linear",
    length: int | None = None,
) -> torch.Tensor:
    """The d/2 frequencies of rotary positions, scaled for sequences `factor` times as long.

    Without scaling (factor 1), frequency i is θ_i = base^(-2i/d), in radians per position (Su et
    al., 2021, §3.2.2). The methods:

    - "linear": θ_i / factor (position interpolation: Chen et al., 2023, §2.3);
    - "ntk": base is replaced by base · factor^(d/(d-2)) (Peng et al., 2023, §3.1; d is at least 4);
    - "yarn": interpolation by parts (Peng et al., 2023, §3.2). Pair i makes r_i = length·θ_i / 2π
      turns within the trained context. With the ramp γ_i = (r_i - 1) / (32 - 1), limited to the
      range from 0 to 1, its frequency is (1 - γ_i)·θ_i / factor + γ_i·θ_i. The temperature of §3.4
      is left out.

    Args:
        d: width of one head, even.
        base: the wavelength of the slowest pair grows with it.
        factor: how many times as long as in training the sequences may be, at least 1.
        method: "linear", "ntk" or "yarn".
        length: the context (positions) of the training; required by "yarn", ignored by the others.

    Returns:
        (d/2,), float32.

    Raises:
        ValueError: d is odd, the method is unknown, factor is below 1, or "yarn" has no length; the
            message contains d, the method or the factor.
    """
    # TODO: refuse bad arguments; the plain frequencies, in float64; then one case per method.
    # BEGIN SOLUTION
    if d % 2:
        raise ValueError(f"d = {d} is odd: features are rotated in pairs")
    if method not in ("linear", "ntk", "yarn"):
        raise ValueError(f"method {method!r} is unknown: choose linear, ntk or yarn")
    if factor < 1:
        raise ValueError(f"factor = {factor} is below 1")
    if method == "yarn" and length is None:
        raise ValueError("yarn needs the length of the trained context")
    if method == "ntk":
        base = base * factor ** (d / (d - 2))
    frequencies = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
    if method == "linear":
        frequencies = frequencies / factor
    if method == "yarn":
        turns = length * frequencies / (2 * math.pi)
        kept = ((turns - 1) / (32 - 1)).clamp(0, 1)
        frequencies = (1 - kept) * frequencies / factor + kept * frequencies
    return frequencies.float()
    # END SOLUTION


def apply_rotary(
    x: torch.Tensor, frequencies: torch.Tensor, offset: int | torch.Tensor = 0
) -> torch.Tensor:
    """Rotate the pairs (2i, 2i + 1) of queries or keys by position · frequencies[i].

    Args:
        x: (B, H, s, d), d even.
        frequencies: (d/2,), in radians per position, on x's device.
        offset: the position of the first row, an int, or an int tensor (B,) on x's device with the
            first position of each sequence.

    Returns:
        (B, H, s, d), in x's dtype. Angles are computed in at least float32.
    """
    # TODO: positions, then angles of shape (s, d/2) or (B, 1, s, d/2); rotate even and odd features;
    # put them back in turn.
    # BEGIN SOLUTION
    positions = torch.arange(x.shape[2], device=x.device)
    if isinstance(offset, torch.Tensor):
        positions = positions + offset[:, None, None]  # (B, 1, s)
    else:
        positions = positions + offset  # (s,)
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide).unflatten(-1, (-1, 2)).unbind(-1)
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
    # END SOLUTION


class RMSNorm(nn.Module):
    """Root mean square layer normalisation (Zhang and Sennrich, 2019, §4).

    Each vector is divided by the root of (the mean of its squares + eps) and multiplied by `weight`,
    a parameter of shape (d_model,) that starts at 1. No mean is subtracted, and there is no bias.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        # TODO: the parameter; keep eps.
        # BEGIN SOLUTION
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps
        # END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x (..., C) -> (..., C), in x's dtype.

        The mean of the squares is computed in at least float32: in float16, 300² is infinite.
        """
        # TODO: a wider copy for the statistics of half-precision inputs; back to x's dtype.
        # BEGIN SOLUTION
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = (wide.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
        # END SOLUTION


class SwiGLU(nn.Module):
    """Gated feed-forward layer: down(SiLU(gate(x)) · up(x)) (Shazeer, 2020, §2).

    `gate` and `up` are Linear(d_model, d_ff), `down` is Linear(d_ff, d_model), all without a bias.
    SiLU(z) = z · sigmoid(z), Shazeer's Swish_1.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        # TODO: three layers.
        # BEGIN SOLUTION
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)
        # END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x (..., C) -> (..., C)."""
        # TODO: one line.
        # BEGIN SOLUTION
        return self.down(F.silu(self.gate(x)) * self.up(x))
        # END SOLUTION


class LlamaAttention(nn.Module):
    """Causal grouped-query attention with rotary positions, with a cache or without.

    `W_q` and `W_o` are Linear(d_model, d_model), `W_k` and `W_v` Linear(d_model, n_kv_heads·d) with
    d = d_model / n_heads, all without a bias. Query head h uses key-value head
    h // (n_heads / n_kv_heads). Keys and values are never copied to n_heads heads.

    Raises:
        ValueError: d_model is not divisible by n_heads, n_heads not by n_kv_heads, or d is odd; the
            message contains d_model or n_heads.
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int) -> None:
        super().__init__()
        # TODO: check the sizes, make the four layers.
        # BEGIN SOLUTION
        if d_model % (2 * n_heads):
            raise ValueError(
                f"d_model = {d_model} cannot be cut into {n_heads} heads of even width"
            )
        if n_heads % n_kv_heads:
            raise ValueError(f"{n_heads} query heads cannot share {n_kv_heads} key-value heads")
        self.d = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        # END SOLUTION

    def forward(
        self, x: torch.Tensor, frequencies: torch.Tensor, cache: Any | None = None
    ) -> torch.Tensor:
        """Attend from every position to itself and to all positions before it.

        Without a cache, the rows of x are the positions 0 … s - 1. With one, they follow the
        positions in the cache: queries and keys are rotated by their positions, the rotated keys
        and the values are appended in one call, and each query attends to everything up to itself.

        Args:
            x: (B, s, C).
            frequencies: (d/2,), of the rotary positions.
            cache: anything with `KVCache`'s `append` and `length`, made for n_kv_heads heads of
                width d, in x's dtype. Only these two may be used.

        Returns:
            (B, s, C).
        """
        # TODO: project, split into heads, rotate from the right position on, append, mask, attend.
        # BEGIN SOLUTION
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )  # (B, H, s, d), and twice (B, H_kv, s, d)
        start = 0 if cache is None else cache.length
        q, k = apply_rotary(q, frequencies, start), apply_rotary(k, frequencies, start)
        if cache is not None:
            k, v = cache.append(k, v)  # (B, H_kv, t, d)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
        # END SOLUTION


class LlamaBlock(nn.Module):
    """A pre-norm block: attention, then the feed-forward layer, each added to its input.

    `norm1`, `norm2`: RMSNorm(d_model); `attn`: LlamaAttention; `ff`: SwiGLU(d_model, d_ff).
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, d_ff: int) -> None:
        super().__init__()
        # TODO: the four parts.
        # BEGIN SOLUTION
        self.norm1 = RMSNorm(d_model)
        self.attn = LlamaAttention(d_model, n_heads, n_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ff = SwiGLU(d_model, d_ff)
        # END SOLUTION

    def forward(
        self, x: torch.Tensor, frequencies: torch.Tensor, cache: Any | None = None
    ) -> torch.Tensor:
        """x (B, s, C) -> (B, s, C); frequencies and cache are those of `LlamaAttention`."""
        # TODO: week 5's block with other parts.
        # BEGIN SOLUTION
        x = x + self.attn(self.norm1(x), frequencies, cache)
        return x + self.ff(self.norm2(x))
        # END SOLUTION


class Llama(nn.Module):
    """A decoder as in Llama (Touvron et al., 2023, §2.2): ids -> logits of the next token.

    `embed`: Embedding(vocab_size, d_model), not scaled; `blocks`: a ModuleList of n_layers
    LlamaBlocks; `norm`: RMSNorm(d_model) of the last block's output. Logits are products with the
    rows of `embed.weight`: there is no separate output layer.

    Attributes:
        frequencies: those of the rotary positions, `rotary_frequencies(d, base)`. They are not in
            the state dict and stay float32 if the model is converted to another dtype. `forward`
            uses the attribute, so it can be replaced by scaled frequencies.

    Raises:
        ValueError: sizes that `LlamaAttention` refuses.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_kv_heads: int,
        d_ff: int,
        n_layers: int,
        base: float = 10000.0,
    ) -> None:
        super().__init__()
        # TODO: the parts. `register_buffer` would convert the frequencies together with the model,
        # so keep them as a plain attribute.
        # BEGIN SOLUTION
        self.cache_shape = (n_kv_heads, d_model // n_heads)
        self.embed = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            LlamaBlock(d_model, n_heads, n_kv_heads, d_ff) for _ in range(n_layers)
        )
        self.norm = RMSNorm(d_model)
        self.frequencies = rotary_frequencies(d_model // n_heads, base)
        # END SOLUTION

    def new_caches(self, batch: int, max_len: int) -> list[KVCache]:
        """An empty `KVCache` per layer for max_len positions, in the model's dtype, on its device."""
        # TODO: the caches hold n_kv_heads heads of width d.
        # BEGIN SOLUTION
        kv_heads, d = self.cache_shape
        weight = self.embed.weight
        return [
            KVCache(batch, kv_heads, max_len, d, dtype=weight.dtype, device=weight.device)
            for _ in self.blocks
        ]
        # END SOLUTION

    def forward(self, ids: torch.Tensor, caches: Sequence[Any] | None = None) -> torch.Tensor:
        """ids (B, s) -> logits (B, s, V).

        With `caches`, one per layer, the ids follow those that were fed before; without, they begin
        at position 0. Each layer uses its own cache.
        """
        # TODO: embed, go through the blocks, normalise, multiply by the embedding. The frequencies
        # have to be on the device of the model.
        # BEGIN SOLUTION
        x = self.embed(ids)
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer])
        return self.norm(x) @ self.embed.weight.T
        # END SOLUTION


def load_weights(path: str | Path) -> Llama:
    """Build the model that a weight file describes, with the weights of the file.

    The file is a NumPy archive (`np.load`). It has one float16 array for each entry of the state
    dict of `Llama`, under the same name, for example "blocks.0.attn.W_k.weight", and the array
    `n_heads`, a single int. Other arrays, such as the tokenizer's `merges`, are not weights. All
    other sizes of the model follow from the shapes of the arrays.

    Returns:
        The model, with float32 parameters that can be trained further.
    """
    # TODO: read the arrays, find the sizes, make the model, load its state dict.
    # BEGIN SOLUTION
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    weights = {
        name: torch.from_numpy(array).float()
        for name, array in arrays.items()
        if name.endswith(".weight")
    }
    vocab_size, d_model = weights["embed.weight"].shape
    n_layers = sum(name.endswith(".norm1.weight") for name in weights)
    n_heads = int(arrays["n_heads"])
    kv_width = weights["blocks.0.attn.W_k.weight"].shape[0]
    d_ff = weights["blocks.0.ff.gate.weight"].shape[0]
    n_kv_heads = kv_width // (d_model // n_heads)
    model = Llama(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers)
    model.load_state_dict(weights)
    return model
    # END SOLUTION


def sample_top_p(
    logits: torch.Tensor,
    p: float,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Draw each next token from the smallest set of likely tokens with a total of at least p.

    Nucleus sampling (Holtzman et al., 2020, §3.1): the probabilities are softmax(logits /
    temperature). Tokens are taken from the most likely on until their probabilities sum to p or
    more; all others get probability 0. One torch.multinomial call with `generator` then draws for
    the whole batch from these (B, V) probabilities, whose columns are still the ids of the tokens.

    Args:
        logits: (B, V), float32.
        p: above 0 and at most 1.
        temperature: above 0.
        generator: where the random numbers come from.

    Returns:
        ids (B,), int64.

    Raises:
        ValueError: p is not in this range; the message contains p.
    """
    # TODO: sort; sums of what comes before each token; what is cut off, back in the order of the
    # vocabulary; draw.
    # BEGIN SOLUTION
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is not above 0 and at most 1")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
    # END SOLUTION
