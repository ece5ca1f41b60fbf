"""Rebuild a gradebook that was deleted or replaced by an old backup.

The week's cells come from the release, the scores from the stored reports, and manual marks from
the copy next to the gradebook (formgrader/manual_marks.py).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Container, Sequence

from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ..collect.notebooks import first_cells
from ..collect.notebooks import read_cells as read_released_cells
from ..workspace import Workspace, open_api, open_gradebook, require
from .database import read_cells
from .report_store import recorded_folder


def restore_assignment(course: Course, week: Week) -> str:
    """Enter the week's released cells if the gradebook lacks them; return a note, or ""."""
    if read_cells(course).get(week.name) == _released_cells(course, week):
        return ""
    if not (Workspace(course).source(week) / f"{week.name}.ipynb").is_file():
        raise NbgraderError(
            f"the gradebook does not have {week.name} as it was released: "
            f"run `autograder release {week.name}` to enter it again"
        )
    enter_assignment(course, week)
    return (
        f"the gradebook had lost {week.name}; it was restored from the release and the stored "
        "results"
    )


def enter_assignment(course: Course, week: Week) -> None:
    """Run nbgrader's generate_assignment, with the due date in the gradebook."""
    api = open_api(course)
    due = course.localized(week.due).astimezone(dt.UTC).replace(tzinfo=None)
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(week.name, duedate=due)
    result = api.generate_assignment(week.name)
    if "Cannot add or remove cells" in str(result.get("error", "")):
        raise NbgraderError(
            f"{week.name} cannot be released with different exercises or questions: submissions "
            "were graded with the old ones. Undo the change in course.yaml, or remove the "
            f"assignment with `nbgrader db assignment remove {week.name} --force`"
        )
    require(result, f"generate_assignment {week.name}")


def require_scores(course: Course, week: Week, held: Container[str]) -> None:
    """Raise NbgraderError if a student has a recorded report, but no scores in the gradebook."""
    submitted = set(Workspace(course).students("submitted", week))
    recorded = (p.stem for p in sorted(recorded_folder(course, week).glob("*.json")))
    if lost := [s for s in recorded if s in submitted and s not in held]:
        raise NbgraderError(
            f"the gradebook has lost the scores of {first_names(lost)} in {week.name}: "
            f"run `autograder grade {week.name}` to restore them from the stored results"
        )


def first_names(students: Sequence[str]) -> str:
    """Join the names of the first five students, and say how many more there are."""
    more = f" and {len(students) - 5} more" if len(students) > 5 else ""
    return f"{', '.join(students[:5])}{more}"


def _released_cells(course: Course, week: Week) -> dict[str, float]:
    """Return the points of each grade cell of the released notebook."""
    path = Workspace(course).released(week) / f"{week.name}.ipynb"
    cells = first_cells(read_released_cells(path))
    if not cells:
        raise NbgraderError(
            f"{week.name} was not released from here: {path.parent} has no {path.name}; "
            f"run `autograder release {week.name}` first"
        )
    graded = [cell["metadata"]["nbgrader"] for cell in cells.values()]
    return {g["grade_id"]: float(g["points"]) for g in graded if g.get("grade")}
