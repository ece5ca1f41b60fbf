"""Week 8: attention that serves.

A trained model generates one token at a time, and each new token attends to all earlier ones. This
week you make that efficient: a cache of keys and values, heads that share them, a window of
positions, and a loop that feeds every token once. Two electives follow: a paged cache, and
speculative decoding.

Shapes: `B` batch, `H` query heads, `H_kv` key-value heads, `s` new positions, `t` positions so
far, `n` queries, `m` keys, `C` width of the model (`d_model`), `d = C / H` width of one head, `d_v`
value size, `V` vocabulary. Tensors may be views with any strides. Masks are bool tensors,
True = may attend.

Not allowed this week: calls of a library's `scaled_dot_product_*`, `*multi_head_attention*`,
`MultiheadAttention`, `flex_attention` and `torch.onnx.ops.*` (`*` matches anything), under any
alias. Such a call does the exercise for you and costs all of its points.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files that you
submit. Other libraries are not available during grading.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import nn


def _masked_softmax(scores: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """Provided, from week 2: softmax over the last axis, exactly 0 wherever `mask` is False.

    scores (..., n, m), mask broadcastable to it -> weights (..., n, m). The row of a query with no
    visible key is all zeros, in the gradients too.
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)
    return weights.masked_fill(~mask, 0.0)


def _split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Provided, from week 3: x (B, T, heads·d) -> (B, heads, T, d)."""
    batch, tokens, width = x.shape
    return x.reshape(batch, tokens, num_heads, width // num_heads).transpose(1, 2)


def _merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Provided, from week 3: x (B, heads, T, d) -> (B, T, heads·d)."""
    return x.transpose(1, 2).flatten(2)


def cache_bytes(
    n_layers: int,
    n_kv_heads: int,
    d: int,
    length: int,
    batch: int = 1,
    dtype: torch.dtype = torch.float16,
) -> int:
    """Compute the bytes of the keys and values of all layers.

    Args:
        n_layers: number of layers; each has a separate cache.
        n_kv_heads: number of key-value heads (not of query heads).
        d: width of one head.
        length: positions per sequence; 0 is allowed.
        batch: number of sequences.
        dtype: the dtype of the cache.

    Returns:
        An exact Python int.
    """
    # TODO: count the numbers, then multiply by the bytes of one.
    raise NotImplementedError("cache_bytes")


class KVCache:
    """The keys and values of one layer, for up to `max_len` positions.

    Two buffers are allocated once. `append` writes the new positions after the old ones and returns
    all positions so far, as views of the buffers: old positions are never copied.

    Attributes:
        length: the number of positions appended so far, an int. It starts at 0.
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
        # TODO: allocate the two buffers, (B, H_kv, max_len, d) each, with this dtype and device.
        raise NotImplementedError("KVCache.__init__")

    def append(self, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Add s >= 1 positions and return all t positions so far.

        Gradients need not pass through the cache: inference needs none.

        Args:
            k: new keys, (B, H_kv, s, d); converted to the cache's dtype.
            v: new values, (B, H_kv, s, d); likewise.

        Returns:
            keys (B, H_kv, t, d) and values (B, H_kv, t, d), t = length after the call: views of the
            two buffers, in the cache's dtype.

        Raises:
            ValueError: they do not all fit; the message contains the number of new positions, or
                the resulting length. Then no data is written, and `length` does not change.
        """
        # TODO: check first, then write into the buffers after the old positions, then slice.
        raise NotImplementedError("KVCache.append")


