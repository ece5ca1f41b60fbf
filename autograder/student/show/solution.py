"""Compare a student's version of an exercise with the released solution.

The week's folder and the student's installation contain no solution. Students get the solution when
the instructor releases the folder `<week>-solutions`, through nbgrader or as files.
"""

import ast
from difflib import ndiff
from pathlib import Path

import msgspec

from ...model.errors import KitError
from ..folder.source import definition, used
from ..folder.week import DESCRIPTION, SUFFIX_OF_SOLUTIONS, WeekFile, WeekFolder, open_folder
from .check_text import next_to_do
from .notebook_output import NotebookOutput, message_output

MISTAKES = "MISTAKES.md"
_MISTAKES_SHOWN = 5  # more would hide the solution above them


def solution_output(
    exercise: str | None, folder: Path | None, source: Path | None
) -> NotebookOutput:
    """Render the comparison for a notebook, or an error message if there is nothing to compare."""
    try:
        opened = open_folder(folder)
        lines = compare_with_solution(opened, exercise or next_to_do(opened), source)
    except KitError as error:
        return message_output(str(error))
    return NotebookOutput("\n".join(lines), "solution.html.j2", lines=lines)


def compare_with_solution(
    folder: WeekFolder, exercise: str, source: Path | None = None
) -> list[str]:
    """Return a diff of the student's version and the solution, followed by common mistakes.

    The solution includes the helpers that the exercise uses.
    source: the folder of the released solution; default: the folder next to the week.
    Raise KitError if the exercise does not exist, the solution is not available, or the student's
    file is not valid Python.
    """
    folder.exercise(exercise)
    solution, mistakes = _released_solution(folder, source)
    theirs = solution_lines(folder, exercise, solution)
    lines = [f"{exercise} · {folder.heading}", *differences(folder, exercise, theirs)]
    for section in mistakes.split("\n## ")[1:]:
        heading, *points = section.split("\n")
        if heading.strip() == exercise:
            points = [f"  {x}".replace("**", "") for x in points if x.startswith("- ")]
            more = f": {_MISTAKES_SHOWN} of {len(points)}, all in {MISTAKES}"
            lines += ["", f"Common mistakes{more if len(points) > _MISTAKES_SHOWN else ''}"]
            lines += points[:_MISTAKES_SHOWN]
    return lines


def solution_lines(folder: WeekFolder, exercise: str, solution: str) -> list[str]:
    """Return the lines of an exercise in the solution's source, and of the helpers that it uses.

    Raise KitError if the source does not contain the exercise.
    """
    lines = _lines_of(solution, exercise)
    if not lines:
        raise KitError(f"the released solution of {folder.heading} does not contain {exercise}")
    names = tuple(getattr(n, "name", "") for n in ast.parse(solution).body)
    for name in used(solution, exercise, names):
        if name and name not in folder.names:
            lines += ["", "", *_lines_of(solution, name)]
    return lines


def differences(folder: WeekFolder, exercise: str, solution: list[str]) -> list[str]:
    """Return a diff of the student's version of an exercise and the lines of the solution.

    Raise KitError if the student's file is not valid Python.
    """
    try:
        mine = _lines_of(folder.source(), exercise)
    except (SyntaxError, ValueError) as error:
        raise KitError(f"Python cannot read your file: {error}") from None
    compared = (line.rstrip() for line in ndiff(mine, solution) if not line.startswith("?"))
    return ["- yours   + the solution", *compared]


def _lines_of(source: str, name: str) -> list[str]:
    lines = definition(source, name)
    return source.split("\n")[lines] if lines else []


def _released_solution(folder: WeekFolder, place: Path | None) -> tuple[str, str]:
    """Return the source of the solution, and common mistakes as Markdown ("" if there is no page).

    Raise KitError if the solution is not available, is damaged, or belongs to a different week.
    """
    name = f"{folder.week.week}{SUFFIX_OF_SOLUTIONS}"
    beside = folder.path.parent / name
    if place is None and not beside.is_dir():
        raise KitError(
            f"the solutions of {folder.heading} have not been released yet, or are not here. Your "
            "instructor releases them when nobody can submit for full points any more; the week is "
            f"due {folder.week.due:%A %d %B}. With nbgrader, `nbgrader fetch_assignment {name}` "
            f"fetches them. Put the folder {name} next to {folder.path.name}, or name it with "
            "--from"
        )
    place = place or beside
    try:
        week = msgspec.json.decode((place / DESCRIPTION).read_bytes(), type=WeekFile).week
        source = (place / folder.week.module).read_text(encoding="utf-8")
        ast.parse(source)
        page = place / MISTAKES
        mistakes = page.read_text(encoding="utf-8") if page.exists() else ""
    except (OSError, msgspec.MsgspecError, SyntaxError, ValueError):
        raise KitError(
            f"{place} is not a folder with a released solution, or its files are damaged"
        ) from None
    if week != folder.week.week:
        raise KitError(f"these are the solutions of {week}, not of {folder.week.week}")
    return source, mistakes
