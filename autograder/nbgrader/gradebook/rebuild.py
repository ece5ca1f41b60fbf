"""A gradebook that was deleted, or put back from an old backup, is filled again.

The week's cells come from what was released, the scores from the results that are kept, and what
people put into the gradebook from the copy beside it (handmarks.py).
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Container

from ...model.course.loader import Course, Week
from ...model.errors import NbgraderError
from ..workspace import Workspace, open_api, open_gradebook, require
from .database import read_cells
from .report_store import recorded_folder


def restore_assignment(course: Course, week: Week) -> str:
    """See to it that the gradebook has the week's cells as they were released.

    Returns what was done, in words, or "" if nothing had to be.
    """
    if read_cells(course).get(week.name) == _released_cells(course, week):
        return ""
    if not (Workspace(course).source(week) / f"{week.name}.ipynb").is_file():
        raise NbgraderError(
            f"the gradebook does not know {week.name} as it was released: "
            f"`autograder release {week.name}` enters it again"
        )
    enter_assignment(course, week)
    return (
        f"the gradebook had lost {week.name}, and has it again from what was released and from the "
        "results that are kept"
    )


def enter_assignment(course: Course, week: Week) -> None:
    """nbgrader's generate_assignment, with the due date in the gradebook."""
    api = open_api(course)
    due = course.localized(week.due).astimezone(dt.UTC).replace(tzinfo=None)
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(week.name, duedate=due)
    result = api.generate_assignment(week.name)
    if "Cannot add or remove cells" in str(result.get("error", "")):
        raise NbgraderError(
            f"{week.name} cannot be released with other exercises or questions: submissions were "
            "graded with the old ones. Take the change to course.yaml back, or remove the "
            f"assignment with `nbgrader db assignment remove {week.name} --force`"
        )
    require(result, f"generate_assignment {week.name}")


def require_held(course: Course, week: Week, held: Container[str]) -> None:
    """Raise NbgraderError if somebody was graded of whom the gradebook knows nothing."""
    if lost := lost_students(course, week, held):
        who = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
        raise NbgraderError(
            f"the gradebook has lost the scores of {who} in {week.name}: "
            f"`autograder grade {week.name}` enters them again from the results that are kept"
        )


def lost_students(course: Course, week: Week, held: Container[str]) -> list[str]:
    """Who has a report that was recorded, and what they handed in, but no scores."""
    submitted = set(Workspace(course).students("submitted", week))
    recorded = (p.stem for p in sorted(recorded_folder(course, week).glob("*.json")))
    return [student for student in recorded if student in submitted and student not in held]


def _released_cells(course: Course, week: Week) -> dict[str, float]:
    """Grade cells of the released notebook, with their points."""
    path = Workspace(course).released(week) / f"{week.name}.ipynb"
    try:
        cells = json.loads(path.read_bytes())["cells"]
    except (OSError, ValueError, KeyError):
        raise NbgraderError(
            f"{week.name} was not released from here: there is no {path.name} in {path.parent}: "
            f"`autograder release {week.name}` first"
        ) from None
    graded = [c["metadata"].get("nbgrader", {}) for c in cells]
    return {g["grade_id"]: float(g["points"]) for g in graded if g.get("grade")}
