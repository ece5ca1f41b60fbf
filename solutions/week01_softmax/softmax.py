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
    # BEGIN SOLUTION
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    # A softmax does not change when a whole row is shifted, so let the largest entry be 0:
    # no exponential exceeds 1, and the sum is at least 1.
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
    # END SOLUTION


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
    # BEGIN SOLUTION
    # The shift cancels in the quotient, so it needs no gradient.
    shift = x.amax(dim=dim, keepdim=True).detach()
    exponentials = torch.exp(x - shift)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
    # END SOLUTION


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
    # BEGIN SOLUTION
    shift = x.amax(dim=dim, keepdim=True).detach()
    # In a row of only -inf the shift would be -inf, and -inf - (-inf) is NaN: shift by 0 there.
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    total = torch.exp(x - shift).sum(dim=dim, keepdim=True)
    result = torch.log(total) + shift
    return result if keepdim else result.squeeze(dim)
    # END SOLUTION


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
    # BEGIN SOLUTION
    # math.sqrt gives a Python float, which leaves float32 arrays float32; np.sqrt would not.
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    weights = softmax_numpy(scores, axis=-1)
    return weights @ v, weights
    # END SOLUTION


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
    # BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = softmax(scores, dim=-1)
    return weights @ v, weights
    # END SOLUTION


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
        # BEGIN SOLUTION
        rng = np.random.default_rng(seed)

        def glorot(fan_in: int, fan_out: int) -> np.ndarray:
            return rng.normal(0.0, math.sqrt(2.0 / (fan_in + fan_out)), (fan_in, fan_out))

        self.Wq = glorot(d_model, dk)
        self.Wk = glorot(d_model, dk)
        self.Wv = glorot(d_model, dv)
        # END SOLUTION

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
        # BEGIN SOLUTION
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
        # END SOLUTION


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
    # BEGIN SOLUTION
    darkest = len(chars) - 1
    largest = weights.max()

    def cell(weight: float) -> str:
        level = min(int(weight * darkest / largest), darkest) if largest > 0 else 0
        return f"  {chars[level]}".ljust(width)

    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights, strict=True):
        lines.append(f"{token:>{width}}" + "".join(cell(weight) for weight in row))
    return "\n".join(lines)
    # END SOLUTION
