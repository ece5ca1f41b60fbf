"""Record reports in the gradebook, one submission at a time, with nbgrader's autograde step.

Scores come from the reports; no notebook is executed. A class is recorded while it is graded
(`RecordWhileGrading`), because otherwise one core would wait while the other one writes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from ...files.folder_lock import in_turn
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.report.schema import SubmissionReport
from ...model.report.verdicts import Ending
from ..collect.groups import share_marks
from ..collect.submissions import accept_folder, put_in_place, refuse
from ..formgrader.manual_marks import keep_marks, restore_marks
from ..gradebook.due_dates import describe_recounts, update_dates
from ..gradebook.effective_results import Worth, counting, lower, report_of, report_with
from ..gradebook.rebuild import restore_assignment
from ..gradebook.report_store import (
    About,
    Recorded,
    keep_earlier_report,
    kept_report,
    recorded_folder,
    stamped,
    students_with_earlier_reports,
    submission_of,
)
from ..workspace import Workspace, open_api

if TYPE_CHECKING:
    from .shared_gradebook import SharedGradebook

_RECORDED_PER_REPORT = 2  # of the waiting reports, whenever another submission is graded


@dataclass(frozen=True)
class RecordedScores:
    """Students in the gradebook, students who were left out and why, and notes."""

    recorded: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the lines to print."""
        total = len(self.recorded) + len(self.left_out)
        return [
            *self.notes,
            *(f"{student}: not recorded: {why}" for student, why in self.left_out.items()),
            f"{len(self.recorded)} of {total} recorded in the gradebook",
        ]


def require_released(course: Course, week: Week) -> None:
    """Raise NbgraderError if the week was not released from this project."""
    if not Workspace(course).released(week).is_dir():
        raise NbgraderError(
            f"{week.name} was not released from here, so the gradebook cannot store its scores: "
            f"run `autograder release {week.name}` first"
        )


