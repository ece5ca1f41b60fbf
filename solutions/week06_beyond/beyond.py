"""Week 6: beyond softmax, beyond order, beyond n x m.

Ten independent electives: two replacements for the softmax that give exact zeros, two kinds of
relative positions, attention whose cost grows with T instead of T², the same attention for any
array library, the attention weights of a pretrained encoder, additive attention, the original form,
and the gradients of attention without autograd.

Shapes: `T` tokens, `n` queries, `m` keys, `d` head size, `d_v` value size, `r` random features,
`D` largest distance, `H` heads, `...` any number of leading dimensions, including none. Tensors may
be views with any strides. Masks are bool, True = may attend.
"""

import math
import os
from typing import Any

import torch

# Keras chooses its array library when it is first imported, from this variable.
os.environ.setdefault("KERAS_BACKEND", "torch")


# BEGIN SOLUTION
def _wide(x: torch.Tensor) -> torch.Tensor:
    """x in at least float32."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _largest_first(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The last axis of z relative to its maximum, in descending order, and the ranks 1 … n.

    A probability is at most 1, so the threshold of both sparse maps lies at most 1 below the
    maximum. What is further down, -inf included, is moved to -1 and does not matter.
    """
    ordered = z.sort(dim=-1, descending=True).values
    ordered = (ordered - ordered[..., :1]).clamp(min=-1.0)
    return ordered, torch.arange(1, z.shape[-1] + 1, dtype=z.dtype, device=z.device)


# END SOLUTION


def sparsemax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Compute the probabilities nearest to x: its Euclidean projection onto the simplex.

    The same threshold τ is subtracted from every entry, negative results are set to exactly 0,
    and the rest sums to 1 (Martins and Astudillo, 2016, "From softmax to sparsemax", section 2.2
    and algorithm 1).

    Args:
        x: (..., n, ...). Entries of -inf get exactly 0; a row has at least one finite entry.
        dim: the axis that sums to 1.

    Returns:
        The shape and dtype of x; differentiable, with the exact gradient (section 2.5): on the
        support, the incoming gradient less its mean over the support, and 0 elsewhere.
    """
    # TODO: sort, find how many of the largest entries stay positive, and from them the threshold.
    # BEGIN SOLUTION
    z = _wide(x).movedim(dim, -1)
    with torch.no_grad():  # which entries are in the support does not change under small steps
        ordered, rank = _largest_first(z)
        total = ordered.cumsum(dim=-1)
        size = (1 + rank * ordered > total).sum(dim=-1, keepdim=True)
        threshold = (total.gather(-1, size - 1) - 1) / size
        largest = z.amax(dim=-1, keepdim=True)
        support = z - largest > threshold
    kept = (z - largest).masked_fill(~support, 0.0)
    threshold = (kept.sum(dim=-1, keepdim=True) - 1) / support.sum(dim=-1, keepdim=True)
    probabilities = (kept - threshold).masked_fill(~support, 0.0)
    return probabilities.movedim(-1, dim).to(x.dtype)
    # END SOLUTION


def entmax15(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Compute α-entmax with α = 1.5, half-way between softmax (α = 1) and sparsemax (α = 2).

    p = [x/2 - τ]₊², with the threshold τ for which p sums to 1 (Peters, Niculae and Martins, 2019,
    "Sparse sequence-to-sequence models", section 3 and algorithm 2). Over a support of k entries of
    z = x/2 with mean M and sum of squared deviations S, τ = M - √((1 - S)/k).

    Args:
        x: (..., n, ...). Entries of -inf get exactly 0; a row has at least one finite entry.
        dim: the axis that sums to 1.

    Returns:
        The shape and dtype of x, exact up to rounding (no search that stops early), and
        differentiable.
    """
    # TODO: as in sparsemax; for each k, would the k-th largest entry be above the threshold of
    # the k largest? Keep entries outside the support out of the gradient as well.
    # BEGIN SOLUTION
    z = _wide(x).movedim(dim, -1) / 2
    with torch.no_grad():
        ordered, rank = _largest_first(z)
        mean = ordered.cumsum(dim=-1) / rank
        deviation = ordered.square().cumsum(dim=-1) - rank * mean.square()
        thresholds = mean - ((1 - deviation) / rank).clamp(min=0.0).sqrt()
        size = (thresholds < ordered).sum(dim=-1, keepdim=True)
        largest = z.amax(dim=-1, keepdim=True)
        support = z - largest > thresholds.gather(-1, size - 1)
        size = support.sum(dim=-1, keepdim=True)
    kept = (z - largest).masked_fill(~support, 0.0)
    mean = kept.sum(dim=-1, keepdim=True) / size
    deviation = (kept - mean).masked_fill(~support, 0.0).square().sum(dim=-1, keepdim=True)
    threshold = mean - ((1 - deviation) / size).sqrt()
    probabilities = (kept - threshold).masked_fill(~support, 0.0).square()
    return probabilities.movedim(-1, dim).to(x.dtype)
    # END SOLUTION


