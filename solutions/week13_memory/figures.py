"""The figures of the week 13 lesson, readable in black and white."""

import torch
from drawings import stored
from matplotlib.figure import Figure

TOKENS, WINDOW, SINKS = 14, 4, 2


def figures() -> dict[str, Figure]:
    """Every figure of the lesson by its file stem."""
    return {"stored": stored(), "distances": distances(), "sizes": sizes()}


def distances() -> Figure:
    """Distances of visible pairs, in the text and within the cache of each query."""
    query, key = torch.arange(TOKENS)[:, None], torch.arange(TOKENS)
    sink = key < SINKS
    visible = (key <= query) & (sink | (query - key < WINDOW))
    within = torch.where(sink, query.clamp(max=WINDOW + SINKS - 1) - key, query - key)
    figure = Figure(figsize=(8.5, 4), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, (title, matrix) in zip(
        panels, {"in the text": query - key, "within the cache": within}.items(), strict=True
    ):
        shown = (matrix + 2.0).masked_fill(~visible, 0)
        axes.imshow(shown, cmap="Greys", vmin=0, vmax=TOKENS + 6)
        for i, j in visible.nonzero().tolist():
            colour = "white" if shown[i, j] > 11 else "black"
            axes.text(j, i, int(matrix[i, j]), ha="center", va="center", size=7, color=colour)
        axes.set(title=f"distances {title}", xlabel="key", ylabel="query")
        axes.set_xticks(range(0, TOKENS, 2))
        axes.set_yticks(range(0, TOKENS, 2))
    return figure


def sizes() -> Figure:
    """Numbers that four kinds of attention cache for a token in one layer of DeepSeek-V2's size."""
    heads, d, d_c, d_r = 128, 128, 512, 64
    numbers = {
        "multi-head": 2 * heads * d,
        "grouped-query, 8 heads": 2 * 8 * d,
        "latent, 512 + 64": d_c + d_r,
        "multi-query": 2 * d,
    }
    figure = Figure(figsize=(6.5, 2.4), layout="constrained")
    axes = figure.subplots()
    names = list(numbers)[::-1]
    bars = axes.barh(names, [numbers[name] for name in names], color="0.6", edgecolor="black")
    axes.bar_label(bars, padding=3)
    axes.set(xscale="log", xlim=(100, 120_000), xlabel="numbers per token and layer")
    return figure
