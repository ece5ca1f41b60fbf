"""A row of tiles: what is kept while blocks of keys go by, with the numbers that come out."""

import flash as week
import sketch
import torch
from matplotlib.figure import Figure

SCORES = torch.tensor([[1.0, 3.0, 2.0], [0.5, 4.0, 1.0], [2.0, 1.5, 3.0]], dtype=torch.float64)


def tile_walk() -> Figure:
    """One query, nine keys in three blocks: maximum and sum after each, and the factor between."""
    figure, axes = sketch.canvas(20, 9.0, 0.48)
    sketch.words(axes, 1.9, 1.9, "scores of\none query", size=11)
    sketch.words(axes, 1.9, 5.0, "kept after\nthe block", size=11)
    before = None
    for number in range(len(SCORES)):
        x = 4.3 + 5.4 * number
        sketch.words(axes, x + 2.1, 0.6, f"block {number + 1}")
        sketch.cells(
            axes, x, 1.2, [[0.1] * 3], [[f"{s:g}" for s in SCORES[number].tolist()]], size=1.4
        )
        maximum, total = week.online_softmax(list(SCORES[: number + 1]))
        sketch.arrow(axes, (x + 2.1, 2.7), (x + 2.1, 3.8))
        sketch.box(
            axes, x, 3.8, 4.2, 2.4, f"maximum {maximum:g}\nsum {total:.3f}\noutput so far", 0.85
        )
        if before is not None:
            factor = float((before - maximum).exp())
            sketch.arrow(axes, (x - 1.2, 5.0), (x, 5.0))
            told = (
                "does not change"
                if factor == 1
                else f"times e^({before - maximum:g}) = {factor:.3f}"
            )
            sketch.words(axes, x - 0.6, 7.0, f"old sum and output\n{told}")
            sketch.arrow(axes, (x - 0.6, 6.4), (x - 0.6, 5.2), style="->", color="0.5")
        before = maximum
    sketch.words(
        axes,
        10,
        8.5,
        f"at the end: output / sum, and logsumexp = {maximum:g} + log {total:.3f} = {maximum + total.log():.3f}",
        size=11,
    )
    return figure