def relative_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, relative_keys: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute attention with relative position representations (Shaw et al., 2018, section 3.2).

    The score of query i and key j is q_i · (k_j + a[clip(j - i, -D, D) + D]) / √d: row D of the
    table belongs to distance 0, the first row to all keys D or more places before the query, the
    last to all keys D or more places after it.

    Args:
        q: queries, (..., n, d).
        k: keys, (..., m, d).
        v: values, (..., m, d_v).
        relative_keys: the table a, (2D + 1, d), the same for all leading dimensions.

    Returns:
        output (..., n, d_v) and weights (..., n, m). No tensor of n·m·d elements is made on the
        way: there are only 2D + 1 different rows (section 3.3).
    """
    # TODO: split the score into two products; compute the second once per row of the table, and
    # look up which row each pair (i, j) needs.
    # BEGIN SOLUTION
    n, m, far = q.shape[-2], k.shape[-2], len(relative_keys) // 2
    with_table = q @ relative_keys.transpose(0, 1)  # (..., n, 2D + 1)
    query_place = torch.arange(n, device=q.device).unsqueeze(-1)
    key_place = torch.arange(m, device=q.device)
    row = (key_place - query_place).clamp(-far, far) + far  # (n, m)
    with_place = with_table.gather(-1, row.expand(*q.shape[:-1], m))
    scores = (q @ k.transpose(-2, -1) + with_place) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)  # public
    return weights @ v, weights
    # END SOLUTION


def rotary(
    x: torch.Tensor, positions: torch.Tensor | None = None, base: float = 10000.0
) -> torch.Tensor:
    """Apply rotary position embeddings (RoPE; Su et al., 2021, section 3.2.2).

    Entries 2i and 2i + 1 are a point in the plane; it is rotated counter-clockwise by the angle
    position · base^(-2i/d). Dot products of queries and keys rotated like this depend on their
    positions only through the difference.

    Args:
        x: (..., T, d).
        positions: (T,) or any shape that broadcasts to (..., T); 0 … T-1 by default.
        base: of the angles; the last pair rotates base^(1 - 2/d) times as slowly as the first.

    Returns:
        The shape and dtype of x. Angles are computed in at least float32, for any dtype of x.

    Raises:
        ValueError: d is odd; the message contains d.
    """
    # TODO: one angle per position and pair; then rotate pair by pair, and interleave the pairs
    # again.
    # BEGIN SOLUTION
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"vectors of d = {d} entries cannot be cut into pairs: d must be even")
    wide = _wide(x)
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    speeds = base ** (-torch.arange(0, d, 2, dtype=wide.dtype, device=x.device) / d)
    angles = positions.to(wide.dtype).unsqueeze(-1) * speeds  # (..., T, d/2)
    cosine, sine = angles.cos(), angles.sin()
    first, second = wide[..., 0::2], wide[..., 1::2]
    turned = torch.stack(
        [first * cosine - second * sine, first * sine + second * cosine], dim=-1
    )  # (..., T, d/2, 2)
    return turned.flatten(-2).to(x.dtype)
    # END SOLUTION


# BEGIN SOLUTION
def _exponents(x: torch.Tensor, projection: torch.Tensor) -> torch.Tensor:
    """w · x' - ‖x'‖²/2 for every row w of the projection, (..., T, r), in at least float32."""
    scaled = _wide(x) / x.shape[-1] ** 0.25
    norms = scaled.square().sum(dim=-1, keepdim=True)
    return scaled @ projection.to(scaled.dtype).transpose(0, 1) - norms / 2


# END SOLUTION


def favor_features(x: torch.Tensor, projection: torch.Tensor) -> torch.Tensor:
    """Compute positive random features of the softmax kernel (Choromanski et al., 2021, lemma 1).

    With x' = x / d^¼, feature w is exp(w · x' - ‖x'‖²/2) / √r. If the rows of the projection are
    drawn from a standard normal distribution, the features of q and k have, on average, the dot
    product exp(q · k / √d).

    Args:
        x: queries or keys, (..., T, d).
        projection: (r, d), one row w per feature.

    Returns:
        (..., T, r), all positive, in the dtype of x.
    """
    # TODO: scale x first; the norm is that of the scaled x.
    # BEGIN SOLUTION
    return (torch.exp(_exponents(x, projection)) / math.sqrt(len(projection))).to(x.dtype)
    # END SOLUTION


def performer_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    projection: torch.Tensor,
    causal: bool = False,
) -> torch.Tensor:
    """Compute attention from features, in time and memory that grow linearly with T.

    The weight of key j for query i is φ(q_i) · φ(k_j), divided by its sum over the keys that i
    sees, with φ = `favor_features` (Choromanski et al., 2021, sections 2.2 and 2.3). The n x m
    matrix of weights is never created: the keys are summed first, and each query uses the sum.

    Args:
        q: queries, (..., n, d).
        k: keys, (..., m, d).
        v: values, (..., m, d_v).
        projection: (r, d).
        causal: whether query i sees only the keys j ≤ i, both counted from 0 (also where n and m
            differ).

    Returns:
        The output, (..., n, d_v). No tensor of n·m elements is made on the way; with `causal`, one
        of T·r·d_v is fine.
    """
    # TODO: (φq φkᵀ) v = φq (φkᵀ v). Divide by the sum of the weights. With causal, each query needs
    # the sums up to and including its own key.
    # BEGIN SOLUTION
    exponents = _exponents(q, projection)
    queries = torch.exp(exponents - exponents.detach().amax(dim=-1, keepdim=True))
    exponents = _exponents(k, projection)  # one shift for all keys, or their weights would change
    keys = torch.exp(exponents - exponents.detach().amax(dim=(-2, -1), keepdim=True))
    values = _wide(v)
    if causal:
        last = torch.arange(q.shape[-2], device=q.device).clamp(max=k.shape[-2] - 1)
        pairs = keys.unsqueeze(-1) * values.unsqueeze(-2)  # (..., m, r, d_v)
        sums = pairs.cumsum(dim=-3)[..., last, :, :]
        totals = keys.cumsum(dim=-2)[..., last, :]
        output = (queries.unsqueeze(-2) @ sums).squeeze(-2)
        weight = (queries * totals).sum(dim=-1, keepdim=True)
    else:
        output = queries @ (keys.transpose(-2, -1) @ values)
        weight = queries @ keys.sum(dim=-2).unsqueeze(-1)
    return (output / weight).to(q.dtype)
    # END SOLUTION


def keras_attention(q: Any, k: Any, v: Any, mask: Any = None) -> tuple[Any, Any]:
    """Compute week 2's attention in `keras.ops`, with the same code for every backend of Keras 3.

    Neither torch, numpy or a different array library nor methods of tensors are allowed here;
    `.shape`, indexing and + - * / @ are fine. Import keras inside the function.

    Args:
        q: queries, (..., n, d).
        k: keys, (..., m, d).
        v: values, (..., m, d_v).
        mask: bool, broadcastable to (..., n, m), True = may attend.

    Returns:
        output (..., n, d_v) and weights (..., n, m). Both are zero for a query with no visible
        key, and no gradient is NaN.
    """
    # TODO: look for your steps of week 2 in the list of keras.ops.
    # BEGIN SOLUTION
    from keras import ops

    scores = ops.matmul(q, ops.swapaxes(k, -2, -1)) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = ops.softmax(scores, axis=-1)
    else:
        hidden = ops.logical_not(mask)
        empty = ops.all(hidden, axis=-1, keepdims=True)
        scores = ops.where(hidden, -math.inf, scores)
        scores = ops.where(empty, 0.0, scores)  # a softmax of only -inf would be NaN
        weights = ops.where(hidden, 0.0, ops.softmax(scores, axis=-1))
    return ops.matmul(weights, v), weights
    # END SOLUTION


def sentence_attention(model: Any, tokenizer: Any, sentence: str) -> tuple[list[str], torch.Tensor]:
    """Return the attention weights of each head and layer of an encoder for a sentence.

    Args:
        model: any Hugging Face encoder that can return its attentions. It may be in training mode,
            on a GPU, and use fused attention, which never stores the weights.
        tokenizer: the tokenizer of the model.
        sentence: the text.

    Returns:
        tokens: the model's tokens, including special tokens and subwords.
        weights: (layers, H, T, T) in the model's dtype and on its device, without dropout.

        The model's state is restored: its mode (training or evaluation), its attention
        implementation, its config.
    """
    # TODO: tokenize for the device of the model; switch to evaluation and to "eager" attention,
    # which stores the weights; request the attentions; and restore the model, even after an error.
    # BEGIN SOLUTION
    tokens = tokenizer.convert_ids_to_tokens(tokenizer(sentence)["input_ids"])
    encoded = tokenizer(sentence, return_tensors="pt").to(model.device)
    was_training = model.training
    implementation = model.config._attn_implementation
    try:
        model.eval()
        model.set_attn_implementation("eager")  # public
        with torch.no_grad():
            result = model(**encoded, output_attentions=True)
    finally:
        model.set_attn_implementation(implementation)
        model.train(was_training)
    return tokens, torch.stack(result.attentions).squeeze(1)
    # END SOLUTION


def additive_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    W_q: torch.Tensor,
    W_k: torch.Tensor,
    u: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the original attention: a small network scores each pair (Bahdanau et al., 2015).

    The score of query i and key j is u · tanh(W_q q_i + W_k k_j) (section 3.1 and appendix A.1.2).
    It is not divided by anything. Queries and keys may be of different sizes.

    Args:
        q: queries, (..., n, d_q).
        k: keys, (..., m, d_k).
        v: values, (..., m, d_v).
        W_q: maps a query to its hidden vector, (a, d_q).
        W_k: maps a key to its hidden vector, (a, d_k).
        u: turns the tanh of a pair's hidden vector into its score, (a,).
        mask: bool, True = may attend, broadcastable to (..., n, m).

    Returns:
        output (..., n, d_v) and weights (..., n, m). Both are zero for a query with no visible
        key. Differentiable in W_q, W_k and u too.
    """
    # TODO: a hidden vector for every query and one for every key; each pair adds its two vectors.
    # BEGIN SOLUTION
    of_query, of_key = q @ W_q.transpose(0, 1), k @ W_k.transpose(0, 1)  # (..., n, a), (..., m, a)
    hidden = torch.tanh(of_query.unsqueeze(-2) + of_key.unsqueeze(-3))  # (..., n, m, a)
    scores = hidden @ u
    if mask is None:
        weights = torch.softmax(scores, dim=-1)  # public
    else:
        lowest = torch.finfo(scores.dtype).min
        weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
    # END SOLUTION


