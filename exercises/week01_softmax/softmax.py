"""Week 1: softmax and attention, built by hand.

The week climbs three steps. A softmax turns any row of numbers into weights, first in NumPy and
then in torch, where it can be differentiated. Scaled dot-product attention uses those weights for
a soft look-up (Vaswani et al., "Attention Is All You Need", 2017, section 3.2.1). In
`SelfAttention` the words of a sentence attend to each other; `ascii_heatmap` draws the weights.

Letters in the shapes: `n` queries, `m` keys, `d` numbers in a query or key, `d_v` numbers in a
value, `T` tokens in a sentence, `...` any number of leading axes, including none.

Rules of the whole course: no function changes its arguments or touches the global random state, and
every result has the floating-point type (and device) of its input. Library softmaxes, logsumexps
and attentions are not allowed this week: you are writing them.

Not allowed this week: calls of a library's `*softmax*`, `softmin`, `*logsumexp*`, `logaddexp*`,
`logcumsumexp`, `cross_entropy*`, `scaled_dot_product_*`, `*multi_head_attention*`,
`MultiheadAttention` and `flex_attention` (`*` matches anything), under any alias. Such a call
does the exercise for you and costs all of its points.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files that you
submit. Other libraries are not available during grading.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch


def softmax_numpy(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn the numbers along `axis` into positive weights that sum to 1.

    Each weight is exp(x) divided by the sum of exp(x) over `axis`. The result is right for any
    finite input, however large, and an entry of -inf gets a weight of exactly 0 as long as
    its row holds a finite entry.

    Args:
        x: Scores of any shape. Floats keep their type; integers give a float64 result.
        axis: The axis over which the weights sum to 1.

    Returns:
        Weights of the same shape as `x`.
    """
    # TODO: Convert integers first; keep the exponentials from overflowing, row by row; then divide
    # by their sum along `axis`.
    raise NotImplementedError("softmax_numpy")


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Compute the same in torch: positive weights that sum to 1 over `dim`, differentiable.

    Args:
        x: Scores of any shape and floating-point type, on any device.
        dim: The dimension over which the weights sum to 1.

    Returns:
        Weights with the shape, type and device of `x`. Entries of -inf get exactly 0 where their
        row holds a finite entry.
    """
    # TODO: As in NumPy, with torch's own operations all the way, so that gradients flow.
    raise NotImplementedError("softmax")


def logsumexp(x: torch.Tensor, dim: int = -1, keepdim: bool = False) -> torch.Tensor:
    """Compute the logarithm of the sum of exponentials over `dim`, a smooth maximum.

    It is finite for any finite input, however large, and differentiable. A row of only -inf gives
    -inf.

    Args:
        x: Numbers of any shape and floating-point type, on any device.
        dim: The dimension to sum over.
        keepdim: Whether to keep `dim` in the result, with size 1.

    Returns:
        A tensor without `dim` (or with size 1 there), with the type and device of `x`.
    """
    # TODO: Take the maximum out of the sum and put it back where it belongs. What is the
    # maximum of a row of only -inf, and what happens when you subtract it?
    raise NotImplementedError("logsumexp")


def scaled_dot_product_attention_numpy(
    q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compare every query with the keys and average the values: softmax(q kᵀ / √d) v.

    Vaswani et al. (2017), section 3.2.1, equation 1.

    Args:
        q: Queries, (..., n, d).
        k: Keys, (..., m, d).
        v: Values, (..., m, d_v).

    Returns:
        output (..., n, d_v), the blended values, and weights (..., n, m), whose rows sum to 1. Both
        have the floating-point type of the inputs.
    """
    # TODO: Scores for every pair of query and key, scaled; weights for every query; then the blend.
    raise NotImplementedError("scaled_dot_product_attention_numpy")


def scaled_dot_product_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the same in torch, differentiable in q, k and v.

    Args:
        q: Queries, (..., n, d).
        k: Keys, (..., m, d).
        v: Values, (..., m, d_v).

    Returns:
        output (..., n, d_v), the blended values, and weights (..., n, m), with the inputs' type
        and device.
    """
    # TODO: As in NumPy. Check that it works without leading axes and with two of them.
    raise NotImplementedError("scaled_dot_product_attention")


class SelfAttention:
    """Self-attention in NumPy: queries, keys and values all come from the same tokens.

    Attributes:
        Wq: Projects a token to its query, (d_model, dk), float64.
        Wk: Projects a token to its key, (d_model, dk), float64.
        Wv: Projects a token to its value, (d_model, dv), float64.
    """

    def __init__(self, d_model: int, dk: int, dv: int, seed: int = 42) -> None:
        """Draw the three matrices, reproducibly.

        They come in the order Wq, Wk, Wv from one `np.random.default_rng(seed)`. Their entries are
        normal with mean 0 and standard deviation √(2 / (fan_in + fan_out)), where a matrix's rows
        are its fan_in and its columns its fan_out (Glorot and Bengio, 2010, equation 12: with
        this spread the numbers neither grow nor shrink from layer to layer).

        Args:
            d_model: Numbers in a token's embedding.
            dk: Numbers in a query and in a key.
            dv: Numbers in a value.
            seed: Seed of the random generator.
        """
        # TODO: One generator, three matrices, each with the spread for its shape.
        raise NotImplementedError("SelfAttention.__init__")

    def forward(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Let every token attend to every token of its sentence.

        Args:
            X: Embeddings, (..., T, d_model), of any floating-point type.

        Returns:
            output (..., T, dv), the new embeddings, and weights (..., T, T), both in the
            floating-point type of `X`.
        """
        # TODO: Project the tokens three times, then attend. The matrices are float64: make sure
        # that the results have the type of `X` all the same. Leave the matrices unchanged.
        raise NotImplementedError("SelfAttention.forward")


def ascii_heatmap(
    weights: np.ndarray, tokens: Sequence[str], chars: str = " ░▒▓█", width: int = 6
) -> str:
    """Draw attention weights as text, darker where more attention goes.

    The first line consists of `width` spaces and then every token, right-aligned in `width` places.
    Then follows a line per query: its token, right-aligned in `width` places, and for each
    key a cell of `width` places: two spaces, one character of `chars`, and spaces.

    The character's index is the whole part of w · (len(chars) - 1) / max, where max is the largest
    weight of the whole matrix. If all weights are 0, every cell shows `chars[0]`.

    Args:
        weights: Attention weights, (T, T): a row per query, a column per key.
        tokens: The T tokens, none longer than `width`.
        chars: The characters from the lightest to the darkest.
        width: Places for a token or a cell, 3 or more.

    Returns:
        The T + 1 lines, joined by newlines, without one at the end.
    """
    # TODO: A line for the keys, then a line per query. Return the text; printing it is up to
    # the caller.
    raise NotImplementedError("ascii_heatmap")