def grouped_query_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute attention in which several query heads share the keys and values of one head.

    Query head h uses key-value head h // (H / H_kv): with H = 8 and H_kv = 2, the heads 0 to 3
    share the first one (Ainslie et al., 2023, section 2.2). H_kv = H is multi-head attention;
    H_kv = 1 is multi-query attention (Shazeer, 2019).

    Args:
        q: queries, (B, H, n, d). All three have one dtype.
        k: keys, (B, H_kv, m, d).
        v: values, (B, H_kv, m, d_v).
        mask: bool, True = may attend; (n, m), or of 4 dimensions and broadcastable to (B, H, n, m).

    Returns:
        output (B, H, n, d_v) and weights (B, H, n, m), in q's dtype: half precision may be computed
        in float32, and float64 stays float64. A query with no visible key has zero weights. Keys
        and values are never copied to H heads on the way.

    Raises:
        ValueError: H is not divisible by H_kv; the message contains one of the two.
    """
    # TODO: reshape the queries, not the keys, so that one product serves a whole group.
    raise NotImplementedError("grouped_query_attention")


class GroupedQueryAttention(nn.Module):
    """Causal self-attention with shared key-value heads, with a cache or without.

    `W_q` and `W_o` are Linear(d_model, d_model), `W_k` and `W_v` Linear(d_model, n_kv_heads·d) with
    d = d_model / n_heads, all without a bias. Keys and values are never copied to n_heads heads.

    Raises:
        ValueError: d_model is not divisible by n_heads, or n_heads not by n_kv_heads; the message
            contains d_model or n_heads.
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int) -> None:
        super().__init__()
        # TODO: check the sizes, make the four layers.
        raise NotImplementedError("GroupedQueryAttention.__init__")

    def forward(self, x: torch.Tensor, cache: Any | None = None) -> torch.Tensor:
        """Let every position attend to itself and to all earlier ones.

        Without a cache, position i attends to the positions 0 … i of x. With one, the positions of
        x follow those in the cache: their keys and values are appended, once, and each attends to
        all positions of the cache up to itself. Feeding x in chunks gives the same outputs.

        Args:
            x: (B, s, C).
            cache: anything with `KVCache`'s `append` and `length`, made for n_kv_heads heads of
                size d, in x's dtype. Only these two may be used.

        Returns:
            (B, s, C).
        """
        # TODO: project, split; with a cache, read its length, then append; a mask for positions
        # that do not begin at 0; attend, merge, project.
        raise NotImplementedError("GroupedQueryAttention.forward")


def sliding_window_mask(
    n: int,
    m: int,
    window: int,
    sinks: int = 0,
    offset: int = 0,
    device: torch.device | str | None = None,
) -> torch.Tensor:
    """Make a causal mask for the last `window` positions and the first `sinks` positions.

    Query i is at position offset + i, key j at position j. A query sees the keys up to its own
    position that are less than `window` away (Beltagy et al., 2020, section 3.1), and those among
    the first `sinks` positions (attention sinks: Xiao et al., 2024, section 3.2).

    Args:
        n: number of queries.
        m: number of keys.
        window: number of positions that a query sees, including its own.
        sinks: number of first positions that every later query sees as well.
        offset: the position of the first query, that is, the length of the cache before it.
        device: the device of the mask.

    Returns:
        bool (n, m), True = may attend. Rows may be all False.
    """
    # TODO: two ranges of positions, one as a column; three conditions.
    raise NotImplementedError("sliding_window_mask")


