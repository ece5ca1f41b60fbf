"""The pictures of week 2, drawn with the week's own functions; readable in black and white."""

from collections.abc import Sequence

from drawings import batch_of_masks
import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from masking import (
    SelfAttention,
    causal_mask,
    combine_masks,
    masked_softmax,
    padding_mask,
    plot_attention,
)

SENTENCE = "the cat that chased the mouse was tired".split()
PADDED = ["I", "like", "tea", "<pad>", "<pad>"]


def figures() -> dict[str, Figure]:
    """File stem -> figure."""
    return {
        "batch_of_masks": batch_of_masks(),
        "single_head_weights": single_head_weights(),
        "causal_triangle": causal_triangle(),
        "padding_and_causal": padding_and_causal(),
        "empty_row": empty_row(),
    }


def single_head_weights() -> Figure:
    """One head, fresh and with larger query weights: a fixed colour range distinguishes them."""
    model, tokens = _model_and_tokens()
    with torch.no_grad():
        _, fresh = model(tokens)
        model.W_q.weight *= 6.0
        _, larger = model(tokens)
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
    for ax, weights, title in zip(
        axes, (fresh, larger), ("as initialised", "W_q six times as large"), strict=True
    ):
        _drawn(ax, weights[0], SENTENCE, SENTENCE, title)
    _colour_bar(figure, axes)
    figure.suptitle("One head of self-attention, untrained")
    return figure


def causal_triangle() -> Figure:
    """The mask and what it makes of the weights: nothing above the diagonal."""
    model, tokens = _model_and_tokens()
    mask = causal_mask(len(SENTENCE))
    with torch.no_grad():
        model.W_q.weight *= 6.0
        _, weights = model(tokens, mask)
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
    _drawn(axes[0], mask.float(), SENTENCE, SENTENCE, "causal mask (dark: may attend)")
    _drawn(axes[1], weights[0], SENTENCE, SENTENCE, "weights under the mask")
    _colour_bar(figure, axes)
    figure.suptitle("A decoder looks back, never ahead")
    return figure


def padding_and_causal() -> Figure:
    """Causal, padding, and both: padding removes columns, not rows."""
    length = len(PADDED)
    causal, padding = causal_mask(length), padding_mask(torch.tensor([3]), max_len=length)
    both = combine_masks(causal, padding)[0, 0]
    panels = {"causal": causal, "padding": padding.expand(length, length), "both must allow": both}
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 4.2), layout="constrained")
    for ax, (title, mask) in zip(axes, panels.items(), strict=True):
        _drawn(ax, mask.float(), PADDED, PADDED, title)
        _write_in_cells(
            ax, [["yes" if allowed else "·" for allowed in row] for row in mask.tolist()]
        )
    figure.suptitle("Who may attend to whom in a sentence of three tokens, padded to five")
    return figure


def empty_row() -> Figure:
    """What becomes of a query that may see nothing, under three ways to hide a key."""
    mask = torch.tensor(
        [[True, True, False, True], [False, False, False, False], [True, True, True, False]]
    )
    scores = torch.tensor([[1.0, 0.2, 0.5, -0.4], [0.3, 1.2, -0.1, 0.6], [0.1, 0.9, -0.7, 0.4]])
    filled = {"fill with -inf": float("-inf"), "fill with -1e9": -1e9}
    panels = {
        title: torch.softmax(scores.masked_fill(~mask, value), dim=-1)
        for title, value in filled.items()
    }
    panels["masked_softmax"] = masked_softmax(scores, mask)
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
    for ax, (title, weights) in zip(axes, panels.items(), strict=True):
        _drawn(ax, weights.nan_to_num(0.0), ["q0", "q1", "q2"], ["k0", "k1", "k2", "k3"], title)
        _write_in_cells(ax, [[f"{weight:.2f}" for weight in row] for row in weights.tolist()])
    _colour_bar(figure, axes)
    figure.suptitle("Query q1 may see nothing. What should its weights be?")
    return figure


def _model_and_tokens() -> tuple[SelfAttention, Tensor]:
    """A small module and an embedded sentence; a word that occurs twice has one vector."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = SelfAttention(16)
        words = sorted(set(SENTENCE))
        table = torch.randn(len(words), 16)
    return model, table[[words.index(word) for word in SENTENCE]][None]


def _drawn(
    ax: Axes, weights: Tensor, queries: Sequence[str], keys: Sequence[str], title: str
) -> None:
    plot_attention(weights, queries, keys, ax)
    ax.tick_params(axis="x", rotation=60 if max(map(len, keys)) > 2 else 0)
    ax.set_title(title)


def _write_in_cells(ax: Axes, texts: Sequence[Sequence[str]]) -> None:
    """Say in each cell what its colour says, white on dark."""
    values = ax.images[0].get_array()
    assert values is not None
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            colour = "white" if float(values[row, column]) > 0.6 else "black"
            ax.text(column, row, text, ha="center", va="center", color=colour)


def _colour_bar(figure: Figure, axes: Sequence[Axes]) -> None:
    figure.colorbar(axes[0].images[0], ax=axes, label="attention weight")
