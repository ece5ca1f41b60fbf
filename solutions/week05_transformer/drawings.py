"""A block on the residual stream."""

import sketch
import torch
import transformer
from matplotlib.figure import Figure

WIDTH, HEADS, FEED = 64, 4, 256


def block() -> Figure:
    """The stream runs straight on; attention and feed-forward hang on its side and add to it."""
    made = transformer.TransformerBlock(WIDTH, HEADS, FEED)
    shape = str(tuple(made(torch.zeros(2, 10, WIDTH)).shape))
    figure, axes = sketch.canvas(17, 13.6, 0.48)
    sketch.arrow(axes, (3, 13.2), (3, 0.4), linewidth=3.5, style="-|>", mutation_scale=22)
    sketch.words(axes, 3.3, 13.2, f"x {shape}", ha="left")
    sketch.words(axes, 3.3, 0.6, f"x′′ {shape}, to the next block", ha="left")
    sketch.words(axes, 1.2, 6.8, "the stream:\nnothing in it\nis replaced", size=11)
    arms = (
        (11.6, 8.1, "ln1", "attn: look at\nother positions", "x′ = x + attn(ln1(x))"),
        (5.9, 2.4, "ln2", "ff: think at\none’s own position", "x′′ = x′ + ff(ln2(x′))"),
    )
    for bottom, top, norm, work, formula in arms:
        sketch.arrow(axes, (3, bottom), (6, bottom))
        sketch.box(axes, 6, bottom - 0.7, 2.6, 1.4, norm, 0.9)
        sketch.arrow(axes, (8.6, bottom), (10.2, bottom))
        sketch.box(axes, 10.2, bottom - 1.1, 6.2, 2.2, work, 0.75)
        sketch.arrow(axes, (13.3, bottom - 1.1), (13.3, top), style="-")
        sketch.arrow(axes, (13.3, top), (3.55, top))
        sketch.words(
            axes,
            3,
            top,
            "+",
            size=15,
            bbox={"boxstyle": "circle,pad=0.2", "facecolor": "white", "edgecolor": "black"},
        )
        sketch.words(axes, 8.4, top - 0.55, formula)
    return figure
