"""Week 2: attention with masks.

Four small tools for masks (`causal_mask`, `padding_mask`, `combine_masks`, `masked_softmax`), the
attention of week 1 with a mask (`scaled_dot_product_attention`), the same as a trainable module
(`SelfAttention`), and a picture of what it does (`plot_attention`).

One convention rules the whole course: a mask is a bool tensor, **True means "may attend"**, and it
broadcasts to the scores, whose last two axes are (queries, keys). A query with no visible key
gets zeros, never NaN.

Shapes: `B` batch, `T` sequence length, `n` queries, `m` keys, `d` head size, `...` any leading
axes, including none.

Not allowed this week: calls of a library's `scaled_dot_product_*`, `*multi_head_attention*`,
`MultiheadAttention`, `flex_attention`, `torch.onnx.ops.*`, `_masked_softmax` and
`_safe_softmax` (`*` matches anything), under any alias. Such a call does the exercise for you
and costs all of its points.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files that you
submit. Other libraries are not available during grading.
"""

import math
from collections.abc import Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import Tensor, nn


def causal_mask(seq_len: int, device: torch.device | str | None = None) -> Tensor:
    """Let every token see itself and all earlier tokens.

    The rule of a decoder: Vaswani et al. (2017), "Attention Is All You Need", section 3.2.3.

    Args:
        seq_len: the number of tokens T.
        device: the device of the mask; torch's default device if None.

    Returns:
        A bool tensor (T, T): row i, column j is True where key j is not after query i.
    """
    # TODO: number the positions on the right device, then compare each key with each query.
    raise NotImplementedError("causal_mask")


def padding_mask(lengths: Tensor, max_len: int | None = None) -> Tensor:
    """Distinguish the real tokens of a padded batch from the padding after them.

    Args:
        lengths: int tensor (B,), the number of real tokens of each sequence; a length of 0 is fine.
        max_len: the padded length; the longest of `lengths` if None.

    Returns:
        A bool tensor (B, max_len) on the device of `lengths`: True where there is a real token.

    Raises:
        ValueError: a length is below 0 or over `max_len`; the message names that length.
    """
    # TODO: refuse lengths that make no sense, then compare each position with each length.
    raise NotImplementedError("padding_mask")


def combine_masks(causal: Tensor, padding: Tensor) -> Tensor:
    """Join a causal mask and a padding mask: a query may see a key where both allow it.

    Padding hides *keys*. The row of a padded query is not changed: its output is discarded later.

    Args:
        causal: bool (T, T), queries by keys, the same for every sequence.
        padding: bool (B, T), True for real tokens.

    Returns:
        A bool tensor (B, 1, T, T), ready for scores (B, H, T, T): the axis of size 1 serves every
        head.
    """
    # TODO: give the padding mask the axes it lacks (its last one is the keys), and join the two.
    raise NotImplementedError("combine_masks")


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Compute a softmax over the allowed entries only.

    Hidden entries get exactly 0, even if their scores are inf or NaN. If all entries along
    `dim` are hidden, the result is all zeros. Neither values nor gradients contain NaN, in
    any float dtype.

    Args:
        scores: float tensor of any shape.
        mask: bool tensor that broadcasts to `scores`, True where an entry takes part.
        dim: the axis that sums to 1.

    Returns:
        A tensor with the shape, dtype and device of `scores`.
    """
    # TODO: replace hidden scores before the softmax, and make sure that they get weight 0, also in a
    # fully masked row.
    raise NotImplementedError("masked_softmax")


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Compute softmax(q kᵀ / √d) v over the keys that each query may see.

    Vaswani et al. (2017), equation 1 in section 3.2.1; masking as in section 3.2.3.

    Args:
        q: queries (..., n, d).
        k: keys (..., m, d).
        v: values (..., m, d_v).
        mask: bool, broadcasts to (..., n, m), True where a query may see a key; None hides nothing.

    Returns:
        output (..., n, d_v) and weights (..., n, m). A query with no visible key gets zeros.
    """
    # TODO: scores, scale, softmax (masked where there is a mask), weighted sum of the values.
    raise NotImplementedError("scaled_dot_product_attention")


class SelfAttention(nn.Module):
    """One head of self-attention with learned projections for queries, keys and values.

    Parameters: `W_q`, `W_k`, `W_v`, each a `nn.Linear(embed_size, embed_size)` without bias.
    """

    def __init__(self, embed_size: int) -> None:
        """Make the three projections.

        Args:
            embed_size: the width C of a token's vector.
        """
        super().__init__()
        # TODO: the three projections, under exactly these names: W_q, W_k, W_v.
        raise NotImplementedError("SelfAttention.__init__")

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Let the tokens of each sequence attend to one another.

        Args:
            x: tokens (B, T, C).
            mask: bool (T, T), or (B, T, T) for one per sequence; True where a query may see a key.

        Returns:
            output (B, T, C) and weights (B, T, T).
        """
        # TODO: project the tokens three times and attend.
        raise NotImplementedError("SelfAttention.forward")


def plot_attention(
    weights: Tensor,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a matrix of attention weights: a row per query (the first on top), a column per key.

    The values are drawn unchanged and the colours always span 0 to 1, so that two pictures can
    be compared.

    Args:
        weights: (n, m), any float dtype; it may require gradients or be on a GPU.
        query_tokens: n labels for the rows, or None.
        key_tokens: m labels for the columns, or None.
        ax: the Axes to draw on; a new figure if None.

    Returns:
        The Axes, its x axis labelled "Key", its y axis "Query". The figure is neither shown nor
        saved.
    """
    # TODO: convert the weights for matplotlib, draw one image, label the axes.
    raise NotImplementedError("plot_attention")
