"""Week 12: attention as a recurrence.

You leave the softmax out of attention. The sum over all previous tokens then becomes a matrix of
fixed size, the state, that each token updates and reads. You write linear attention in its parallel
and in its recurrent form, add a decay, compute it in chunks, and replace the update by the delta
rule. At the end, you choose: a layer that is trained in chunks and decodes from its state, or the
delta rule in chunks.

Shapes: `B` batch, `H` heads, `T` positions, `C` width of the model (`d_model`). Queries and keys
are (B, H, T, d_k), values and outputs (B, H, T, d_v). A state is (B, H, d_k, d_v): rows belong to
features of keys, columns to features of values.

Conventions: all functions are causal, and a token sees itself: it is added to the state before the
state is read. Only `linear_attention` and `linear_attention_step` apply a feature map and divide by
the sum of the weights; the others use queries and keys as they are and normalise nothing. Inputs in
half precision are converted to float32 before anything is computed; outputs are converted back to
the dtype of v, while states stay float32 (float64 for float64 inputs). Inputs are never changed.

Not allowed this week: calls of a library's `elu`, `elu_`, `celu`, `celu_`, `ELU`, `CELU`,
`scaled_dot_product_*`, `*multi_head_attention*`, `MultiheadAttention`, `flex_attention` and
`torch.onnx.ops.*` (`*` matches anything), under any alias. Such a call does the exercise for
you and costs all of its points.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files that you
submit. Other libraries are not available during grading.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

State = tuple[torch.Tensor, torch.Tensor]


def rms_norm(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Provided, from week 10: divide each vector (last axis) by its root mean square."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * (wide.square().mean(dim=-1, keepdim=True) + eps).rsqrt()).to(x.dtype)


def feature_map(x: torch.Tensor) -> torch.Tensor:
    """Map each value to a positive one: x + 1 for x > 0, exp(x) otherwise.

    This is elu(x) + 1 (Katharopoulos et al., 2020, §3.2.1). Values and gradients are finite for
    every finite x.

    Args:
        x: any shape.

    Returns:
        The shape and dtype of x.
    """
    # TODO: choose between two expressions; neither may overflow where it is not chosen.
    raise NotImplementedError("feature_map")


def linear_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Compute causal linear attention in parallel form (Katharopoulos et al., 2020, §3.2 and §3.3).

    With φ = `feature_map`, the weight of key j for query i is φ(q_i) · φ(k_j) if j <= i, else 0.
    The output is the sum of the weighted values, divided by the sum of the weights. There is no
    factor 1/√d. The T x T weights may be stored.

    Args:
        q, k: (B, H, T, d_k).
        v: (B, H, T, d_v).

    Returns:
        (B, H, T, d_v), in v's dtype.
    """
    # TODO: features in at least float32, weights, causal mask, weighted mean.
    raise NotImplementedError("linear_attention")


def linear_attention_step(
    state: State | None, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> tuple[torch.Tensor, State]:
    """Compute linear attention for the next token only (Katharopoulos et al., 2020, §3.4).

    The state is a pair: the sum of φ(k_j) v_jᵀ over all tokens so far, (B, H, d_k, d_v), and the
    sum of φ(k_j), (B, H, d_k). The token is added to both before its query reads them.

    Args:
        state: of the previous tokens, or None before the first one. It is not changed.
        q, k: (B, H, d_k), of the new token.
        v: (B, H, d_v).

    Returns:
        output (B, H, d_v) in v's dtype, and the new state, in at least float32.
    """
    # TODO: add to both sums; read the first with the query; divide.
    raise NotImplementedError("linear_attention_step")


def gated_linear_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, log_decay: torch.Tensor
) -> torch.Tensor:
    """Compute linear attention with a decay per head and token, in its parallel form.

    It computes all outputs of the recurrence S_t = exp(g_t) S_{t-1} + k_t v_tᵀ, o_t = S_tᵀ q_t with
    S_{-1} = 0 and g = `log_decay`, without computing a state:

        o_i = Σ_{j <= i} D_ij (q_i · k_j) v_j

    D_ij is the product of the decays of the tokens j + 1 to i (Sun et al., 2023, §2.1, for a
    constant decay; Dao and Gu, 2024, §5, for decays that depend on the token). No feature map, no
    scale, no normalisation. The T x T matrices may be stored.

    Args:
        q, k: (B, H, T, d_k).
        v: (B, H, T, d_v).
        log_decay: (B, H, T), finite and at most 0. Sums may be far below -1000, so neither exp(sum)
            nor its inverse is usable: the exponent of every exp must be at most 0.

    Returns:
        (B, H, T, d_v), in v's dtype.

    Raises:
        ValueError: the shape of log_decay is not (B, H, T); the message contains its shape.
    """
    # TODO: refuse a wrong shape; sums of logarithms; D; scores times D; values.
    raise NotImplementedError("gated_linear_attention")


