"""The block, and the angles of a rotated pair before and after a cache."""

import math

import llama as week
import sketch
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Circle


def block() -> Figure:
    """One block of the model: the residual stream, and two layers beside it."""
    parts = dict(week.LlamaBlock(8, 2, 1, 8).named_children())
    figure, axes = sketch.canvas(16, 8.6, 0.5)
    rows = (("norm2", "ff", 3.0, "SwiGLU"), ("norm1", "attn", 6.2, "grouped heads, RoPE"))
    sketch.arrow(axes, (2.2, 8.2), (2.2, 0.5))
    sketch.words(axes, 2.2, 8.45, "x (B, s, C)")
    sketch.words(axes, 2.2, 0.25, "x, two sums later")
    for norm, layer, y, text in rows:
        assert norm in parts and layer in parts
        sketch.arrow(axes, (2.2, y + 0.9), (4.0, y + 0.9))
        sketch.box(axes, 4.0, y + 0.3, 3.4, 1.2, f"{norm}: RMSNorm")
        sketch.arrow(axes, (7.4, y + 0.9), (8.4, y + 0.9))
        sketch.box(axes, 8.4, y + 0.3, 5.4, 1.2, f"{layer}: {text}", 0.85)
        axes.plot([11.1, 11.1], [y + 0.4, y - 0.4], "k-", linewidth=1)
        sketch.arrow(axes, (11.1, y - 0.4), (2.5, y - 0.4))
        axes.add_patch(Circle((2.2, y - 0.4), 0.3, facecolor="white", edgecolor="black"))
        sketch.words(axes, 2.2, y - 0.4, "+", size=12)
    sketch.words(axes, 14.9, 6.85, "cache", size=10)
    sketch.arrow(axes, (14.4, 7.05), (13.8, 7.05), "<|-|>")
    return figure


def clocks() -> Figure:
    """One pair of a key at eight positions: five in the cache, three new ones."""
    frequency = torch.tensor([0.5])
    pair = torch.tensor([1.0, 0.0]).expand(1, 1, 8, 2)
    right = week.apply_rotary(pair, frequency)[0, 0]
    wrong = torch.cat([right[:5], week.apply_rotary(pair[:, :, :3], frequency)[0, 0]])
    figure, axes = sketch.canvas(18, 6.4, 0.5)
    for row, (title, hands) in enumerate((("with offset 5", right), ("without offset", wrong))):
        y = 2.0 + 2.9 * row
        sketch.words(axes, 2.0, y, title)
        for position, (a, b) in enumerate(hands.tolist()):
            x = 5.0 + 1.65 * position
            grey = "0.85" if position < 5 else "white"
            axes.add_patch(Circle((x, y), 0.7, facecolor=grey, edgecolor="black"))
            sketch.arrow(axes, (x, y), (x + 0.65 * a, y - 0.65 * b))
            assert math.isclose(a * a + b * b, 1, abs_tol=1e-5)
            if row == 0:
                sketch.words(axes, x, 0.8, f"{position}")
    sketch.words(axes, 2.0, 0.8, "position")
    sketch.words(axes, 8.3, 6.1, "in the cache")
    sketch.words(axes, 14.9, 6.1, "new chunk")
    return figure
