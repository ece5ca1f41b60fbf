"""Due dates and extensions as course.yaml has them now, brought into nbgrader's gradebook.

nbgrader keeps the due date of the release and the penalty of the day on which a submission was
graded, and asks for a penalty only where its own due date is past. So before anything is shown or
given out, dates are compared and late penalties counted again. Nobody has to be graded again.
"""

from __future__ import annotations

import datetime as dt
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...model.course.late import lateness
from ...model.course.loader import Course, Week
from ..workspace import open_gradebook
from .database import GradebookEntry, read_due_dates, read_gradebook
from .report_store import recorded_file, shown_penalty


@dataclass(frozen=True)
class Recount:
    """A late penalty that has changed."""

    week: str
    student: str
    before: float
    now: float


def bring_dates(course: Course) -> list[Recount]:
    """Bring the gradebook's due dates and late penalties up to date; what changed.

    A gradebook that is filled again counts a penalty before the marks are back, and after it. What
    is then as the student's page has it has not changed.
    """
    held = read_due_dates(course)
    moved = {
        week.name: _due(course, week)
        for week in course.weeks
        if week.name in held and held[week.name] != _due(course, week)
    }
    found = _recounted(course)
    if not (moved or found):
        return []
    with open_gradebook(course) as gradebook:
        for name, due in moved.items():
            gradebook.find_assignment(name).duedate = due.replace(tzinfo=None)
        for one in found:
            _write(gradebook, one)
        gradebook.db.commit()
    weeks = {w.name: w for w in course.weeks}
    changed = [one for one in found if not _is_shown(course, weeks[one.week], one)]
    for one in changed:
        with suppress(OSError):  # so the feedback that shows the former score counts as stale
            os.utime(recorded_file(course, weeks[one.week], one.student))
    return changed


def _is_shown(course: Course, week: Week, one: Recount) -> bool:
    shown = shown_penalty(course, week, one.student)
    return shown is not None and abs(shown - one.now) < 1e-6


def lines(found: list[Recount]) -> list[str]:
    """What is to be said of penalties that were counted again, a line per week."""
    said = []
    for week in dict.fromkeys(one.week for one in found):
        own = [one for one in found if one.week == week]
        shown = ", ".join(f"{one.student} {one.now:g} (was {one.before:g})" for one in own[:5])
        more = f" and {len(own) - 5} more" if len(own) > 5 else ""
        said.append(f"{week}: points off for late work counted again: {shown}{more}")
    return said


def _due(course: Course, week: Week) -> dt.datetime:
    return course.localized(week.due).astimezone(dt.UTC)


def _recounted(course: Course) -> list[Recount]:
    _, entries = read_gradebook(course)
    by_student: dict[str, dict[str, GradebookEntry]] = {}
    for entry in entries:
        if entry.graded:
            by_student.setdefault(entry.student, {})[entry.week] = entry
    found = []
    for student, own in by_student.items():
        handed = {name: e.handed_in for name, e in own.items() if e.handed_in is not None}
        more = {name: e.extension for name, e in own.items()}
        for name, one in lateness(course, student, handed, more).items():
            before, now = own[name].penalty, one.penalty(own[name].score)
            if abs(before - now) > 1e-6:
                found.append(Recount(name, student, before, now))
    return found


def _write(gradebook: Any, one: Recount) -> None:
    for notebook in gradebook.find_submission(one.week, one.student).notebooks:
        notebook.late_submission_penalty = one.now or None