class LanguageModel(nn.Module):
    """Provided: a small language model around your attention and your cache.

    ids (B, s), caches -> logits (B, s, V). With `caches`, one per layer from `new_caches`, the ids
    follow those that were fed before; without, they begin at position 0.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_kv_heads: int,
        n_layers: int,
        max_len: int,
    ) -> None:
        super().__init__()
        self.heads = (n_kv_heads, d_model // n_heads)
        self.embed = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2 * n_layers + 1))
        self.attention = nn.ModuleList(
            GroupedQueryAttention(d_model, n_heads, n_kv_heads) for _ in range(n_layers)
        )
        self.ff = nn.ModuleList(
            nn.Sequential(
                nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)
            )
            for _ in range(n_layers)
        )
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def new_caches(self, batch: int, max_len: int) -> list[KVCache]:
        """An empty cache for each layer, in the dtype and on the device of the model."""
        weight = self.head.weight
        kv_heads, d = self.heads
        return [
            KVCache(batch, kv_heads, max_len, d, dtype=weight.dtype, device=weight.device)
            for _ in self.attention
        ]

    def forward(self, ids: torch.Tensor, caches: Sequence[Any] | None = None) -> torch.Tensor:
        """ids (B, s) -> logits (B, s, V)."""
        start = 0 if caches is None else caches[0].length
        places = start + torch.arange(ids.shape[1], device=ids.device)
        x = self.embed(ids) + self.positions(places)
        for layer, (attention, ff) in enumerate(zip(self.attention, self.ff, strict=True)):
            cache = None if caches is None else caches[layer]
            x = x + attention(self.norms[2 * layer](x), cache)
            x = x + ff(self.norms[2 * layer + 1](x))
        return self.head(self.norms[-1](x))


def generate_cached(model: Any, idx: torch.Tensor, max_new_tokens: int) -> torch.Tensor:
    """Continue each sequence with its most likely tokens, feeding every token only once.

    First the whole prompt is fed in one call (prefill), then each new token separately (decoding).
    The caches contain the keys and values of earlier tokens.

    Args:
        model: called as model(ids (B, s), caches), returns logits (B, s, V); `model.new_caches(B,
            max_len)` creates its empty caches, for max_len positions. It runs in evaluation mode;
            then its previous mode, training or evaluation, is restored.
        idx: the prompt, ids (B, T), T >= 1.
        max_new_tokens: number of tokens to add to each sequence; 0 is allowed.

    Returns:
        ids (B, T + max_new_tokens), the prompt included. No gradients are recorded.
    """
    # TODO: create the caches once, with room for all fed tokens; feed the prompt; then a loop that
    # feeds the last chosen token.
    raise NotImplementedError("generate_cached")


class PagedCache:
    """Elective: keys and values of many sequences, in pages of one pool (Kwon et al., 2023, §4.1).

    A sequence takes a page when its last one is full and returns all pages when it ends, so no room
    is reserved for tokens that may never come. The pool is float32 on the CPU and is allocated once.

    Attributes:
        free_pages: the number of unused pages, an int.
    """

    def __init__(self, num_pages: int, page_size: int, n_kv_heads: int, d: int) -> None:
        # TODO: a pool for the keys, one for the values, and a list of the pages that are free.
        raise NotImplementedError("PagedCache.__init__")

    def append(self, seq: Hashable, k: torch.Tensor, v: torch.Tensor) -> None:
        """Add s >= 1 positions to a sequence; an unknown name starts a new one.

        The sequence's last page is filled first; pages are taken for the rest only. Gradients need
        not pass, and stored positions are neither copied nor read.

        Args:
            seq: the sequence's name, anything hashable.
            k: new keys, (H_kv, s, d).
            v: new values, (H_kv, s, d).

        Raises:
            ValueError: there are not enough free pages; the message contains one of: the number of
                new positions, of required pages, or of free pages. The cache does not
                change.
        """
        # TODO: how many more pages are needed? Take them or refuse; then each position has a page
        # and a slot in it.
        raise NotImplementedError("PagedCache.append")

    def gather(self, seq: Hashable) -> tuple[torch.Tensor, torch.Tensor]:
        """Return all keys and values of a sequence in order, (H_kv, t, d) each."""
        # TODO: concatenate the sequence's pages, and cut off the slots that are not filled yet.
        raise NotImplementedError("PagedCache.gather")

    def free(self, seq: Hashable) -> None:
        """Free all pages of a sequence and remove it; its name may be used again."""
        # TODO: return its pages to the free list, and remove its name.
        raise NotImplementedError("PagedCache.free")


def speculative_step(
    draft: torch.Tensor, p: torch.Tensor, q: torch.Tensor, u: torch.Tensor
) -> tuple[int, int]:
    """Elective: accept or reject k tokens drafted by a small model, and draw one more token.

    Token i of the draft, t, is accepted if u_i < p_i[t] / q_i[t]. At the first rejection, the next
    token is drawn from max(p_i - q_i, 0), normalised; if all are accepted, from p_k. The output has
    the same distribution as if the large model had generated it alone (Leviathan et al., 2023,
    algorithm 1 and appendix A.1). The next token is always drawn with u_k, the last entry of u: it
    is the smallest one whose cumulative probability exceeds u_k.

    Args:
        draft: the drafted tokens, int (k,); k = 0 is allowed. None has q_i[t] = 0.
        p: the large model's probabilities after 0 … k tokens of the draft, (k + 1, V).
        q: the small model's probabilities, from which the draft was drawn, (k, V).
        u: uniform random numbers in [0, 1), (k + 1,).

    Returns:
        accepted: the number of accepted tokens, an int.
        token: the token that follows them, an int.
    """
    # TODO: go through the draft; at the first rejection, or at its end, draw.
    raise NotImplementedError("speculative_step")
