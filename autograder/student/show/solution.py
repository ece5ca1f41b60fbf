"""Show the differences between a student's version of an exercise and the released solution."""

from __future__ import annotations

import ast
from difflib import ndiff
from pathlib import Path

from ...model.errors import KitError
from ..folder.released_solution import find_solution
from ..folder.source import span, used
from ..folder.week import WeekFolder, open_folder
from .notebook_output import NotebookOutput, message_output
from .progress import next_to_do
from .terminal import console


def run_solution(exercise: str, folder: Path | None, place: Path | None) -> None:
    """Print the differences between the student's version of an exercise and the solution."""
    lines = compare_with_solution(open_folder(folder), exercise, place)
    out = console()
    for line in lines:
        out.print(line, soft_wrap=True)


def solution_output(
    exercise: str | None, folder: Path | None, place: Path | None
) -> NotebookOutput:
    """Return the comparison for a notebook, or an error message if the arguments are invalid."""
    try:
        opened = open_folder(folder)
        lines = compare_with_solution(opened, exercise or next_to_do(opened), place)
    except KitError as error:
        return message_output(str(error))
    return NotebookOutput("\n".join(lines), "solution.html.j2", lines=lines)


def compare_with_solution(
    folder: WeekFolder, exercise: str, place: Path | None = None
) -> list[str]:
    """Return a diff of the student's version and the solution with its helpers.

    The common mistakes follow. Raise KitError if there is no such exercise, or no solution yet.
    """
    folder.exercise(exercise)
    solution = find_solution(folder, place)
    try:
        mine = _definition(folder.source(), exercise)
    except (SyntaxError, ValueError) as error:
        raise KitError(f"Python cannot read your file: {error}") from None
    theirs = _definition(solution.source, exercise)
    if not theirs:
        raise KitError(f"the released solution of {folder.heading} does not contain {exercise}")
    names = tuple(getattr(n, "name", "") for n in ast.parse(solution.source).body)
    for name in used(solution.source, exercise, names):
        if name and name not in folder.names:
            theirs += ["", "", *_definition(solution.source, name)]
    lines = [f"{exercise} · {folder.heading}", "- yours   + the solution"]
    lines += [line.rstrip() for line in ndiff(mine, theirs) if not line.startswith("?")]
    if mistakes := solution.mistakes_in(exercise):
        lines += ["", "Common mistakes:", *(f"  - {mistake}" for mistake in mistakes)]
    return lines


def _definition(source: str, name: str) -> list[str]:
    place = span(source, name)
    return source.split("\n")[place[0] - 1 : place[1]] if place else []
