"""The results of all of a student's submissions for a week, and which one counts.

A submission is worth the points that the student would get for the week: the points of exercises
and manual marks, after late penalties.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec

from ...model.course import Course, Week
from ...model.report import scoring
from ...model.report.schema import Ending, SubmissionReport
from ...model.submission_files import parse_timestamp
from ..collect.history import read_history
from .database import (
    GradebookEntry,
    HandMark,
    by_student,
    lateness_of,
    read_gradebook,
    read_hand_marks,
)
from .report_store import Recorded, earlier_reports, stored_report

_TOLERANCE = 1e-6


def cell_scores(week: Week, report: SubmissionReport) -> dict[str, float]:
    """Return the score of each exercise's grade cell; 0 for electives that do not count."""
    counted = {e.name: e.score for e in scoring.counted(week, report.exercises)}
    return {e.name: min(counted.get(e.name, 0.0), e.points) for e in week.exercises}


class PastResult(msgspec.Struct, frozen=True):
    """The result of one graded submission."""

    number: int  # in the history; 0 if the submission is not there
    handed_in: str
    score: float  # the points of the exercises
    kept: float  # all points, including manual marks, after late penalties
    max_score: float
    counts: bool


class Lower(msgspec.Struct, frozen=True):
    """The newest submission earned less than an earlier one."""

    newest: PastResult
    best: PastResult

    @property
    def sentence(self) -> str:
        """Return the two results in one line."""
        newest, best = self.newest, self.best
        counts = "better" if best.counts else "newest"
        return (
            f"{newest.kept:g} points for the submission of {newest.handed_in[:16]}, {best.kept:g} "
            f"for that of {best.handed_in[:16]}; the {counts} one counts"
        )


class Worth:
    """Compute what submissions are worth; the gradebook is read once for many students."""

    def __init__(self, course: Course) -> None:
        self._course = course

    @cached_property
    def _entries(self) -> dict[str, list[GradebookEntry]]:
        return by_student(read_gradebook(self._course)[1])

    @cached_property
    def _marks(self) -> dict[tuple[str, str], dict[str, HandMark]]:
        marked = read_hand_marks(self._course)
        return {(w, s): m.cells for w, students in marked.items() for s, m in students.items()}

    def of(self, week: Week, student: str, report: Recorded) -> float:
        """Return the points for the week if this submission counts."""
        moment = parse_timestamp(report.handed_in)
        times = {week.name: moment} if moment else {}
        late = lateness_of(self._course, student, self._entries.get(student, []), times)
        total = self._points(week, student, report)
        return late[week.name].kept(total) if week.name in late else total

    def _points(self, week: Week, student: str, report: Recorded) -> float:
        """Return the points of exercises and answers; a manual mark replaces an automatic one."""
        cells: dict[str, float] = dict(cell_scores(week, report))
        for name, mark in self._marks.get((week.name, student), {}).items():
            if mark.score is not None:
                cells[name] = mark.score
            cells[name] = cells.get(name, 0.0) + (mark.extra or 0.0)
        return sum(cells.values())


def results(
    course: Course, week: Week, student: str, worth: Worth | None = None
) -> list[PastResult]:
    """Return the results of a student's graded submissions for a week, oldest first."""
    worth = worth or Worth(course)
    now = stored_report(course, week, student)
    if now is None:
        return []
    found: dict[object, Recorded] = {}
    for report in (*earlier_reports(course, week, student), now):
        key = report.number or (report.handed_in, report.content)
        found.pop(key, None)  # the newest report of a submission replaces older ones
        found[key] = report
    listed = [
        PastResult(
            number=report.number,
            handed_in=report.handed_in,
            score=report.score,
            kept=worth.of(week, student, report),
            max_score=report.max_score,
            counts=report is now,
        )
        for report in found.values()
        if report.verdict is Ending.GRADED
    ]
    return sorted(listed, key=lambda r: (r.number, r.handed_in))


def report_of(course: Course, week: Week, student: str, number: int) -> Recorded | None:
    """Return the newest report of submission `number`, or None if it was not graded."""
    reports = _reports(course, week, student)
    return next((r for r in reversed(reports) if r.number == number), None) if number else None


def report_with(course: Course, week: Week, student: str, content: str) -> Recorded | None:
    """Return the newest report for exactly these files (a content hash), or None if not graded."""
    same = (r for r in reversed(_reports(course, week, student)) if r.content == content)
    return next((r for r in same if r.verdict is Ending.GRADED), None)


def _reports(course: Course, week: Week, student: str) -> list[Recorded]:
    now = stored_report(course, week, student)
    return [*earlier_reports(course, week, student), *([now] if now else [])]


def counting(course: Course, week: Week, new: Recorded, worth: Worth) -> int:
    """Return the number of the submission that counts once this report is recorded.

    A submission that cannot be graded never replaces one that was graded, and a submission that an
    instructor restored counts. Return 0 if the submission is not in the history.
    """
    student = new.name
    now = stored_report(course, week, student)
    history = read_history(course, week, student)
    if now is None or now.verdict is not Ending.GRADED or history.restored:
        return new.number
    if new.verdict is not Ending.GRADED:
        return new.number if now.is_of(new.handed_in, new.content) else now.number
    if course.registry.counts == "latest" or not new.number:
        return new.number
    reports = {r.number: r for r in (*earlier_reports(course, week, student), now, new)}
    known = [n for n in sorted(reports) if history.entry(n) and reports[n].verdict is Ending.GRADED]
    return max(known, key=lambda n: worth.of(week, student, reports[n]), default=new.number)


def lower(results: Sequence[PastResult]) -> Lower | None:
    """Return the newest and the best result if the newest submission earned less."""
    if len(results) < 2:
        return None
    newest, best = results[-1], max(results, key=lambda r: r.kept)
    return Lower(newest, best) if newest.kept < best.kept - _TOLERANCE else None
