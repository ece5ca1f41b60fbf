"""What happens in a look-up, drawn with the numbers that the week's functions give."""

import numpy as np
import sketch
import softmax as week
from matplotlib.figure import Figure

TOKENS = ("The", "cat", "sat", "on")
QUERY = np.array([2.0, 1.0])
KEYS = np.array([[0.5, 0.0], [2.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
VALUES = np.array([[1.0, 0.0], [0.0, 4.0], [2.0, 2.0], [4.0, 1.0]])


def look_up() -> Figure:
    """One query meets four keys; the weights of the match mix four values."""
    scores = KEYS @ QUERY / np.sqrt(2)
    weights = week.softmax_numpy(scores)
    output, _ = week.scaled_dot_product_attention_numpy(QUERY[None], KEYS, VALUES)
    figure, axes = sketch.canvas(19, 9.6, 0.5)
    titles = (
        (3.9, "keys"),
        (8.0, "scores\nq · k / √2"),
        (11.3, "weights\nsoftmax"),
        (15.6, "values"),
    )
    for x, title in titles:
        sketch.words(axes, x, 0.7, title, size=11)
    sketch.words(axes, 1.0, 4.0, "query\nof “sat”", size=11)
    sketch.cells(axes, 0, 4.8, [[0.25, 0.25]], [numbers(QUERY)])
    for row, token in enumerate(TOKENS):
        y = 1.7 + 1.6 * row
        sketch.arrow(axes, (2.1, 5.3), (2.85, y + 0.5), color="0.5")
        sketch.cells(axes, 2.9, y, [[0.1, 0.1]], [numbers(KEYS[row])])
        sketch.words(axes, 5.7, y + 0.5, token, ha="center")
        sketch.arrow(axes, (6.4, y + 0.5), (7.2, y + 0.5))
        sketch.words(axes, 8.0, y + 0.5, f"{scores[row]:.2f}")
        sketch.arrow(axes, (8.8, y + 0.5), (10.4, y + 0.5))
        dark = float(weights[row])
        sketch.cells(axes, 10.5, y, [[dark]], [[f"{dark:.2f}"]], size=1.0, font=9)
        sketch.words(axes, 13.1, y + 0.5, "×", size=13)
        sketch.cells(axes, 14.6, y, [[0.1, 0.1]], [numbers(VALUES[row])])
        sketch.arrow(axes, (16.7, y + 0.5), (17.7, 8.2), color="0.5")
    sketch.words(axes, 12.4, 8.75, "their sum, the output of “sat”", size=11)
    sketch.cells(axes, 16.7, 8.25, [[0.25, 0.25]], [[f"{x:.2f}" for x in output[0]]], font=9)
    return figure


def numbers(vector: np.ndarray) -> list[str]:
    return [f"{x:g}" for x in vector]
