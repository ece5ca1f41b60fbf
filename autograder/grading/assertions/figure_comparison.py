"""Check the plots of a plotting exercise.

Messages never quote the student's labels, because a label could contain a hidden input. Naming the
panel that differs and the size of the difference uses up part of the message's leak budget.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..comparator import CELLS, close
from ..decoding import Drawing, Figure, Image
from ..disclosure.leak_budget import DRAWINGS, MessageBudget, few, shape
from ..outcomes import Flaw, Wrong


def compare_figure(actual: Any, expected: Figure, subject: str = "The figure") -> None:
    """Raise Wrong if a figure's panels differ in number or content."""
    if not isinstance(actual, Figure):
        raise Wrong(f"{subject} should be a matplotlib Figure.", Flaw.KIND)
    budget, count = MessageBudget(DRAWINGS * len(expected.axes)), len(expected.axes)
    if len(actual.axes) != count:
        has = few(len(actual.axes), budget=budget)
        raise Wrong(f"{subject} should have {count} panels, but has {has}.", Flaw.KIND)
    for number, (mine, wanted) in enumerate(zip(actual.axes, expected.axes, strict=True)):
        compare_drawing(mine, wanted, f"Panel {number + 1}", budget)


def compare_drawing(
    actual: Any,
    expected: Drawing,
    subject: str = "The drawing",
    budget: MessageBudget | None = None,
) -> None:
    """Raise Wrong if a drawing differs: orientation first, then cells, limits, labels, ticks."""
    budget, count = budget or MessageBudget(DRAWINGS), len(expected.images)
    if not isinstance(actual, Drawing):
        raise Wrong(f"{subject} should be a matplotlib Axes.", Flaw.KIND)
    if len(actual.images) != count:
        has = few(len(actual.images), budget=budget)
        raise Wrong(f"{subject} should contain {count} image, but contains {has}.", Flaw.KIND)
    actual = _with_first_row_on_top(actual, expected)
    for mine, wanted in zip(actual.images, expected.images, strict=True):
        _compare_image(mine, wanted, subject, budget)
    _compare_label(subject, "x label", actual.xlabel, expected.xlabel)
    _compare_label(subject, "y label", actual.ylabel, expected.ylabel)
    if expected.title:
        _compare_label(subject, "title", actual.title, expected.title)
    for axis in ("x", "y"):
        wanted = getattr(expected, f"{axis}ticks")
        if wanted and getattr(actual, f"{axis}ticks") != wanted:
            raise Wrong(
                f"{subject}: label each cell of the {axis} axis with its token.", Flaw.DRAWN
            )
    if actual.same_axes != expected.same_axes:
        raise Wrong(
            f"{subject} should be made on the Axes passed in; return that Axes.", Flaw.DRAWN
        )


def _with_first_row_on_top(mine: Drawing, wanted: Drawing) -> Drawing:
    """Return the drawing, flipped if both its rows and its vertical axis are reversed."""
    pairs = list(zip(mine.images, wanted.images, strict=True))
    if any(x.top_row_first or not _is_upside_down(x, y) for x, y in pairs):
        return mine
    turned = (replace(i, data=i.data[::-1], top_row_first=True) for i in mine.images)
    return replace(mine, images=tuple(turned), yticks=mine.yticks[::-1])


def _is_upside_down(mine: Image, wanted: Image) -> bool:
    return mine.data.shape == wanted.data.shape and close(mine.data[::-1], wanted.data, CELLS)


def _compare_label(subject: str, label: str, actual: str, expected: str) -> None:
    if actual.strip() != expected:
        has = "different" if actual.strip() else "empty"
        raise Wrong(f"{subject}: the {label} should be {expected!r}, but is {has}.", Flaw.DRAWN)


def _compare_image(mine: Image, wanted: Image, subject: str, budget: MessageBudget) -> None:
    if not mine.top_row_first:
        raise Wrong(f"{subject}: put the first query at the top; its rows run upwards.", Flaw.DRAWN)
    a, b = mine.data, wanted.data
    if a.shape != b.shape:
        swapped = " Rows are queries, columns are keys." if a.shape == b.shape[::-1] else ""
        shows = shape(a.shape, b.shape, budget)
        raise Wrong(
            f"{subject} should show {b.shape} cells, but shows {shows}.{swapped}", Flaw.KIND
        )
    if not close(a, b, CELLS):
        if close(a.T, b, CELLS):
            raise Wrong(f"{subject} is transposed: rows are queries, columns are keys.", Flaw.DRAWN)
        if _is_upside_down(mine, wanted):
            raise Wrong(
                f"{subject} is upside down: the first query belongs at the top.", Flaw.DRAWN
            )
        raise Wrong(
            f"{subject} should show the weights unchanged, but the values differ.", Flaw.VALUE
        )
    if (mine.vmin, mine.vmax) != (wanted.vmin, wanted.vmax):
        raise Wrong(
            f"{subject}: the colours should run from {wanted.vmin:g} to {wanted.vmax:g}, "
            "for any weights.",
            Flaw.DRAWN,
        )
