"""Build the gradebook page and the list of extensions."""

import contextlib
import datetime as dt

import msgspec
import sqlalchemy as sa

from ...model.course import Course, Week
from ...model.course.late import due_for
from ...model.errors import NbgraderError
from ...model.report.scoring import rounded
from ...nbgrader.gradebook.database import lateness_by_entry, query_gradebook, read_hand_marks
from ...nbgrader.status import returned_page
from ...nbgrader.workspace import Workspace
from .. import tables as t
from ..queue import Queue
from .staff_log import StaffAction, StaffLog

_NAMES = "SELECT id, first_name, last_name FROM student ORDER BY id"


class WeekScore(msgspec.Struct, frozen=True):
    """A student's result for a week. `score`: after the late penalty; None: not graded."""

    score: float | None = None
    penalty: float = 0.0
    to_mark: int = 0
    missing: bool = False  # due and not submitted
    receipt: str = ""
    feedback: bool = False


class GradebookRow(msgspec.Struct, frozen=True):
    """A student's results, in the order of the weeks."""

    student: str
    name: str
    weeks: tuple[WeekScore, ...]
    total: float

    def shows(self, only: str) -> bool:
        """Return True if the row belongs in a filtered table: to-mark, missing, late or all."""
        return {
            "to-mark": any(w.to_mark for w in self.weeks),
            "missing": any(w.missing for w in self.weeks),
            "late": any(w.penalty for w in self.weeks),
        }.get(only, True)


class GrantedExtension(msgspec.Struct, frozen=True):
    """An extension in course.yaml, or in the gradebook. `action`: who granted it, if known."""

    student: str
    week: Week
    until: dt.datetime
    in_gradebook: bool = False
    action: StaffAction | None = None


def gradebook_rows(course: Course, queue: Queue, weeks: list[Week]) -> list[GradebookRow]:
    """Return a row for each student in the gradebook."""
    (names,) = query_gradebook(course, (_NAMES,))
    entries = {(e.student, e.week): (e, late) for e, late in lateness_by_entry(course)}
    receipts, workspace = _newest_receipts(queue), Workspace(course)
    submitted = {w.name: set(workspace.students("submitted", w)) for w in weeks}
    now = dt.datetime.now(dt.UTC)

    def result(student: str, week: Week) -> WeekScore:
        entry, late = entries.get((student, week.name), (None, None))
        receipt = receipts.get((student, week.name), "")
        if entry is None or not (entry.graded or entry.to_mark):
            more = entry.extension if entry else dt.timedelta()
            here = receipt or student in submitted[week.name]
            missing = not here and due_for(course, week, student, more) < now
            return WeekScore(missing=missing, receipt=receipt)
        penalty = late.penalty(entry.score) if late else 0.0
        page = returned_page(workspace, week, student) is not None
        score = max(0.0, rounded(entry.score - penalty, course.registry.decimals))
        return WeekScore(score, penalty, entry.to_mark, False, receipt, page)

    rows = []
    for student, first, last in names:
        results = tuple(result(str(student), week) for week in weeks)
        name = " ".join(part for part in (first, last) if part)
        total = round(sum(r.score or 0.0 for r in results), 6)
        rows.append(GradebookRow(str(student), name, results, total))
    return rows


def _newest_receipts(queue: Queue) -> dict[tuple[str, str], str]:
    columns = t.submissions.c
    newest = sa.select(sa.func.max(columns.number)).group_by(columns.student, columns.week)
    query = sa.select(columns.student, columns.week, columns.receipt)
    rows = queue.read(query.where(columns.number.in_(newest)))
    return {(row.student, row.week): row.receipt for row in rows}


def granted_extensions(course: Course, log: StaffLog) -> list[GrantedExtension]:
    """Return the extensions in course.yaml and the gradebook, by week and student."""
    weeks, late = {w.name: w for w in course.weeks}, course.registry.late
    found = [
        GrantedExtension(e.student, weeks[e.week], course.localized(e.until))
        for e in (late.extensions if late else ())
    ]
    actions = log.latest("extension")
    for name, of_week in read_hand_marks(course).items():
        for student, marked in of_week.items():
            if name in weeks and marked.extension:
                until = _due(course, weeks[name]) + dt.timedelta(seconds=marked.extension)
                local, action = until.astimezone(course.zone), actions.get((student, name, ""))
                found.append(GrantedExtension(student, weeks[name], local, True, action))
    return sorted(found, key=lambda e: (e.week.name, e.student, e.in_gradebook))


def _due(course: Course, week: Week) -> dt.datetime:
    return course.localized(week.due).astimezone(dt.UTC)


def extra_time(course: Course, week: Week, until: str, hours: str) -> dt.timedelta:
    """Return how much later than the due date an extension ends.

    Raise NbgraderError unless an argument is valid and the result is between 0 and a year.

    until: local time in ISO 8601, or "". hours: used if `until` is empty
    """
    with contextlib.suppress(ValueError, OverflowError):
        extra = dt.timedelta(hours=float(hours.replace(",", ".") or 0))
        if until:
            end = course.localized(dt.datetime.fromisoformat(until))
            extra = end.astimezone(dt.UTC) - _due(course, week)
        if dt.timedelta() < extra <= dt.timedelta(days=366):
            return extra
    raise NbgraderError("Enter a later due date or a number of hours. Nothing was saved.")