def attention_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    grad_out: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute the gradients of scaled dot-product attention by hand, without autograd.

    The forward pass is that of week 2: the output is softmax(q kᵀ / √d) v, and masked keys have a
    weight of 0. A loss depends on the output, and its gradient with respect to the output is given.

    Args:
        q: queries, (..., n, d).
        k: keys, (..., m, d).
        v: values, (..., m, d_v), with the leading dimensions of q and k.
        grad_out: gradient of the loss with respect to the output, (..., n, d_v).
        mask: bool, True = may attend, broadcastable to (..., n, m).

    Returns:
        Gradients of the loss with respect to q, k and v, in their shapes, dtype and device. A query
        with no visible key has a gradient of zero, and adds nothing to the other gradients. The
        results need not be differentiable.
    """
    # TODO: compute the weights again; then go through the forward pass from its last step to its
    # first, with one gradient for each intermediate result.
    # BEGIN SOLUTION
    scale = 1 / math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-2, -1) * scale
    if mask is None:
        weights = torch.softmax(scores, dim=-1)  # public
    else:
        lowest = torch.finfo(scores.dtype).min
        weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)
        weights = weights.masked_fill(~mask, 0.0)
    grad_v = weights.transpose(-2, -1) @ grad_out
    grad_weights = grad_out @ v.transpose(-2, -1)  # (..., n, m)
    shared = (weights * grad_weights).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - shared) * scale
    return grad_scores @ k, grad_scores.transpose(-2, -1) @ q, grad_v
    # END SOLUTION
