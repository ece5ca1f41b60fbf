"""A solution beside one's own, on a terminal and in a cell: in two columns or below each other."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from ...model.errors import KitError
from ..commands.terminal_commands import to_work_on
from ..folder.week import WeekFolder, open_folder
from .solution import Beside, beside
from .terminal import console

_NARROWEST = 40
_TWO_COLUMNS = 100  # narrower, most lines of code would be broken
_BREAKS = re.compile(r" +|[(\[{,]|(?<=[\w)\]])(?=\.[A-Za-z_])")  # where a line may end


class ShownSolution:
    """What `solution(...)` returns; `said` where there is nothing to show."""

    def __init__(self, found: Beside | None, said: str = "") -> None:
        self.found, self.said = found, said

    def __repr__(self) -> str:
        return "\n".join(lines(self.found, 80)) if self.found else self.said

    def _repr_html_(self) -> str:
        from .check_page import solution_html  # only a notebook needs templates

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
    yield from _columns(found, width) if width >= _TWO_COLUMNS else _stacked(found, width)
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
        for a, b in zip_longest(folded(left, room), folded(right, room), fillvalue=""):
            yield f"{a.ljust(room)} {mark} {b}".rstrip()


def _stacked(found: Beside, width: int) -> Iterator[str]:
    room = max(width, _NARROWEST) - 2
    for n, title in ((0, "yours"), (2, "the solution")):
        yield f"{title}:"
        for row in found.rows:
            text = str(row[n])
            if text or not row[1]:
                for piece in folded(text, room):
                    yield f"{'|' if row[1] else ' '} {piece}".rstrip()
        yield ""


def folded(line: str, room: int) -> list[str]:
    """A line of code in pieces that fit, what goes on indented further; no word is broken.

    A piece ends at a space, outside of as many brackets as can be; else after a bracket or a comma,
    or before a dot. A name that is longer than the room stays in one piece.
    """
    pieces, rest = list[str](), line.rstrip()
    comment = rest.lstrip().startswith("#")
    indent = " " * min(len(line) - len(line.lstrip()) + (0 if comment else 4), room // 2)
    indent += "# " * comment
    while len(rest) > room:
        begin = len(indent) if pieces else len(rest) - len(rest.lstrip())
        ends = [m.end() for m in _BREAKS.finditer(rest, begin) if begin < m.end() < len(rest)]
        fit = [e for e in ends if len(rest[:e].rstrip()) <= room]
        spaces = [e for e in fit if rest[e - 1] == " " and e > room // 2]
        if spaces:
            end = min(spaces, key=lambda e: (_depth(rest[:e]), -e))
        elif ends:
            end = fit[-1] if fit else ends[0]
        else:
            break
        pieces.append(rest[:end].rstrip())
        rest = indent + rest[end:].lstrip()
    return [*pieces, rest]


def _depth(text: str) -> int:
    """How many brackets are open at the end of this."""
    return sum(text.count(c) for c in "([{") - sum(text.count(c) for c in ")]}")