class Recorder:
    """Record a week's reports in any order; a context manager that closes the gradebook.

    abouts: the identity of each graded submission, by student; the caller may add entries while
    grading. A submission that the grading system failed on keeps its old scores.
    """

    def __init__(
        self, course: Course, week: Week, abouts: Mapping[str, About] | None = None
    ) -> None:
        require_released(course, week)
        self._course, self._week = course, week
        self._abouts: Mapping[str, About] = {} if abouts is None else abouts
        self._outcome = RecordedScores()
        self._rescored: list[str] = []
        self._seen: set[str] = set()
        self._exit = ExitStack()
        self._nbgrader: tuple[Any, SharedGradebook] | None = None
        keep_marks(course)
        restored = restore_assignment(course, week)
        self._first_notes = [f"LOOK  {restored}"] if restored else []
        self._worth = Worth(course)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._exit.close()

    def enter(self, report: SubmissionReport) -> None:
        """Record one report, unless it was recorded before."""
        if report.name not in self._seen:
            self._record(report)
            self._seen.add(report.name)

    def _record(self, report: SubmissionReport) -> None:
        student, outcome = report.name, self._outcome
        if report.verdict is Ending.GRADER_FAULT:
            outcome.left_out[student] = "the grading system failed on this submission"
            return
        if not Workspace(self._course).submitted(student, self._week).is_dir():
            outcome.left_out[student] = "no submission was collected under this name"
            return
        about = self._abouts.get(student) or submission_of(self._course, self._week, student)
        counted = self._counting_report(report, about)
        if counted is None:
            return
        if counted is not report:
            about = submission_of(self._course, self._week, student)
        before = kept_report(self._course, self._week, student)
        self._autograde(counted, about)
        if before is not None and _is_rescored(before, counted, about):
            self._rescored.append(student)
        if student not in outcome.left_out:
            outcome.recorded.append(student)

    def _counting_report(self, report: SubmissionReport, about: About) -> SubmissionReport | None:
        """Put the submission that counts in place; return its report, or None to keep scores."""
        course, week, student = self._course, self._week, report.name
        number = counting(course, week, stamped(report, about), self._worth)
        if number == about.number:
            return report
        if report.verdict is Ending.GRADED:
            keep_earlier_report(course, week, student, stamped(report, about))
            put_in_place(course, week, student, number)
            return report_of(course, week, student, number)
        self._outcome.notes.append(f"LOOK  {student}: not recorded: {report.message}")
        if not (number and about.number):
            self._outcome.left_out[student] = "the earlier graded submission stays"
            return None
        refuse(course, week, student, about.number, number, report.message)
        now = submission_of(course, week, student)
        known = report_with(course, week, student, now.content)
        if known is None or now.number == number:
            return report_of(course, week, student, number)
        # The refused submission's answers were accepted as a new submission.
        return self._counting_report(known, now)

    def _autograde(self, report: SubmissionReport, about: About) -> None:
        student = report.name
        if self._nbgrader is None:
            self._nbgrader = self._open_nbgrader()
        try:
            try:
                self._run_nbgrader(report, about)
            except NbgraderError:
                # A folder that was placed by hand may need the checks of a submission.
                notes = accept_folder(self._course, self._week, student)
                if not notes:
                    raise
                self._outcome.notes.extend(notes)
                self._run_nbgrader(report, submission_of(self._course, self._week, student))
        except NbgraderError as error:
            self._outcome.left_out[student] = str(error)

    def _open_nbgrader(self) -> tuple[Any, SharedGradebook]:
        from .shared_gradebook import shared_gradebook

        api = open_api(self._course)
        return api, self._exit.enter_context(shared_gradebook(self._course))

    def _run_nbgrader(self, report: SubmissionReport, about: About) -> None:
        from .preprocessor import prepared_report
        from .single_pass import autograde_once

        course, week = self._course, self._week
        assert self._nbgrader is not None
        api, gradebook = self._nbgrader
        with (
            prepared_report(week, report, about),
            in_turn(recorded_folder(course, week)),
            gradebook.transaction(),
        ):
            autograde_once(api, week.name, report.name)

    def ended(self) -> RecordedScores:
        """Finish after all reports: update penalties, restore marks, and return the outcome."""
        course, week, outcome = self._course, self._week, self._outcome
        self._exit.close()
        self._nbgrader = None
        if self._rescored:
            self._first_notes.append(
                "these submissions were graded before and have other scores now, because the "
                f"graders changed: {', '.join(self._rescored)}; `autograder regrade` shows why "
                "and keeps a log"
            )
        outcome.notes[:0] = self._first_notes
        outcome.notes.extend(f"LOOK  {note}" for note in restore_marks(course, week))
        share_marks(course, week)
        outcome.notes.extend(describe_recounts(update_dates(course)))
        worth = Worth(course)
        for student in sorted(self._seen & students_with_earlier_reports(course, week)):
            if less := lower(course, week, student, worth):
                outcome.notes.append(f"LOWER  {student}: {less.sentence}")
        return outcome


def _is_rescored(before: Recorded, now: SubmissionReport, about: About) -> bool:
    """Return True if the same submission has a different score now."""
    same = before.is_of(about.handed_in, about.content) and now.verdict is Ending.GRADED
    return same and abs(before.score - now.score) > 1e-6


class RecordWhileGrading:
    """Record a class's reports while the rest of the class is graded.

    Recording starts when half of the class is known to be graded, because nothing is recorded if
    most submissions are refused. After an error, the rest is left to the caller, who reports it.
    """

    def __init__(self, recorder: Recorder, total: int) -> None:
        self._recorder, self._total = recorder, total
        self._graded = 0
        self._waiting = deque[SubmissionReport]()
        self._failed = False

    def __call__(self, report: SubmissionReport) -> None:
        """Take a report that was just made."""
        if report.verdict is not Ending.GRADED:
            return
        self._graded += 1
        self._waiting.append(report)
        if self._failed or 2 * self._graded < self._total:
            return
        try:
            for _ in range(min(_RECORDED_PER_REPORT, len(self._waiting))):
                self._recorder.enter(self._waiting.popleft())
        except Exception:  # raised again when the caller enters all reports
            self._failed = True
