"""Compare the results of a student's submissions for a week, and decide which submission counts.

The worth of a submission is the number of points that the student would get for the week: the
points of exercises and manual marks, after late penalties. The current manual marks are used for
every submission, so that a submission with unmarked answers is not worth less. If several
submissions are worth the same, the newest of them counts.
"""

import datetime as dt
from collections.abc import Sequence
from functools import cached_property

import msgspec

from ...model.course import Course, Week
from ...model.report import scoring
from ...model.report.schema import Ending, SubmissionReport
from ...model.submission_files import local_text, parse_timestamp
from ..collect.history import read_history
from . import database
from .report_store import Recorded, reports_by_number, stored_report

_TOLERANCE = 1e-6


def cell_scores(week: Week, report: SubmissionReport) -> dict[str, float]:
    """Return the score of each exercise's grade cell; 0 for electives that do not count."""
    counted = {e.name: e.score for e in scoring.counted(week, report.exercises)}
    return {e.name: min(counted.get(e.name, 0.0), e.points) for e in week.exercises}


class PastResult(msgspec.Struct, frozen=True):
    """The result of one graded submission."""

    number: int  # in the student's history
    handed_in: str
    score: float  # the points of the exercises
    kept: float  # all points, including manual marks, after late penalties
    max_score: float
    counts: bool


class Lower(msgspec.Struct, frozen=True):
    """The newest and the best result of a student whose newest result is lower."""

    newest: PastResult
    best: PastResult

    def sentence(self, zone: dt.tzinfo) -> str:
        """Return a sentence that compares both results."""
        newest, best = self.newest, self.best
        counts = "better" if best.counts else "newest"
        return (
            f"{newest.kept:g} points for the submission of {local_text(newest.handed_in, zone)}, "
            f"{best.kept:g} for that of {local_text(best.handed_in, zone)}; the {counts} one counts"
        )


class Worth:
    """Computes the worth of submissions, and reads the gradebook once for all students."""

    def __init__(self, course: Course) -> None:
        self._course = course

    @cached_property
    def _entries(self) -> dict[str, list[database.GradebookEntry]]:
        return database.by_student(database.read_gradebook(self._course)[1])

    @cached_property
    def _marks(self) -> dict[tuple[str, str], dict[str, database.HandMark]]:
        marked = database.read_hand_marks(self._course)
        return {(w, s): m.cells for w, students in marked.items() for s, m in students.items()}

    def of(self, week: Week, student: str, report: Recorded) -> float:
        """Return the points that the student would get for the week if this submission counted."""
        moment = parse_timestamp(report.handed_in)
        times = {week.name: moment} if moment else {}
        late = database.lateness_of(self._course, student, self._entries.get(student, []), times)
        cells = cell_scores(week, report)
        for name, mark in self._marks.get((week.name, student), {}).items():
            score = cells.get(name, 0.0) if mark.score is None else mark.score
            cells[name] = score + (mark.extra or 0.0)
        total = sum(cells.values())
        return late[week.name].kept(total) if week.name in late else total


def results(
    course: Course, week: Week, student: str, worth: Worth | None = None
) -> list[PastResult]:
    """Return the results of a student's graded submissions for a week, oldest first."""
    worth = worth or Worth(course)
    reports = reports_by_number(course, week, student)
    return [
        PastResult(
            number=number,
            handed_in=report.handed_in,
            score=report.score,
            kept=worth.of(week, student, report),
            max_score=report.max_score,
            counts=report is [*reports.values()][-1],
        )
        for number, report in sorted(reports.items())
        if report.verdict is Ending.GRADED
    ]


def report_with(course: Course, week: Week, student: str, content: str) -> Recorded | None:
    """Return the newest report for files with this hash, or None if they were never graded."""
    newest_first = reversed(reports_by_number(course, week, student).values())
    same = (r for r in newest_first if r.content == content and r.verdict is Ending.GRADED)
    return next(same, None)


def counting(course: Course, week: Week, new: Recorded, worth: Worth) -> int:
    """Return the number of the submission that counts once the report `new` is recorded.

    A submission that cannot be graded never replaces a graded submission. If an instructor
    restored a submission, that submission counts.
    """
    student = new.name
    now = stored_report(course, week, student)
    history = read_history(course, week, student)
    if now is None or now.verdict is not Ending.GRADED or history.restored:
        return new.number
    if new.verdict is not Ending.GRADED:
        return now.number
    if course.registry.counts == "latest":
        return new.number
    reports = reports_by_number(course, week, student) | {new.number: new}
    known = [n for n in sorted(reports) if history.entry(n) and reports[n].verdict is Ending.GRADED]
    worths = {n: round(worth.of(week, student, reports[n]), 6) for n in known}
    return max(known, key=lambda n: (worths[n], n), default=new.number)


def lower(results: Sequence[PastResult]) -> Lower | None:
    """Return the newest and the best result, or None if no earlier result is better."""
    if len(results) < 2:
        return None
    newest, best = results[-1], max(results, key=lambda r: (round(r.kept, 6), r.number))
    return Lower(newest, best) if newest.kept < best.kept - _TOLERANCE else None
