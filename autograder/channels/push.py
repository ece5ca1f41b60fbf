"""Push the grades of a week to a learning platform, each exactly once.

Each grade is recorded in `.autograder/pushes/<platform>-<week>.json` before it is sent and again
when the platform has responded. If a push is interrupted (kill, lost response), the next push reads
the current grades from the platform and sends only the missing grades. Each comment ends with a
reference (`ref 1a2b3c4d`, a hash of its text), so that a later push recognizes the comment.

A grade on the platform that equals neither the last grade sent nor the grade to push must have been
entered manually. It is reported, and overwritten only if the caller sets `overwrite`.
"""

import datetime as dt
import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import msgspec

from ..feedback.render import submission_text
from ..files import alone, read_state, write_state
from ..lms.grade_files import total
from ..lms.roster import Roster, RosterEntry
from ..model.course import Course, Week
from ..model.errors import KitError, PlatformError
from ..nbgrader.gradebook.report_store import stored_report

_TOLERANCE = 1e-4  # points
_MAX_COMMENT = 8000  # characters
_FULL_FEEDBACK = "For the full page with marks and comments, run: nbgrader fetch_feedback"


class PlatformGrade(msgspec.Struct, frozen=True):
    """The current grade of a student on a platform: points and all comments."""

    points: float | None = None
    comments: tuple[str, ...] = ()


class Platform(Protocol):
    """An assignment on a platform. The platform identifies students by its own ids."""

    name: str

    def people(self) -> list[RosterEntry]:
        """Return the students of the course. `RosterEntry.number` is the platform's id."""

    def maximum(self) -> float | None:
        """Return the assignment's maximum points, or None if they are unknown."""

    def grades(self) -> dict[str, PlatformGrade]:
        """Return the current grades, keyed by the platform's student ids."""

    def write(self, number: str, points: float, comment: str | None) -> str:
        """Enter points, and the comment unless it is None; return a warning, or ""."""


Todo = Literal["write", "same", "changed there"]  # the action for one student


class Pushed(msgspec.Struct, frozen=True):
    """The last points that the platform accepted, and points that were sent but not confirmed."""

    points: float | None = None
    sending: float | None = None
    at: str = ""

    def explains(self, points: float) -> bool:
        """Return True if points on the platform equal points that a push has sent."""
        own = (p for p in (self.points, self.sending) if p is not None)
        return any(abs(p - points) <= _TOLERANCE for p in own)


class PlannedGrade(msgspec.Struct, frozen=True):
    """The grade of a student, and the action to take."""

    student: str
    number: str
    points: float
    comment: str | None  # None if there is no comment to add
    before: float | None
    todo: Todo


class Push(msgspec.Struct):
    """The plan of a push and its results."""

    plan: list[PlannedGrade]
    unmatched: list[str]
    notes: list[str] = []
    written: list[str] = []
    failed: dict[str, str] = {}

    def of(self, todo: Todo) -> list[PlannedGrade]:
        return [one for one in self.plan if one.todo == todo]


def comments_of(course: Course, week: Week, students: Iterable[str]) -> dict[str, str]:
    """Return the feedback as plain text, for each student with a stored report."""
    reports = {student: stored_report(course, week, student) for student in students}
    return {
        student: f"{week.title}\n\n{submission_text(report, week, details=False)}\n\n"
        f"{_FULL_FEEDBACK} {week.name}"
        for student, report in reports.items()
        if report is not None
    }


def plan_push(
    course: Course,
    week: Week,
    platform: Platform,
    scores: Mapping[str, float],
    comments: Mapping[str, str],
    *,
    overwrite: bool = False,
) -> Push:
    """Compare scores with the grades on the platform, and plan an action for each student.

    comments: feedback by student
    overwrite: also replace grades that were entered on the platform
    """
    people = platform.people()
    matched, unmatched = Roster("plain", (), tuple(people)).match(scores)
    grades, record = platform.grades(), _Journal(course, week, platform.name).read()
    plan = []
    for student, entry in sorted(matched.items()):
        there = grades.get(entry.number, PlatformGrade())
        comment = _new_comment(week, student, comments.get(student), there)
        todo = _todo(scores[student], comment, there, record.get(student), overwrite)
        points = scores[student]
        plan.append(PlannedGrade(student, entry.number, points, comment, there.points, todo))
    push = Push(plan, unmatched)
    most = platform.maximum()
    if most is not None and abs(most - total(week)) > _TOLERANCE:
        push.notes.append(
            f"the assignment has {most:g} points on the platform and {total(week):g} in "
            "course.yaml: points are sent unscaled"
        )
    return push


