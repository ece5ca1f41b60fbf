"""Draw boxes, arrows and grids for the concept drawings of all weeks.

Coordinates run to the right and down, one unit a cell, so that a grid is drawn in reading order.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

SMALL = 10


def canvas(width: float, height: float, scale: float = 0.55) -> tuple[Figure, Axes]:
    """An empty sheet of so many units; `scale` is what a unit takes in inches."""
    figure = Figure(figsize=(width * scale, height * scale))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    return figure, axes


def words(
    axes: Axes, x: float, y: float, text: str, *, size: float = SMALL, **more: object
) -> None:
    """Text, centred on a place."""
    axes.text(x, y, text, **({"ha": "center", "va": "center", "fontsize": size} | more))


def box(
    axes: Axes, x: float, y: float, width: float, height: float, text: str = "", grey: float = 1
) -> None:
    """A box with rounded corners; its text is white on dark."""
    shape = FancyBboxPatch(
        (x + 0.1, y + 0.1),
        width - 0.2,
        height - 0.2,
        boxstyle="round,pad=0.1",
        facecolor=str(grey),
        edgecolor="black",
    )
    axes.add_patch(shape)
    words(axes, x + width / 2, y + height / 2, text, color="black" if grey > 0.5 else "white")


def arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    style: str = "-|>",
    **more: object,
) -> None:
    """An arrow between two places."""
    look = {"arrowstyle": style, "color": "black", "shrinkA": 0, "shrinkB": 0} | more
    axes.annotate("", xy=end, xytext=start, arrowprops=look)


def cells(
    axes: Axes,
    x: float,
    y: float,
    greys: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]] | None = None,
    *,
    size: float = 1.0,
    font: float = SMALL,
) -> None:
    """A grid from its upper left corner: 0 white to 1 black, with a text in each cell."""
    for row, line in enumerate(greys):
        for column, dark in enumerate(line):
            corner = (x + column * size, y + row * size)
            axes.add_patch(
                Rectangle(
                    corner, size, size, facecolor=str(1 - dark), edgecolor="black", linewidth=0.7
                )
            )
            if texts:
                place = corner[0] + size / 2, corner[1] + size / 2
                colour = "black" if dark < 0.55 else "white"
                words(axes, *place, texts[row][column], size=font, color=colour)


def frame(axes: Axes, x: float, y: float, width: float, height: float, **more: object) -> None:
    """An empty rectangle around something."""
    look = {"fill": False, "edgecolor": "black", "linewidth": 1.8} | more
    axes.add_patch(Rectangle((x, y), width, height, **look))
