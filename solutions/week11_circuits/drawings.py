"""The residual stream as a sum, and the two heads that continue a pattern."""

import sketch
from matplotlib.figure import Figure
from matplotlib.patches import Circle


def stream() -> Figure:
    """A residual stream with two layers of two heads beside it."""
    figure, axes = sketch.canvas(18, 6.6, 0.5)
    y = 4.4
    sketch.arrow(axes, (2.6, y), (15.2, y))
    sketch.box(axes, 0.2, y - 0.6, 2.4, 1.2, "embedding")
    sketch.box(axes, 15.2, y - 0.6, 2.4, 1.2, "logits")
    for layer, x in enumerate((3.6, 9.4)):
        sketch.words(axes, x + 2.2, 0.4, f"layer {layer}")
        for head in range(2):
            top = 0.9 + 1.3 * head
            sketch.box(axes, x + 0.8, top, 2.8, 1.1, f"head {layer}.{head}", 0.85)
            axes.plot([x, x, x + 0.8], [y, top + 0.55, top + 0.55], "k-", linewidth=1)
            axes.plot([x + 3.6, x + 4.4], [top + 0.55, top + 0.55], "k-", linewidth=1)
        sketch.arrow(axes, (x + 4.4, 1.45), (x + 4.4, y - 0.3))
        axes.add_patch(Circle((x + 4.4, y), 0.3, facecolor="white", edgecolor="black"))
        sketch.words(axes, x + 4.4, y, "+", size=12)
    for x, text in ((3.1, "embedding"), (8.7, "+ 0.0 + 0.1"), (14.5, "+ 1.0 + 1.1")):
        sketch.words(axes, x, y + 1.2, text)
    return figure


def induction() -> Figure:
    """What the two heads attend to, in a sequence that begins again."""
    figure, axes = sketch.canvas(16, 6.2, 0.5)
    tokens = "ABCDABC"
    places = [1.4 + 2.0 * number for number in range(len(tokens))]
    for number, (x, token) in enumerate(zip(places, tokens, strict=True)):
        grey = 0.6 if number == 4 else 0.85 if number in (0, 1) else 1
        sketch.box(axes, x - 0.6, 2.6, 1.2, 1.2, token, grey)
        sketch.words(axes, x, 4.2, f"{number}")
    sketch.words(axes, 14.9, 4.2, "position")
    curve = {"connectionstyle": "arc3,rad=0.35"}
    sketch.arrow(axes, (places[4], 2.6), (places[1], 2.6), **curve)
    sketch.words(axes, (places[1] + places[4]) / 2, 0.6, "induction head (layer 1)")
    curve = {"connectionstyle": "arc3,rad=-0.6"}
    sketch.arrow(axes, (places[1], 3.8), (places[0], 3.8), linestyle="--", **curve)
    sketch.words(axes, 4.2, 5.5, "previous-token head (layer 0): A stands before B")
    return figure