def _todo(
    points: float, comment: str | None, there: PlatformGrade, last: Pushed | None, overwrite: bool
) -> Todo:
    same = there.points is not None and abs(there.points - points) <= _TOLERANCE
    if same:
        return "same" if comment is None else "write"
    ours = there.points is None or (last is not None and last.explains(there.points))
    return "write" if ours or overwrite else "changed there"


def carry_out_push(
    course: Course,
    week: Week,
    platform: Platform,
    push: Push,
    on_done: Callable[[], None] = lambda: None,
) -> None:
    """Send the planned grades; store the results in `push`; call `on_done` after each student."""
    journal = _Journal(course, week, platform.name)
    with journal.alone():
        for one in push.of("write"):
            journal.note(one, done=False)
            try:
                warning = _write(platform, one)
            except PlatformError as error:
                push.failed[one.student] = str(error)
            else:
                journal.note(one, done=True)
                push.written.append(one.student)
                if warning and warning not in push.notes:
                    push.notes.append(warning)
            on_done()


def _write(platform: Platform, grade: PlannedGrade) -> str:
    """Send one grade; if the response is lost, check the platform before sending it again."""
    try:
        return platform.write(grade.number, grade.points, grade.comment)
    except PlatformError as error:
        if not error.unsure:
            raise
    there = platform.grades().get(grade.number, PlatformGrade())
    arrived = there.points is not None and abs(there.points - grade.points) <= _TOLERANCE
    comment = None if grade.comment is None or _has_comment(there, grade.comment) else grade.comment
    if arrived and comment is None:
        return ""
    return platform.write(grade.number, grade.points, comment)


def _new_comment(week: Week, student: str, text: str | None, there: PlatformGrade) -> str | None:
    """Return the comment with its reference, or None if the platform has it or there is no text."""
    if not text:
        return None
    short = text if len(text) <= _MAX_COMMENT else f"{text[:_MAX_COMMENT]}\n[...]"
    about = f"{week.name}\0{student}\0{short}".encode()
    reference = hashlib.blake2b(about, digest_size=4).hexdigest()
    comment = f"{short}\n\n(ref {reference})"
    return None if _has_comment(there, comment) else comment


def _has_comment(grade: PlatformGrade, comment: str) -> bool:
    reference = comment.rpartition("\n")[2]
    return any(reference in earlier for earlier in grade.comments)


class _Journal:
    """The record of the grades of a week that were sent to a platform."""

    def __init__(self, course: Course, week: Week, platform: str) -> None:
        self._path = course.state / "pushes" / f"{platform}-{week.name}.json"

    def read(self) -> dict[str, Pushed]:
        """Return the record of each student; empty before the first push."""
        damaged = KitError(
            f"{self._path}: cannot read the record of pushed grades: restore it from a backup, "
            "or remove it and check with --dry-run"
        )
        return read_state(self._path, dict[str, Pushed], damaged) or {}

    def note(self, grade: PlannedGrade, *, done: bool) -> None:
        """Record a grade before it is sent (`done=False`), or after the platform's response."""
        record = self.read()
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        before = record.get(grade.student, Pushed())
        known, sending = (grade.points, None) if done else (before.points, grade.points)
        record[grade.student] = Pushed(known, sending, now)
        write_state(self._path, record)

    def alone(self) -> AbstractContextManager[None]:
        """Lock the record; raise KitError if another process is pushing this week."""
        busy = KitError("another push of this week is running: wait until it has finished")
        return alone(self._path.with_suffix(".lock"), busy)
