"""Update due dates and late penalties in the gradebook, and restore a lost assignment.

nbgrader stores the due date when an assignment is released, and the penalty when a submission is
graded. So when scores are recorded or exported, or feedback is returned, the kit copies the due
dates of course.yaml to the gradebook and recomputes the penalties without grading again.

nbgrader's plugin for late penalties does not know the assignment's name, and runs only for
submissions after the due date in the gradebook. So the kit sets the penalty itself when it saves
scores, and again when it generates feedback, because manual marks change the penalty.
"""

import datetime as dt
import os
from collections.abc import Container, Sequence
from contextlib import suppress
from typing import Any

from ...model.course import Course, Week
from ...model.course.late import Lateness, lateness
from ...model.errors import NbgraderError
from ...model.message_text import did_you_mean, first_names
from ..collect.notebooks import first_cells
from ..collect.notebooks import read_cells as read_released_cells
from ..workspace import Workspace, enter_students, open_api, open_gradebook, require
from . import database
from .report_store import recorded_file, recorded_folder


def update_dates(course: Course) -> list[str]:
    """Update due dates and late penalties; return a line for each week with changed penalties."""
    stored = {name: due for name, (due, _) in database.read_assignments(course).items()}
    moved = {
        week.name: due
        for week in course.weeks
        if week.name in stored
        and stored[week.name] != (due := course.localized(week.due).astimezone(dt.UTC))
    }
    penalties = [
        (entry, penalty)
        for entry, late in database.lateness_by_entry(course)
        if late and abs(entry.penalty - (penalty := late.penalty(entry.score))) > 1e-6
    ]
    if not (moved or penalties):
        return []
    with open_gradebook(course) as gradebook:
        for name, due in moved.items():
            gradebook.find_assignment(name).duedate = due.replace(tzinfo=None)
        for entry, penalty in penalties:
            for notebook in gradebook.find_submission(entry.week, entry.student).notebooks:
                notebook.late_submission_penalty = penalty or None
        gradebook.db.commit()
    changed: dict[str, list[str]] = {}
    for entry, penalty in penalties:
        with suppress(OSError):  # The new modification time marks the feedback as outdated.
            os.utime(recorded_file(course, course.week(entry.week), entry.student))
        line = f"{entry.student} {penalty:g} (was {entry.penalty:g})"
        changed.setdefault(entry.week, []).append(line)
    return [
        f"{week}: late penalties changed: {first_names(lines)}" for week, lines in changed.items()
    ]


def update_penalty(course: Course, gradebook: Any, week: Week, student: str) -> str:
    """Update the late penalty of a submission in an open gradebook.

    Return a sentence with the calculation, or "" if the submission is on time or has no time.
    """
    found = _student_lateness(course, gradebook, student).get(week.name)
    sentence = ""
    for notebook in gradebook.find_submission(week.name, student).notebooks:
        gradebook.db.flush()
        gradebook.db.refresh(notebook, ["score"])  # reload, because the database computes the sum
        score = float(notebook.score)
        notebook.late_submission_penalty = (found.penalty(score) or None) if found else None
        sentence = found.sentence(score) if found else ""
    return sentence


def _student_lateness(course: Course, gradebook: Any, student: str) -> dict[str, Lateness]:
    """Return how late the student's submissions in the gradebook are, by week."""
    from nbgrader.api import Assignment, SubmittedAssignment  # takes seconds to import

    query = gradebook.db.query(
        Assignment.name, SubmittedAssignment.timestamp, SubmittedAssignment.extension
    ).join(SubmittedAssignment, SubmittedAssignment.assignment_id == Assignment.id)
    weeks = {week.name for week in course.weeks}
    rows = query.filter(SubmittedAssignment.student_id == student, Assignment.name.in_(weeks)).all()
    submitted = {name: time.replace(tzinfo=dt.UTC) for name, time, _ in rows if time is not None}
    extensions = {name: extension or dt.timedelta() for name, _, extension in rows}
    return lateness(course, student, submitted, extensions)


def grant_extension(
    course: Course, week: Week, students: Sequence[str], extra: dt.timedelta
) -> None:
    """Set how much later than the due date students may submit; zero removes their extensions.

    Raise NbgraderError if a student or the week is not in the gradebook.
    """
    from nbgrader.api import MissingEntry

    known, _ = database.read_gradebook(course)
    if unknown := [s for s in students if s not in known]:
        hint = did_you_mean(unknown[0], known)
        raise NbgraderError(f"there is no student {unknown[0]!r} in the gradebook{hint}")
    with open_gradebook(course) as gradebook:
        for student in students:
            try:
                # an entry without a time and scores: Formgrader lists it, exports leave it out
                submission = gradebook.update_or_create_submission(week.name, student)
            except MissingEntry:
                raise NbgraderError(
                    f"{week.name} is not in the gradebook: run `autograder release {week.name}`"
                ) from None
            submission.extension = extra or None
        gradebook.db.commit()
    update_dates(course)


def restore_assignment(course: Course, week: Week) -> str:
    """Restore the week and the class list if the gradebook was deleted or replaced by a backup.

    Return a note, or "" if no cells were lost. Raise NbgraderError if the source is missing.
    """
    _, cells = database.read_assignments(course).get(week.name, (None, None))
    if cells == _released_cells(course, week):
        return ""
    if not (Workspace(course).source(week) / f"{week.name}.ipynb").is_file():
        raise NbgraderError(
            f"the gradebook does not have {week.name} as it was released: "
            f"run `autograder release {week.name}` to enter it again"
        )
    enter_assignment(course, week)
    enter_students(course, ())
    return f"the gradebook had lost {week.name}; it was restored from the release and the results"


def enter_assignment(course: Course, week: Week) -> None:
    """Enter the due date in the gradebook and run nbgrader's generate_assignment."""
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


def require_scores(course: Course, week: Week, scored: Container[str]) -> None:
    """Raise NbgraderError if a student has a recorded report but no scores in the gradebook.

    scored: the students with scores in the gradebook
    """
    submitted = set(Workspace(course).students("submitted", week))
    recorded = (p.stem for p in sorted(recorded_folder(course, week).glob("*.json")))
    if lost := [s for s in recorded if s in submitted and s not in scored]:
        raise NbgraderError(
            f"the gradebook has lost the scores of {first_names(lost)} in {week.name}: "
            f"run `autograder grade {week.name}` to restore them from the stored results"
        )


def _released_cells(course: Course, week: Week) -> dict[str, float]:
    path = Workspace(course).released(week) / f"{week.name}.ipynb"
    cells = first_cells(read_released_cells(path)).values()
    graded = [cell["metadata"]["nbgrader"] for cell in cells]
    return {g["grade_id"]: float(g["points"]) for g in graded if g.get("grade")}
