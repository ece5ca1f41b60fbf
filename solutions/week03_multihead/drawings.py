"""The shapes of multi-head attention, one after the other, with a number for every letter."""

import multihead
import sketch
import torch
from matplotlib.figure import Figure

B, N, M, C, H = 2, 5, 7, 12, 3


def shape_flow() -> Figure:
    """From queries and keys to the output; every shape is taken from a tensor of that step."""
    x, memory = torch.randn(B, N, C), torch.randn(B, M, C)
    q, k = multihead.split_heads(x, H), multihead.split_heads(memory, H)
    scores = q @ k.transpose(-2, -1)
    mixed = scores @ k
    merged = multihead.merge_heads(mixed)
    steps = {
        "query": ("x", x),
        "key, value": ("memory", memory),
        "q": ("split", q),
        "k": ("split", k),
        "scores": ("q · kᵀ / √d", scores),
        "mixed": ("weights times v", mixed),
        "merged": ("merge", merged),
    }
    shape = {name: f"{tuple(tensor.shape)}" for name, (_, tensor) in steps.items()}
    figure, axes = sketch.canvas(18, 15.4, 0.5)
    sketch.words(
        axes,
        9,
        0.6,
        f"B = {B}, n = {N} queries, m = {M} keys, C = {C}, H = {H} heads of d = {C // H}",
        size=11,
    )
    for left, source, names, short in (
        (0.5, "query", ("W_q",), "q"),
        (8.2, "key, value", ("W_k", "W_v"), "k"),
    ):
        width = 5.0 if short == "q" else 9.3
        sketch.box(axes, left, 1.5, width, 1.3, f"{source}   {shape[source]}", 0.9)
        for number, name in enumerate(names):
            x0 = left + 4.65 * number if short == "k" else left
            own = width if short == "q" else 4.65
            sketch.arrow(axes, (x0 + own / 2, 2.8), (x0 + own / 2, 3.7))
            sketch.box(axes, x0, 3.7, own, 1.1, name)
            sketch.arrow(axes, (x0 + own / 2, 4.8), (x0 + own / 2, 5.7))
            sketch.box(
                axes, x0, 5.7, own, 1.3, f"split: {shape['q' if short == 'q' else 'k']}", 0.9
            )
    sketch.arrow(axes, (3.0, 7.0), (5.2, 8.1))
    sketch.arrow(axes, (10.5, 7.0), (8.6, 8.1))
    sketch.box(axes, 3.2, 8.1, 7.6, 1.3, f"q · kᵀ / √d, mask, softmax: {shape['scores']}", 0.75)
    sketch.arrow(axes, (7.0, 9.4), (7.0, 10.3))
    sketch.arrow(axes, (15.2, 7.0), (10.6, 10.6))
    sketch.box(axes, 3.2, 10.3, 7.6, 1.3, f"times v: {shape['mixed']}", 0.9)
    sketch.arrow(axes, (7.0, 11.6), (7.0, 12.3))
    sketch.box(axes, 3.2, 12.3, 7.6, 1.2, f"merge: {shape['merged']}", 0.9)
    sketch.arrow(axes, (7.0, 13.5), (7.0, 14.1))
    sketch.box(axes, 3.2, 14.1, 7.6, 1.2, f"W_o: {shape['merged']}")
    return figure
