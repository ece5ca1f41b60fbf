"""Which positions a rolling cache stores after each token."""

import sketch
from matplotlib.figure import Figure

TOKENS, WINDOW, SINKS = 12, 4, 2


def stored() -> Figure:
    """Draw the stored positions as one row per token: sinks dark, window grey, evicted light."""
    figure, axes = sketch.canvas(18, 15, 0.42)
    greys = [[_grey(token, position) for position in range(TOKENS)] for token in range(TOKENS)]
    sketch.words(axes, 8, 0.5, "positions")
    sketch.words(axes, 0.8, 7.3, "after token", rotation=90)
    for number in range(TOKENS):
        sketch.words(axes, 2.5 + number, 1.2, str(number))
        sketch.words(axes, 1.6, 2.2 + number, str(number))
    sketch.cells(axes, 2, 1.7, greys)
    for token in range(TOKENS):
        count = sum(grey > 0.2 for grey in greys[token])
        sketch.words(axes, 16, 2.2 + token, f"{count} stored")
    sketch.words(axes, 8, 14.4, "dark: sinks; grey: window; light: evicted")
    return figure


def _grey(token: int, position: int) -> float:
    """Return 0 for later positions, 0.1 for evicted ones, 0.4 in the window, 0.75 for sinks."""
    if position > token:
        return 0.0
    if position < SINKS:
        return 0.75
    return 0.4 if token - position < WINDOW else 0.1
