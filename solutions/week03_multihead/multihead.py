"""Week 3: multi-head attention.

You build multi-head attention as section 3.2.2 of "Attention Is All You Need" (Vaswani et al.,
2017) describes it: split the features into heads, let every head attend separately, and
concatenate the results. Then you build the causal, fused version that GPT-2 made popular,
draw what each head attends to, and copy the weights of PyTorch's own module into yours.

Shapes: `B` batch, `H` heads, `T` tokens, `n` queries, `m` keys, `C` width of the model
(`d_model`), `d = C / H` width of one head. Masks are bool tensors, True = may attend.
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
# BEGIN SOLUTION
def _masked_softmax(scores: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """Softmax over the last axis, exactly 0 wherever `mask` is False (week 2).

    scores (..., n, m), mask broadcastable to it -> weights (..., n, m). The row of a query with no
    visible key is all zeros, in the gradients too.
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)
    return weights.masked_fill(~mask, 0.0)


def _draw_attention(ax: Axes, weights: torch.Tensor, tokens: list[str] | None = None) -> AxesImage:
    """Draw one weight matrix (n, m) on `ax`, a row per query from the top (week 2).

    The colours run from 0 to 1 for any weights. `tokens` become the tick labels of both
    axes. Takes tensors that need gradients or live on another device.
    """
    image = ax.imshow(weights.detach().cpu().double().numpy(), cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if tokens is not None:
        ax.set_xticks(range(len(tokens)), tokens, rotation=90)
        ax.set_yticks(range(len(tokens)), tokens)
    return image
# END SOLUTION


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Split the features of every token into heads: x (B, T, C) -> (B, H, T, d), d = C / H.

    Head h of a token (h = 0 … H-1) gets the features h·d … (h+1)·d - 1 of that same token.

    Raises:
        ValueError: C is not divisible by `num_heads`; the message contains C.
    """
    # TODO: reject a width that cannot be divided evenly; then give the heads a separate axis
    # and bring it in front of the tokens. No number may move to another token.
    # BEGIN SOLUTION
    batch, tokens, width = x.shape
    if width % num_heads:
        raise ValueError(f"a width of {width} cannot be cut into {num_heads} equal heads")
    return x.reshape(batch, tokens, num_heads, width // num_heads).transpose(1, 2)
    # END SOLUTION


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Undo `split_heads`: x (B, H, T, d) -> (B, T, C), with the heads of a token concatenated."""
    # TODO: walk back the two steps of split_heads in the opposite order.
    # BEGIN SOLUTION
    batch, heads, tokens, head_size = x.shape
    return x.transpose(1, 2).reshape(batch, tokens, heads * head_size)
    # END SOLUTION


class MultiHeadAttention(nn.Module):
    """Multi-head attention (Vaswani et al., 2017, §3.2.2), for self- and cross-attention.

    `W_q`, `W_k`, `W_v` and `W_o` are Linear(d_model, d_model), all with a bias.

    Raises:
        ValueError: d_model is not divisible by num_heads; the message contains d_model.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        # TODO: check the sizes, remember the number of heads, make the four layers.
        # BEGIN SOLUTION
        if d_model % num_heads:
            raise ValueError(f"d_model = {d_model} cannot be cut into {num_heads} equal heads")
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        # END SOLUTION

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
        # BEGIN SOLUTION
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() not in (2, 4):
            raise ValueError(
                f"a mask of shape {tuple(mask.shape)} has {mask.dim()} dimensions; "
                "give (n, m), or 4 dimensions that broadcast to (B, H, n, m)"
            )
        q = split_heads(self.W_q(query), self.num_heads)  # (B, H, n, d)
        k = split_heads(self.W_k(key), self.num_heads)  # (B, H, m, d)
        v = split_heads(self.W_v(value), self.num_heads)  # (B, H, m, d)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, n, m)
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
        # END SOLUTION


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
        # BEGIN SOLUTION
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model} cannot be cut into {n_heads} equal heads")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)
        # END SOLUTION

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
        # BEGIN SOLUTION
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in parts)  # each (B, H, T, d)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, T)
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
        # END SOLUTION


def plot_heads(weights: torch.Tensor, tokens: list[str] | None = None) -> Figure:
    """Draw one heatmap per head: weights (H, n, m) -> a figure with H panels.

    The panels are titled "Head 1" … "Head H" and drawn as in week 2: a row per query from the
    top, a column per key, the x axis labelled "Key", the y axis "Query", the colours from 0 to 1
    in all of them, so that they can be compared. `tokens` are the tick labels of both axes. The
    figure is returned, never shown.
    """
    # TODO: a new figure with a panel per head; in each, draw a heatmap as in week 2.
    # BEGIN SOLUTION
    heads = len(weights)
    columns = min(heads, 4)
    rows = math.ceil(heads / columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(2.7 * columns + 0.8, 3.2 * rows),
        squeeze=False,
        layout="constrained",
    )
    panels = list(grid.flat)
    for spare in panels[heads:]:
        spare.remove()
    for head, ax in enumerate(panels[:heads]):
        image = _draw_attention(ax, weights[head], tokens)
        ax.set_title(f"Head {head + 1}")
    figure.colorbar(image, ax=panels[:heads], label="Weight")
    return figure
    # END SOLUTION


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
    # BEGIN SOLUTION
    layers = ("W_q", "W_k", "W_v", "W_o")
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    if mha.in_proj_bias is None:
        biases = [matrix.new_zeros(mha.embed_dim) for matrix in matrices]
    else:
        biases = [*mha.in_proj_bias.chunk(3), mha.out_proj.bias]
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    with torch.device("meta"):  # parameters without storage: nothing is drawn for them
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    copy.load_state_dict(state, assign=True)
    return copy
    # END SOLUTION
