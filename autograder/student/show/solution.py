"""Show a released solution side by side with the student's version of an exercise."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

import msgspec

from ...model.errors import KitError
from ..folder.released_solution import find_solution
from ..folder.source import span, used
from ..folder.week import WeekFolder, open_folder
from .notebook_output import NotebookOutput, message_output
from .progress import next_to_do
from .terminal import console

_MIN_WIDTH = 40
_TWO_COLUMNS = 100  # in a narrower terminal most lines of code would be wrapped


class SolutionComparison(msgspec.Struct, frozen=True):
    """A student's version of an exercise and the solution.

    line: the first line of the student's version in the module; 0 if there is none.
    rows: the student's line, whether it differs, and the solution's line next to it.
    mistakes: common mistakes in this exercise.
    """

    heading: str
    line: int
    rows: tuple[tuple[str, bool, str], ...]
    mistakes: tuple[str, ...]


def run_solution(exercise: str, folder: Path | None, place: Path | None) -> None:
    """Print an exercise's solution side by side with the student's version."""
    out = console()
    for line in lines(compare_with_solution(open_folder(folder), exercise, place), out.width):
        out.print(line, soft_wrap=True)


def solution_output(
    exercise: str | None, folder: Path | None, place: Path | None
) -> NotebookOutput:
    """Return the comparison for a notebook; mistakes in the arguments become a message."""
    try:
        opened = open_folder(folder)
        found = compare_with_solution(opened, exercise or next_to_do(opened), place)
    except KitError as error:
        return message_output(str(error))
    return NotebookOutput("\n".join(lines(found, 80)), "solution.html.j2", found=found)


def compare_with_solution(
    folder: WeekFolder, exercise: str, place: Path | None = None
) -> SolutionComparison:
    """Put the student's version next to the released solution and the helpers it uses.

    Raises KitError if there is no such exercise, or no solution yet.
    """
    folder.exercise(exercise)
    solution = find_solution(folder, place)
    try:
        line, mine = _definition(folder.source(), exercise)
    except (SyntaxError, ValueError) as error:
        raise KitError(f"Python cannot read your file: {error}") from None
    _, theirs = _definition(solution.source, exercise)
    if not theirs:
        raise KitError(f"the released solution of {folder.heading} does not contain {exercise}")
    names = tuple(getattr(n, "name", "") for n in ast.parse(solution.source).body)
    for name in used(solution.source, exercise, names):
        if name and name not in folder.names:
            theirs += ["", "", *_definition(solution.source, name)[1]]
    heading = f"{exercise} · {folder.heading}"
    return SolutionComparison(heading, line, _rows(mine, theirs), solution.mistakes_in(exercise))


def _definition(source: str, name: str) -> tuple[int, list[str]]:
    """Return a definition's first line number and its lines; 0 and [] if it is absent."""
    place = span(source, name)
    return (place[0], source.split("\n")[place[0] - 1 : place[1]]) if place else (0, [])


def _rows(mine: list[str], theirs: list[str]) -> tuple[tuple[str, bool, str], ...]:
    a, b = ([line.strip() for line in version] for version in (mine, theirs))
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return tuple(
        (left, tag != "equal" and bool(left.strip() or right.strip()), right)
        for tag, i, j, k, m in matcher.get_opcodes()
        for left, right in zip_longest(mine[i:j], theirs[k:m], fillvalue="")
    )


def lines(found: SolutionComparison, width: int) -> Iterator[str]:
    """Format the comparison in two columns, or in a narrow terminal as a diff."""
    yield found.heading
    yield ""
    yield from _columns(found, width) if width >= _TWO_COLUMNS else _diff(found, width)
    if found.mistakes:
        yield ""
        yield "Common mistakes:"
    for mistake in found.mistakes:
        yield from textwrap.wrap(
            mistake, max(width, _MIN_WIDTH), initial_indent="  - ", subsequent_indent="    "
        )


def _columns(found: SolutionComparison, width: int) -> Iterator[str]:
    column = (width - 3) // 2
    place = f"yours, line {found.line}" if found.line else "yours"
    yield f"{place.ljust(column)}   the solution"
    for left, differs, right in found.rows:
        for a, b in zip_longest(_wrapped(left, column), _wrapped(right, column), fillvalue=""):
            yield f"{a.ljust(column)} {'|' if differs else ' '} {b}".rstrip()


def _diff(found: SolutionComparison, width: int) -> Iterator[str]:
    yield "- yours   + the solution"
    for left, differs, right in found.rows:
        for mark, text in (("-", left), ("+", right)) if differs else ((" ", left),):
            for piece in _wrapped(text, max(width, _MIN_WIDTH) - 2) if text or not differs else ():
                yield f"{mark} {piece}".rstrip()


def _wrapped(code: str, width: int) -> list[str]:
    """Break a line of code between words; continuation lines are indented further."""
    indent = " " * (len(code) - len(code.lstrip()) + 4)
    return textwrap.wrap(code, width, subsequent_indent=indent[: width // 2]) or [""]
