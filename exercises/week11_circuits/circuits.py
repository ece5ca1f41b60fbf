"""Week 11: what heads do.

You take a trained transformer apart: score its heads by where they attend, read what a head matches
and what it copies from its weights, split a logit into the contributions of the heads, and remove
or replace a head's output to see whether the model needs it (Elhage et al., 2021; Olsson et al.,
2022).

Shapes: `B` batch, `H` heads, `L` layers, `T` tokens, `C` width of the model, `d` width of one head,
`V` size of the vocabulary. Token ids are int64. The weights of a head are those of its linear
layers, which compute x @ W.T: `W_Q`, `W_K` and `W_V` (d, C), `W_O` (C, d).

An `EditableModel` is called as model(ids (B, T), edit) and returns logits (B, T, V). It calls
edit(layer, written) once in each layer, in order, with what each head adds to the residual stream,
`written` (B, H, T, C), and adds the tensor that `edit` returns instead. `edit` must not change
`written` itself. With edit=None, the model runs unchanged. `model.n_layers` and `model.n_heads` are
ints.

Not allowed this week: calls of a library's `scaled_dot_product_*`, `*multi_head_attention*`,
`MultiheadAttention`, `flex_attention` and `torch.onnx.ops.*` (`*` matches anything), under any
alias. Such a call does the exercise for you and costs all of its points.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files that you
submit. Other libraries are not available during grading.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

Edit = Callable[[int, torch.Tensor], torch.Tensor]
EditableModel = Any


class Attention(nn.Module):
    """Provided: causal attention whose heads can be seen one by one.

    Positions are added to the input of queries and keys only, not to the residual stream (Press et
    al., 2021), so values carry tokens and what earlier heads wrote, but no positions.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def head(self, name: str) -> torch.Tensor:
        """Return the weights "W_Q", "W_K" or "W_V" by head, (H, d, C), or "W_O", (H, C, d)."""
        weight = getattr(self, name).weight
        if name == "W_O":
            return weight.unflatten(1, (self.n_heads, -1)).transpose(0, 1)
        return weight.unflatten(0, (self.n_heads, -1))

    def weights(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x (B, T, C), positions (T, C) -> attention weights (B, H, T, T)."""
        placed = (x + positions)[:, None]
        q, k = (placed @ self.head(name).mT for name in ("W_Q", "W_K"))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
        return torch.softmax(scores.masked_fill(hidden, -math.inf), dim=-1)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x (B, T, C) -> what each head adds to the residual stream, (B, H, T, C)."""
        mixed = self.weights(x, positions) @ (x[:, None] @ self.head("W_V").mT)
        return mixed @ self.head("W_O").mT


class AttentionOnly(nn.Module):
    """Provided: a transformer of attention layers only, without feed-forward layers and norms.

    It is an `EditableModel`. The residual stream begins with `embed` (V, C), each head adds to it,
    and the logits are its products with the rows of `unembed` (V, C).
    """

    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, n_layers: int, max_len: int
    ) -> None:
        super().__init__()
        self.n_layers, self.n_heads = n_layers, n_heads
        self.embed = nn.Parameter(0.3 * torch.randn(vocab_size, d_model))
        self.positions = nn.Parameter(0.3 * torch.randn(max_len, d_model))
        self.layers = nn.ModuleList(Attention(d_model, n_heads) for _ in range(n_layers))
        self.unembed = nn.Parameter(torch.randn(vocab_size, d_model) / math.sqrt(d_model))

    def forward(self, ids: torch.Tensor, edit: Edit | None = None) -> torch.Tensor:
        """ids (B, T) -> logits (B, T, V); T is at most max_len."""
        x, positions = self.embed[ids], self.positions[: ids.shape[1]]
        for number, layer in enumerate(self.layers):
            written = layer(x, positions)
            if edit is not None:
                written = edit(number, written)
            x = x + written.sum(dim=1)
        return x @ self.unembed.T

    @torch.no_grad()
    def weights(self, ids: torch.Tensor) -> list[torch.Tensor]:
        """Return the attention weights (B, H, T, T) of each layer."""
        x, positions, found = self.embed[ids], self.positions[: ids.shape[1]], []
        for layer in self.layers:
            found.append(layer.weights(x, positions))
            x = x + layer(x, positions).sum(dim=1)
        return found


