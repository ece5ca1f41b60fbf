"""Find and read the released solution of a week.

Neither the week's folder nor the students' installation contains a solution. It arrives when the
instructor releases `<week>-solutions`, through nbgrader or as files.
"""

from __future__ import annotations

import ast
from pathlib import Path

import msgspec

from ...model.errors import KitError
from .week import DESCRIPTION, SUFFIX_OF_SOLUTIONS, WeekFile, WeekFolder

MISTAKES = "MISTAKES.md"


class ReleasedSolution(msgspec.Struct, frozen=True):
    """The source of the solved module, and the page of common mistakes in Markdown."""

    source: str
    mistakes: str

    def mistakes_in(self, exercise: str) -> tuple[str, ...]:
        """Return the bullet points on an exercise from the page of common mistakes."""
        for section in self.mistakes.split("\n## ")[1:]:
            heading, *lines = section.split("\n")
            if heading.strip() == exercise:
                return tuple(x[2:].replace("**", "") for x in lines if x.startswith("- "))
        return ()


def find_solution(folder: WeekFolder, place: Path | None = None) -> ReleasedSolution:
    """Read the solution from the folder `place`, or from the folder next to the week.

    Raise KitError if the solution has not been released or belongs to a different week.
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
    return ReleasedSolution(source, mistakes)
