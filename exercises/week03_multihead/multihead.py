"""Week 3: multi-head attention.

You build multi-head attention as section 3.2.2 of "Attention Is All You Need" (Vaswani et al.,
2017) describes it: split the features into heads, let every head attend separately, and
concatenate the results. Then you build the causal, fused version that GPT-2 made popular,
draw what each head attends to, and copy the weights of PyTorch's own module into yours.

Shapes: `B` batch, `H` heads, `T` tokens, `n` queries, `m` keys, `C` width of the model
(`d_model`), `d = C / H` width of one head. Masks are bool tensors, True = may attend.

Not allowed this week: calls of a library's `scaled_dot_product_*`, `*multi_head_attention*`,
`MultiheadAttention`, `flex_attention` and `torch.onnx.ops.*` (`*` matches anything), under any
alias. Such a call does the exercise for you and costs all of its points.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files that you
submit. Other libraries are not available during grading.
"""

import math

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from torch import nn


# Copy your masked softmax and your heatmap from week 2 to this place, and the imports that they
# need to the top of the file (`Tensor`, `Sequence`), or write them again.


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Split the features of every token into heads: x (B, T, C) -> (B, H, T, d), d = C / H.

    Head h of a token (h = 0 … H-1) gets the features h·d … (h+1)·d - 1 of that same token.

    Raises:
        ValueError: C is not divisible by `num_heads`; the message contains C.
    """
    # TODO: reject a width that cannot be divided evenly; then give the heads a separate axis
    # and bring it in front of the tokens. No number may move to another token.
    raise NotImplementedError("split_heads")


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Undo `split_heads`: x (B, H, T, d) -> (B, T, C), with the heads of a token concatenated."""
    # TODO: walk back the two steps of split_heads in the opposite order.
    raise NotImplementedError("merge_heads")


class MultiHeadAttention(nn.Module):
    """Multi-head attention (Vaswani et al., 2017, §3.2.2), for self- and cross-attention.

    `W_q`, `W_k`, `W_v` and `W_o` are Linear(d_model, d_model), all with a bias.

    Raises:
        ValueError: d_model is not divisible by num_heads; the message contains d_model.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        # TODO: check the sizes, remember the number of heads, make the four layers.
        raise NotImplementedError("MultiHeadAttention.__init__")

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor | None = None,
        value: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend from every query to the keys, once per head.

        Args:
            query: (B, n, C).
            key: (B, m, C); defaults to query.
            value: (B, m, C); defaults to key.
            mask: bool, True = may attend; (n, m), or of 4 dimensions and broadcastable to
                (B, H, n, m).

        Returns:
            output (B, n, C) and weights (B, H, n, m), the weights of each head. A query with no
            visible key has weights of zero.

        Raises:
            ValueError: the mask has 3 dimensions. Broadcasting would align its first axis, meant
                for the batch, with the heads; if B = H there would be no error.
        """
        # TODO: project, split, attend within each head (week 2), merge, project.
        raise NotImplementedError("MultiHeadAttention.forward")


class CausalSelfAttention(nn.Module):
    """Multi-head self-attention that never looks ahead, in the fused form of GPT-2.

    `qkv` is one bias-free Linear(d_model, 3·d_model) whose output holds the queries, then the
    keys, then the values; `proj` is a bias-free Linear(d_model, d_model).

    Raises:
        ValueError: d_model is not divisible by n_heads; the message contains d_model.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        # TODO: check the sizes, then make the two layers and the dropout.
        raise NotImplementedError("CausalSelfAttention.__init__")

    def forward(
        self, x: torch.Tensor, return_weights: bool = False
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Let token i attend to the tokens 0 … i.

        Args:
            x: (B, T, C).
            return_weights: also return the weights.

        Returns:
            y (B, T, C), or (y, weights) with weights (B, H, T, T) before dropout. In training,
            dropout is applied to the weights that multiply the values, not to the returned weights.
        """
        # TODO: one projection gives all three parts; create the mask on the device of x.
        raise NotImplementedError("CausalSelfAttention.forward")


def plot_heads(weights: torch.Tensor, tokens: list[str] | None = None) -> Figure:
    """Draw one heatmap per head: weights (H, n, m) -> a figure with H panels.

    The panels are titled "Head 1" … "Head H" and drawn as in week 2: a row per query from the
    top, a column per key, the x axis labelled "Key", the y axis "Query", the colours from 0 to 1
    in all of them, so that they can be compared. `tokens` are the tick labels of both axes. The
    figure is returned, never shown.
    """
    # TODO: a new figure with a panel per head; in each, draw a heatmap as in week 2.
    raise NotImplementedError("plot_heads")


def from_torch(mha: nn.MultiheadAttention) -> MultiHeadAttention:
    """Copy the weights of PyTorch's module into a `MultiHeadAttention`.

    Args:
        mha: made with `batch_first=True`. PyTorch keeps the three input projections stacked in
            `in_proj_weight` (3C, C) and `in_proj_bias` (3C,), and the last one in `out_proj`.

    Returns:
        A trainable copy of the same dtype and on the same device that shares no memory with
        `mha`; without biases in `mha`, its biases are zero. It gives the outputs of `mha` and
        the weights of each head. The global random state does not change.
    """
    # TODO: find out in which order PyTorch stacks the projections. A new Linear draws random
    # numbers: either create it without drawing, or restore the random state.
    raise NotImplementedError("from_torch")