def repeated_tokens(
    batch: int,
    period: int,
    vocab_size: int,
    repeats: int = 2,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Draw sequences of random tokens and repeat each sequence.

    The tokens of a period are drawn independently, so no token says anything about the next one,
    until the period begins again. One torch.randint call with `generator` draws the (B, period)
    tokens of all sequences.

    Args:
        batch: number of sequences B, drawn independently.
        period: number of tokens after which a sequence repeats.
        vocab_size: tokens are 0 … vocab_size - 1.
        repeats: how many times the period occurs.
        generator: source of the random numbers, on the CPU; by default torch's own.

    Returns:
        (B, repeats·period), int64, on the CPU.

    Raises:
        ValueError: period or repeats is below 1; the message contains it.
    """
    # TODO: check the arguments, draw one period, repeat it along the right axis.
    raise NotImplementedError("repeated_tokens")


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    """Return how much each head attends to the previous token.

    The score is the mean attention weight that a query at position t ≥ 1 gives to position t - 1,
    over all these queries of all sequences. It is 1 for a perfect previous-token head.

    Args:
        weights: (B, H, T, T), causal attention weights; rows are queries.

    Returns:
        (H,), in the dtype and on the device of `weights`.

    Raises:
        ValueError: T is below 2, so no query has a previous token; the message contains T.
    """
    # TODO: the entries (t, t - 1) form a diagonal.
    raise NotImplementedError("previous_token_score")


def induction_score(weights: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """Return how much each head attends to what followed earlier copies of the current token.

    The score follows the prefix-matching score of Olsson et al. (2022). For a query at position t,
    the *matching keys* are all positions j with 1 ≤ j ≤ t and ids[j - 1] = ids[t]: each comes
    directly after a copy of the query's token. The weights of the matching keys are summed. The
    score is the mean of these sums over all queries, of all sequences, that have at least one
    matching key.

    Args:
        weights: (B, H, T, T), causal attention weights; rows are queries.
        ids: (B, T), any tokens, on the device of `weights`.

    Returns:
        (H,), in the dtype and on the device of `weights`.

    Raises:
        ValueError: no query has a matching key.
    """
    # TODO: a bool tensor (B, T, T) of the matching keys; sums for each query; a mean over the
    # queries that have a match.
    raise NotImplementedError("induction_score")


def logit_attribution(
    terms: torch.Tensor,
    unembed: torch.Tensor,
    targets: torch.Tensor,
    others: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return what each term of the residual stream contributes to the logit of a token.

    The logits are products of the residual stream, a sum, with the rows of `unembed`. So a logit is
    a sum, too, with one contribution for each term of the residual stream (direct logit
    attribution: Elhage et al., 2021). The logits of all V tokens are never computed.

    Args:
        terms: (N, B, T, C), whose sum over N is the final residual stream.
        unembed: (V, C).
        targets: (B, T), the token at each position whose logit is split.
        others: (B, T); if given, the difference is split: the logit of the target minus the logit
            of the other token.

    Returns:
        (N, B, T); the sum over N is the logit or the difference of the logits.
    """
    # TODO: one direction (C,) at each position.
    raise NotImplementedError("logit_attribution")


def qk_circuit(
    queries: torch.Tensor, keys: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor
) -> torch.Tensor:
    """Return the score of each query vector with each key vector in a head.

    Entry (a, b) is the attention score, divided by √d, of a query whose residual stream is
    queries[a] with a key whose residual stream is keys[b]. With token embeddings for both, this is
    the full QK circuit of Elhage et al. (2021), with keys in columns. The work is that of two
    projections to the d features of the head and one product of these.

    Args:
        queries: (N, C).
        keys: (M, C).
        W_Q, W_K: (..., d, C), with equal leading axes, for example one for the heads.

    Returns:
        (..., N, M).
    """
    # TODO: project both, multiply, scale.
    raise NotImplementedError("qk_circuit")


def ov_circuit(
    embed: torch.Tensor, W_V: torch.Tensor, W_O: torch.Tensor, unembed: torch.Tensor
) -> torch.Tensor:
    """Return what a head adds to the logits if it attends to a token.

    Entry (a, b) is what the head adds to the logit of token b if all its attention is on token a:
    the full OV circuit of Elhage et al. (2021), with source tokens in rows. The work is that of two
    projections to the d features of the head and one product of these.

    Args:
        embed: (V, C).
        W_V: (..., d, C), and W_O: (..., C, d), with equal leading axes.
        unembed: (V, C).

    Returns:
        (..., V, V).
    """
    # TODO: from the left, tokens become values; from the right, logits read what the head writes.
    raise NotImplementedError("ov_circuit")


def copying_score(
    embed: torch.Tensor, W_V: torch.Tensor, W_O: torch.Tensor, unembed: torch.Tensor
) -> torch.Tensor:
    """Return Σ λ_i / Σ |λ_i| over the eigenvalues of a head's OV circuit.

    An eigenvector is a mix of tokens; if its eigenvalue is positive, attention to this mix raises
    the logits of the same mix. The score is 1 if all eigenvalues are positive and -1 if all are
    negative (Elhage et al., 2021, on copying heads). Complex eigenvalues come in conjugate pairs,
    so the sum is real. The score of a head that writes nothing is 0.

    Neither the matrix (V, V) nor any matrix (C, C) is computed: AB and BA have the same nonzero
    eigenvalues, so a matrix (d, d) has all of them.

    Args:
        embed: (V, C).
        W_V: (..., d, C), and W_O: (..., C, d), with equal leading axes.
        unembed: (V, C).

    Returns:
        (...,), real, in the dtype of the weights.
    """
    # TODO: split the OV circuit into a product of two matrices and swap them; torch.linalg.eigvals.
    raise NotImplementedError("copying_score")


def ablate_heads(
    model: EditableModel,
    ids: torch.Tensor,
    heads: Iterable[tuple[int, int]],
    reference: torch.Tensor | None = None,
) -> torch.Tensor:
    """Run a model with some heads ablated.

    What an ablated head adds to the residual stream is replaced by zeros or, if `reference` is
    given, by the mean of what the head adds in the unchanged model, at the same position, over the
    sequences of `reference`. No other head is replaced, but later layers see the change.

    Args:
        model: an `EditableModel` of L layers with H heads each. It runs once on `ids`, and once on
            `reference` if that is given.
        ids: (B, T).
        heads: pairs (layer, head), counted from 0; pairs may repeat, and there may be none.
        reference: (N, T), sequences whose mean is used.

    Returns:
        logits (B, T, V).

    Raises:
        ValueError: a layer is not in 0 … L - 1 or a head not in 0 … H - 1; the message contains
            this number.
    """
    # TODO: check the pairs; record the means with an `edit` that changes nothing; run with an
    # `edit` that returns a changed copy.
    raise NotImplementedError("ablate_heads")


def patch_heads(
    model: EditableModel,
    clean: torch.Tensor,
    corrupted: torch.Tensor,
    measure: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """Return how much of a measure each head restores if its output is patched from a clean run.

    For each head alone, the model runs on `corrupted`, but what this head adds to the residual
    stream is replaced by what it adds when the unchanged model runs on `clean`. With the measures
    of the logits, the entry is (patched - corrupted) / (clean - corrupted): 0 if the head changes
    nothing, 1 if it restores the clean value.

    Args:
        model: an `EditableModel` of L layers with H heads each. It runs once on `clean`, once on
            `corrupted`, and once for each head.
        clean, corrupted: (B, T).
        measure: maps logits (B, T, V) to a scalar tensor, for example a mean logit difference.

    Returns:
        (L, H), in the dtype of the measures.

    Raises:
        ValueError: the measures of the clean and the corrupted run are equal, so there is nothing
            to restore.
    """
    # TODO: record what the heads add in the clean run; then L·H runs, each with one head replaced.
    raise NotImplementedError("patch_heads")
