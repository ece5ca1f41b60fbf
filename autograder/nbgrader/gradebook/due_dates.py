"""Due dates and late penalties of the gradebook, updated from course.yaml.

nbgrader keeps the due date of the release and the penalty of the day on which a submission was
graded. So before scores are shown or exported, due dates are compared with course.yaml and
penalties are computed again; no submission needs to be graded again.
"""

from __future__ import annotations

import datetime as dt
import os
from contextlib import suppress
from dataclasses import dataclass

from ...model.course import Course, Week
from ...model.course.late import lateness
from ...model.spelling import did_you_mean
from ..workspace import Workspace, open_gradebook
from .database import GradebookEntry, read_due_dates, read_gradebook
from .report_store import page_penalty, recorded_file


@dataclass(frozen=True)
class Recount:
    """A late penalty that has changed."""

    week: str
    student: str
    before: float
    now: float

    def __str__(self) -> str:
        return f"{self.student} {self.now:g} (was {self.before:g})"


def update_dates(course: Course) -> list[Recount]:
    """Update the gradebook's due dates and late penalties; return the penalties that changed.

    Penalties that equal the one on the student's feedback page are updated, but not returned: a
    gradebook that is rebuilt computes them before and after its marks are restored.
    """
    stored = read_due_dates(course)
    moved = {
        week.name: due
        for week in course.weeks
        if week.name in stored
        and stored[week.name] != (due := course.localized(week.due).astimezone(dt.UTC))
    }
    recounts = _recounts(course)
    if not (moved or recounts):
        return []
    with open_gradebook(course) as gradebook:
        for name, due in moved.items():
            gradebook.find_assignment(name).duedate = due.replace(tzinfo=None)
        for one in recounts:
            for notebook in gradebook.find_submission(one.week, one.student).notebooks:
                notebook.late_submission_penalty = one.now or None
        gradebook.db.commit()
    changed = [one for one in recounts if not _is_shown(course, one)]
    for one in changed:
        with suppress(OSError):  # the feedback that shows the former score becomes stale
            os.utime(recorded_file(course, course.week(one.week), one.student))
    return changed


def describe_recounts(recounts: list[Recount]) -> list[str]:
    """Return a line per week that lists the penalties that changed."""
    lines = []
    for week in dict.fromkeys(one.week for one in recounts):
        changed = [str(one) for one in recounts if one.week == week]
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        lines.append(f"{week}: late penalties changed: {', '.join(changed[:5])}{more}")
    return lines


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


def _is_shown(course: Course, one: Recount) -> bool:
    shown = page_penalty(course, course.week(one.week), one.student)
    return shown is not None and abs(shown - one.now) < 1e-6


def _recounts(course: Course) -> list[Recount]:
    by_student: dict[str, dict[str, GradebookEntry]] = {}
    for entry in read_gradebook(course)[1]:
        if entry.graded:
            by_student.setdefault(entry.student, {})[entry.week] = entry
    found = []
    for student, entries in by_student.items():
        times = {name: e.handed_in for name, e in entries.items() if e.handed_in is not None}
        extensions = {name: e.extension for name, e in entries.items()}
        for name, late in lateness(course, student, times, extensions).items():
            before, now = entries[name].penalty, late.penalty(entries[name].score)
            if abs(before - now) > 1e-6:
                found.append(Recount(name, student, before, now))
    return found
