"""Due dates and late penalties of the gradebook, updated from course.yaml.

nbgrader keeps the due date from the release, and the penalty from the day a submission was graded.
So before scores are shown or exported, due dates are compared with course.yaml and
penalties are computed again; no submission needs to be graded again.

nbgrader does not tell its plugin for late penalties the name of the assignment, and calls it only
after nbgrader's due date. So the penalty is also set whenever scores are saved, and from all points
including manual marks when feedback is generated.
"""

from __future__ import annotations

import datetime as dt
import os
from contextlib import suppress
from typing import Any

from ...model.course import Course, Week
from ...model.course.late import Lateness, lateness
from ...model.message_text import did_you_mean
from ..workspace import Workspace, open_gradebook
from .database import GradebookEntry, by_student, lateness_of, read_due_dates, read_gradebook
from .rebuild import first_names
from .report_store import recorded_file


def update_dates(course: Course) -> list[str]:
    """Update the gradebook's due dates and late penalties; return a line for each changed week."""
    stored = read_due_dates(course)
    moved = {
        week.name: due
        for week in course.weeks
        if week.name in stored
        and stored[week.name] != (due := course.localized(week.due).astimezone(dt.UTC))
    }
    penalties = _changed_penalties(course)
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
        with suppress(OSError):  # the feedback that shows the former score becomes stale
            os.utime(recorded_file(course, course.week(entry.week), entry.student))
        line = f"{entry.student} {penalty:g} (was {entry.penalty:g})"
        changed.setdefault(entry.week, []).append(line)
    return [
        f"{week}: late penalties changed: {first_names(lines)}" for week, lines in changed.items()
    ]


def update_penalty(course: Course, gradebook: Any, week: Week, student: str) -> str:
    """Update a submission's late penalty; return the arithmetic as a sentence, or ""."""
    found = _student_lateness(course, gradebook, student).get(week.name)
    sentence = ""
    for notebook in gradebook.find_submission(week.name, student).notebooks:
        gradebook.db.flush()
        gradebook.db.refresh(notebook, ["score"])  # the database computes the sum
        score = float(notebook.score)
        penalty = (found.penalty(score) or None) if found else None
        if notebook.late_submission_penalty != penalty:
            notebook.late_submission_penalty = penalty
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


def unknown_extensions(course: Course, week: Week) -> list[str]:
    """Return a line for each extension in course.yaml whose student is unknown: likely a typo."""
    granted = enumerate(course.registry.late.extensions if course.registry.late else ())
    granted_here = [(number, one) for number, one in granted if one.week == week.name]
    if not granted_here:
        return []
    known = {*read_gradebook(course)[0], *Workspace(course).students("submitted", week)}
    return [
        f"course.yaml: late.extensions[{number}].student: there is no student {one.student!r}"
        f"{did_you_mean(one.student, known)}"
        for number, one in granted_here
        if known and one.student not in known
    ]


def _changed_penalties(course: Course) -> list[tuple[GradebookEntry, float]]:
    """Return each graded submission whose late penalty has changed, and its new penalty."""
    found = []
    for student, entries in by_student(read_gradebook(course)[1]).items():
        graded = {e.week: e for e in entries if e.graded}
        for name, late in lateness_of(course, student, graded.values()).items():
            penalty = late.penalty(graded[name].score)
            if abs(graded[name].penalty - penalty) > 1e-6:
                found.append((graded[name], penalty))
    return found
