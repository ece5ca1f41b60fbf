"""A solution beside one's own, on a terminal and in a cell: in two columns or below each other."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..model.errors import KitError
from .commands import to_work_on
from .solution import Beside, beside
from .terminal import console
from .week import WeekFolder, open_folder

_NARROWEST = 40
_TWO_COLUMNS = 100  # narrower, code would be broken in the middle of lines


class ShownSolution:
    """What `solution(...)` returns; `said` where there is nothing to show."""

    def __init__(self, found: Beside | None, said: str = "") -> None:
        self.found, self.said = found, said

    def __repr__(self) -> str:
        return "\n".join(lines(self.found, 80)) if self.found else self.said

    def _repr_html_(self) -> str:
        from .page import solution_html  # only a notebook needs templates

        return solution_html(self.found, self.said)


def run_solution(exercise: str, folder: Path | None, place: Path | None) -> None:
    """Show an exercise's solution beside one's own."""
    out = console()
    for line in lines(beside(open_folder(folder), exercise, place), out.width):
        out.print(line, soft_wrap=True)


def show_solution(
    exercise: str | None, folder: str | Path | None, place: str | Path | None
) -> ShownSolution:
    """The same for a notebook. Never raises for what was typed."""
    try:
        opened: WeekFolder = open_folder(None if folder is None else Path(folder).expanduser())
        name = exercise or to_work_on(opened)
        return ShownSolution(beside(opened, name, None if place is None else Path(place)))
    except KitError as error:
        return ShownSolution(None, str(error))


def lines(found: Beside, width: int) -> Iterator[str]:
    """The whole as text, with a mark between lines that differ."""
    yield found.heading
    yield ""
    yield from _columns(found, width) if width >= _TWO_COLUMNS else _stacked(found)
    yield ""
    yield "What differs:"
    yield from _listed(found.said, width)
    if found.mistakes:
        yield ""
        yield "Common mistakes here:"
        yield from _listed(found.mistakes, width)


def _listed(sentences: Iterable[str], width: int) -> Iterator[str]:
    """A list, broken between words."""
    for said in sentences:
        yield from textwrap.wrap(
            said,
            max(width, _NARROWEST),
            initial_indent="  - ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def _columns(found: Beside, width: int) -> Iterator[str]:
    room = (width - 3) // 2
    place = f"yours, line {found.line}" if found.line else "yours"
    yield f"{place.ljust(room)}   the solution"
    for left, differs, right in found.rows:
        mark = "|" if differs else " "
        for n in range(0, max(len(left), len(right), 1), room):
            a, b = left[n : n + room], right[n : n + room]
            yield f"{a.ljust(room)} {mark} {b}".rstrip()


def _stacked(found: Beside) -> Iterator[str]:
    for n, title in ((0, "yours"), (2, "the solution")):
        yield f"{title}:"
        for row in found.rows:
            text = str(row[n])
            if text or not row[1]:
                yield f"{'|' if row[1] else ' '} {text}".rstrip()
        yield ""
