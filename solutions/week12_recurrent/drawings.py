"""Which pairs of queries and keys a chunk computes, and the states between chunks."""

import sketch
from matplotlib.figure import Figure

TOKENS, CHUNK = 12, 4


def chunks() -> Figure:
    """The pairs within chunks, computed directly, and those that a state stands for."""
    figure, axes = sketch.canvas(21, 14.2, 0.45)
    greys = [[_grey(query, key) for key in range(TOKENS)] for query in range(TOKENS)]
    sketch.words(axes, 8, 0.5, "keys")
    sketch.words(axes, 0.8, 7.3, "queries", rotation=90)
    sketch.cells(axes, 2, 1.3, greys)
    for number in range(TOKENS // CHUNK):
        y = 1.3 + CHUNK * number
        sketch.frame(axes, 2 + CHUNK * number, y, CHUNK, CHUNK)
        sketch.words(axes, 17.5, y + 0.1, f"state {number}")
        sketch.arrow(axes, (17.5, y + 0.5), (17.5, y + 1.3))
        sketch.box(axes, 15.6, y + 1.3, 3.8, 1.4, f"chunk {number}")
        sketch.arrow(axes, (17.5, y + 2.7), (17.5, y + 3.6))
    sketch.words(axes, 17.5, 1.4 + TOKENS, f"state {TOKENS // CHUNK}")
    sketch.words(axes, 8, 13.8, "dark: computed directly; light grey: read from the state")
    return figure


def _grey(query: int, key: int) -> float:
    """0 for later keys, dark for keys of the query's chunk, light for keys of earlier chunks."""
    if key > query:
        return 0.0
    return 0.7 if key // CHUNK == query // CHUNK else 0.15
