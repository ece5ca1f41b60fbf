"""Week 2: attention with masks.

Four small tools for masks (`causal_mask`, `padding_mask`, `combine_masks`, `masked_softmax`), the
attention of week 1 with a mask (`scaled_dot_product_attention`), the same as a trainable module
(`SelfAttention`), and a picture of what it does (`plot_attention`).

One convention rules the whole course: a mask is a bool tensor, **True means "may attend"**, and it
broadcasts to the scores, whose last two axes are (queries, keys). A query with no visible key
gets zeros, never NaN.

Shapes: `B` batch, `T` sequence length, `n` queries, `m` keys, `d` head size, `...` any leading
axes, including none.
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
    # BEGIN SOLUTION
    position = torch.arange(seq_len, device=device)
    return position[None, :] <= position[:, None]
    # END SOLUTION


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
    # BEGIN SOLUTION
    shortest, longest = int(lengths.min()), int(lengths.max())
    if max_len is None:
        max_len = longest
    if shortest < 0:
        raise ValueError(f"a length can't be below 0, but lengths contains {shortest}")
    if longest > max_len:
        raise ValueError(f"lengths holds {longest}, which is over max_len={max_len}")
    position = torch.arange(max_len, device=lengths.device)
    return position[None, :] < lengths[:, None]
    # END SOLUTION


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
    # BEGIN SOLUTION
    return causal & padding[:, None, None, :]
    # END SOLUTION


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
    # BEGIN SOLUTION
    # The lowest *finite* number of the dtype: with -inf a row that is hidden as a whole would
    # compute (-inf) - (-inf) = NaN, and a literal such as -1e9 does not exist in float16.
    lowest = torch.finfo(scores.dtype).min
    hidden = ~mask
    weights = torch.softmax(scores.masked_fill(hidden, lowest), dim=dim)
    return weights.masked_fill(hidden, 0.0)  # an empty row came out uniform: now it is zero
    # END SOLUTION


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
    # BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
    # END SOLUTION


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
        # BEGIN SOLUTION
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)
        # END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Let the tokens of each sequence attend to one another.

        Args:
            x: tokens (B, T, C).
            mask: bool (T, T), or (B, T, T) for one per sequence; True where a query may see a key.

        Returns:
            output (B, T, C) and weights (B, T, T).
        """
        # TODO: project the tokens three times and attend.
        # BEGIN SOLUTION
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x), mask)
        # END SOLUTION


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
    # BEGIN SOLUTION
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy()  # NumPy has no bfloat16
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
    # END SOLUTION
