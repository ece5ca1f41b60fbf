"""Comparing what a plotting exercise drew with what it should have drawn.

What a drawing says in words is the student's, and is not repeated. Which panel differs, in what way
and by how much is paid from the message's ration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...worker.protocol import frames
from ...worker.protocol.values import Decoder
from ..disclosure.leak_budget import Ration, few, of_drawings, shape
from ..outcomes import Flaw, Wrong


@dataclass(frozen=True)
class Image:
    """One image as it is seen: `data` (rows, columns) from the top if `top_row_first`."""

    data: Any
    top_row_first: bool
    vmin: float | None
    vmax: float | None


@dataclass(frozen=True)
class Drawing:
    """What an Axes shows; ticks are the labels at the cells, in order."""

    images: tuple[Image, ...]
    xlabel: str
    ylabel: str
    title: str
    xticks: tuple[str, ...]
    yticks: tuple[str, ...]
    same_axes: bool


@dataclass(frozen=True)
class Figure:
    """The panels of a figure, colour bars left out."""

    axes: tuple[Drawing, ...]
    suptitle: str


def read_drawing(value: frames.DrawingV, decoder: Decoder) -> Drawing:
    images = tuple(Image(decoder(i.data), i.top_row_first, i.vmin, i.vmax) for i in value.images)
    texts = value.xlabel, value.ylabel, value.title
    return Drawing(images, *texts, value.xticks, value.yticks, value.same_axes)


def read_figure(value: frames.FigureV, decoder: Decoder) -> Figure:
    return Figure(tuple(read_drawing(a, decoder) for a in value.axes), value.suptitle)


def read_special(value: frames.Value, decoder: Decoder) -> Any:
    """Drawings and figures with their data; anything else as it is."""
    if isinstance(value, frames.DrawingV):
        return read_drawing(value, decoder)
    if isinstance(value, frames.FigureV):
        return read_figure(value, decoder)
    return value


def compare_drawing(
    actual: Any, expected: Drawing, where: str = "The drawing", ration: Ration | None = None
) -> None:
    """Raise Wrong if a drawing differs: orientation first, then data, limits, labels, ticks."""
    ration = ration or of_drawings()
    if not isinstance(actual, Drawing):
        raise Wrong(f"{where} should be a matplotlib Axes.", Flaw.KIND)
    if len(actual.images) != len(expected.images):
        raise Wrong(
            f"{where} should hold {len(expected.images)} image, "
            f"but holds {few(len(actual.images), ration=ration)}.",
            Flaw.KIND,
        )
    actual = _as_it_is_seen(actual, expected)
    for mine, theirs in zip(actual.images, expected.images, strict=True):
        _compare_image(mine, theirs, where, ration)
    for label, axis in (("xlabel", "x"), ("ylabel", "y")):
        if getattr(actual, label).strip() != getattr(expected, label):
            raise Wrong(
                f"{where}: the {axis} label should be {getattr(expected, label)!r}, "
                f"but is {_said(getattr(actual, label))}.",
                Flaw.DRAWN,
            )
    if expected.title and actual.title.strip() != expected.title:
        raise Wrong(
            f"{where}: the title should be {expected.title!r}, but is {_said(actual.title)}.",
            Flaw.DRAWN,
        )
    for ticks, axis in (("xticks", "x"), ("yticks", "y")):
        wanted = getattr(expected, ticks)
        if wanted and getattr(actual, ticks) != wanted:
            raise Wrong(
                f"{where}: the tokens do not stand at the {axis} axis, one at each cell.",
                Flaw.DRAWN,
            )
    if actual.same_axes != expected.same_axes:
        raise Wrong(
            f"{where} should be made on the Axes that was given, and that Axes returned.",
            Flaw.DRAWN,
        )


def _as_it_is_seen(mine: Drawing, theirs: Drawing) -> Drawing:
    """The drawing; one whose rows run upwards and come in the opposite order shows the same."""
    pairs = list(zip(mine.images, theirs.images, strict=True))
    if any(image.top_row_first or not _shows(image.data[::-1], right) for image, right in pairs):
        return mine
    turned = (replace(i, data=i.data[::-1], top_row_first=True) for i in mine.images)
    return replace(mine, images=tuple(turned), yticks=mine.yticks[::-1])


def _shows(data: Any, right: Image) -> bool:
    a, b = np.asarray(data), np.asarray(right.data)
    return a.shape == b.shape and np.allclose(a, b, atol=1e-6)


def _said(label: str) -> str:
    """What a label says is the student's word, and could be an input."""
    return "another" if label.strip() else "empty"


def _compare_image(mine: Any, theirs: Any, where: str, ration: Ration) -> None:
    if not mine.top_row_first:
        raise Wrong(
            f"{where}: the first query should be at the top, but rows run upwards.", Flaw.DRAWN
        )
    a, b = np.asarray(mine.data), np.asarray(theirs.data)
    if a.shape != b.shape:
        swapped = " Rows are queries, columns are keys." if a.shape == b.shape[::-1] else ""
        shows = shape(a.shape, b.shape, ration)
        raise Wrong(f"{where} should show {b.shape} cells, but shows {shows}.{swapped}", Flaw.KIND)
    if not np.allclose(a, b, atol=1e-6):
        if a.shape[0] == a.shape[-1] and np.allclose(a.T, b, atol=1e-6):
            raise Wrong(f"{where} is transposed: rows are queries, columns are keys.", Flaw.DRAWN)
        if np.allclose(a[::-1], b, atol=1e-6):
            raise Wrong(f"{where} is upside down: the first query belongs at the top.", Flaw.DRAWN)
        raise Wrong(
            f"{where} should show the weights unchanged, but the values differ.", Flaw.VALUE
        )
    if (mine.vmin, mine.vmax) != (theirs.vmin, theirs.vmax):
        raise Wrong(
            f"{where}: the colours should run from {theirs.vmin:g} to {theirs.vmax:g}, "
            "whatever the weights are.",
            Flaw.DRAWN,
        )


def compare_figure(actual: Any, expected: Figure, where: str = "The figure") -> None:
    """Raise Wrong if a figure's panels differ in number or content."""
    if not isinstance(actual, Figure):
        raise Wrong(f"{where} should be a matplotlib Figure.", Flaw.KIND)
    ration = of_drawings(len(expected.axes))
    if len(actual.axes) != len(expected.axes):
        raise Wrong(
            f"{where} should have {len(expected.axes)} panels, "
            f"but has {few(len(actual.axes), ration=ration)}.",
            Flaw.KIND,
        )
    for number, (mine, theirs) in enumerate(zip(actual.axes, expected.axes, strict=True)):
        compare_drawing(mine, theirs, f"Panel {number + 1}", ration)