def chunked_linear_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    log_decay: torch.Tensor,
    chunk: int = 64,
    state: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute gated linear attention in chunks: parallel within, recurrent between chunks.

    It computes the same outputs as `gated_linear_attention`, but may start from a state, and
    returns the last one (Sun et al., 2023, §2.1; Yang et al., 2023, §4.2; Dao and Gu, 2024, §6).
    The last chunk may be shorter. There is no T x T tensor, no state per token, and no step per
    token: work and memory grow linearly with T, and the number of tensor operations with T / chunk.

    Args:
        q, k: (B, H, T, d_k).
        v: (B, H, T, d_v).
        log_decay: (B, H, T), finite and at most 0; sums may be far below -1000.
        chunk: number of positions of a chunk, at least 1; may exceed T.
        state: (B, H, d_k, d_v), of the tokens before the first one; None is a state of zeros. It is
            not changed.

    Returns:
        output (B, H, T, d_v) in v's dtype, and the state after the last token, in at least float32.

    Raises:
        ValueError: chunk is below 1; the message contains chunk.
    """
    # TODO: for each chunk, outputs from its own keys and from the state; then the next state.
    raise NotImplementedError("chunked_linear_attention")


def delta_rule(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    beta: torch.Tensor,
    state: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute linear attention that corrects its state instead of adding to it, token by token.

    The state first answers the new key with S_{t-1}ᵀ k_t. The update moves this answer towards v_t
    (Schlag et al., 2021, §4.2; Yang et al., 2024, §2.2):

        S_t = S_{t-1} + beta_t k_t (v_t - S_{t-1}ᵀ k_t)ᵀ,   o_t = S_tᵀ q_t

    Keys are used as they are; a layer would normalise them to length 1 first.

    Args:
        q, k: (B, H, T, d_k).
        v: (B, H, T, d_v).
        beta: (B, H, T), any value: the writing strength of each token. 0 writes nothing.
        state: (B, H, d_k, d_v), of the tokens before the first one; None is a state of zeros. It is
            not changed.

    Returns:
        output (B, H, T, d_v) in v's dtype, and the state after the last token, in at least float32.

    Raises:
        ValueError: the shape of beta is not (B, H, T); the message contains its shape.
    """
    # TODO: refuse a wrong shape; for each token: read with the key, correct, read with the query.
    raise NotImplementedError("delta_rule")


def delta_rule_chunked(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    beta: torch.Tensor,
    chunk: int = 64,
    state: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the delta rule in chunks: a triangular system within, a recurrence between chunks.

    It computes the same outputs and state as `delta_rule` (Yang et al., 2024, §3). With the state S
    at the beginning of a chunk, the state after its token t is S + Σ_{j <= t} k_j u_jᵀ, and the
    corrections u_t = beta_t (v_t - S_{t-1}ᵀ k_t) of all tokens are found together. There is no
    T x T tensor, no state per token, and no step per token: work and memory grow linearly with T,
    and the number of tensor operations with T / chunk, or with chunk + T / chunk if the systems of
    all chunks are solved together, row by row.

    Args:
        q, k: (B, H, T, d_k).
        v: (B, H, T, d_v).
        beta: (B, H, T), any value: the writing strength of each token. 0 writes nothing.
        chunk: number of positions of a chunk, at least 1; may exceed T.
        state: (B, H, d_k, d_v), of the tokens before the first one; None is a state of zeros. It is
            not changed.

    Returns:
        output (B, H, T, d_v) in v's dtype, and the state after the last token, in at least float32.

    Raises:
        ValueError: chunk is below 1; the message contains chunk.
    """
    # TODO: for each chunk, all corrections at once; outputs and next state follow from them.
    raise NotImplementedError("delta_rule_chunked")


class RecurrentAttention(nn.Module):
    """An attention layer with a state instead of a cache, for training and for decoding.

    `W_q`, `W_k`, `W_v` and `W_o` are Linear(d_model, d_model) without a bias; `W_g` is
    Linear(d_model, n_heads) with a bias. Heads have the width d = d_model / n_heads. The logarithm
    of a head's decay is log(sigmoid(W_g(x))) / 16 (Yang et al., 2023, §4.4; here with one gate per
    head). It is finite for every finite x.

    Raises:
        ValueError: d_model is not divisible by n_heads; the message contains d_model.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        # TODO: check the sizes, make the five layers.
        raise NotImplementedError("RecurrentAttention.__init__")

    def forward(
        self, x: torch.Tensor, state: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Continue a sequence by s positions: many in training, one at a time in decoding.

        Queries, keys and values are the projections of x, split into heads as in week 3: head h
        has the features h·d to (h + 1)·d - 1. The outputs of gated linear attention are divided by
        their root mean square per head (`rms_norm`), joined, and projected by W_o. Memory grows
        linearly with s. The module stores nothing between calls.

        Args:
            x: (B, s, C).
            state: (B, H, d, d), returned by the call for the previous positions; None at the
                beginning of a sequence.

        Returns:
            y (B, s, C), and the state after the last position, (B, H, d, d), in at least float32.
        """
        # TODO: project, split into heads, decays (B, H, s), chunks, normalise, join, project.
        raise NotImplementedError("RecurrentAttention.forward")
