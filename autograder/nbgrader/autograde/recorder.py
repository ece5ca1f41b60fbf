"""Entering reports into the gradebook, one after the other, by nbgrader's own autograde step.

Scores come from the reports; no notebook is executed. A class that is graded is recorded meanwhile
(`WhileGraded`): else one core would wait for minutes while the other one writes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from ...files.folder_lock import in_turn
from ...model.course.loader import Course, Week
from ...model.errors import NbgraderError
from ...model.report.schema import Report, SubmissionReport
from ...model.report.verdicts import Ending
from ..collect.groups import share_marks
from ..collect.submissions import accept_again, put_in_place, refuse
from ..formgrader.manual_marks import keep_marks, restore_marks
from ..gradebook.due_dates import bring_dates, lines
from ..gradebook.effective_results import Worth, counting, lower, report_of, report_with
from ..gradebook.rebuild import restore_assignment
from ..gradebook.report_store import (
    NOTHING,
    About,
    handed_in_before,
    keep_earlier_report,
    recorded_folder,
    stamped,
    submission_of,
)
from ..gradebook.unchanged_scores import HeldScores, Stands
from ..workspace import Workspace, open_api
from .shared_connection import Opened, one_gradebook

_AT_ONCE = 2  # of those that wait, whenever another one was graded


@dataclass(frozen=True)
class RecordedScores:
    """What was recorded: who stands in the gradebook now, who does not and why, and oddities."""

    recorded: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """What is to be said about it."""
        total = len(self.recorded) + len(self.left_out)
        return [
            *self.notes,
            *(f"{student}: not recorded: {why}" for student, why in self.left_out.items()),
            f"{len(self.recorded)} of {total} recorded in the gradebook",
        ]


def require_released(course: Course, week: Week) -> None:
    """Raise NbgraderError if a week's scores would have no place in the gradebook."""
    if not Workspace(course).released(week).is_dir():
        raise NbgraderError(
            f"{week.name} was not released from here, so its scores have no place in the "
            f"gradebook: `autograder release {week.name}` first"
        )


class _NbgraderSteps(NamedTuple):
    """nbgrader's, made once for a class."""

    api: Any
    series: Any
    opened: Opened


class Recorder:
    """Enters a week's reports into the gradebook, in any order; a context that closes it again.

    abouts: by student, what was read when it was graded; whoever grades goes on filling it

    A submission that could not be graded through a fault of ours keeps what the gradebook holds.
    """

    def __init__(self, course: Course, week: Week, abouts: Mapping[str, About] = NOTHING) -> None:
        require_released(course, week)
        self._course, self._week, self._abouts = course, week, abouts
        self._found = RecordedScores()
        self._first: list[str] = []  # of what is to be said
        self._otherwise: list[str] = []
        self._entered = set[str]()
        self._abouts_again = set[str]()  # another submission is in place than the one that was read
        self._worth = Worth(course)
        self._open = ExitStack()
        self._steps: _NbgraderSteps | None = None  # once they are needed
        keep_marks(course)
        if note := restore_assignment(course, week):
            self._first.append(f"LOOK  {note}")
        self._held = HeldScores(course, week, abouts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def enter(self, report: SubmissionReport) -> None:
        """Bring one report into the gradebook, unless it was entered before."""
        student, found = report.name, self._found
        if student in self._entered:
            return
        if report.verdict is Ending.GRADER_FAULT:
            found.left_out[student] = "the grading system failed on it"
        elif not Workspace(self._course).submitted(student, self._week).is_dir():
            found.left_out[student] = "nothing was collected under this name"
        elif (counts := self._counting(report)) is not None:
            stands = self._held.of(counts)
            if stands is not Stands.SETTLED:
                self._autograde(counts)
            if stands is Stands.OTHERWISE:
                self._otherwise.append(student)
            if student not in found.left_out:
                found.recorded.append(student)
        self._entered.add(student)

    def _counting(self, report: SubmissionReport) -> SubmissionReport | None:
        """Return the report of the submission that counts, after putting that one in place.

        None if the gradebook keeps what it has.
        """
        course, week, student = self._course, self._week, report.name
        again = student in self._abouts_again
        read = None if again else self._abouts.get(student)
        about = read or submission_of(course, week, student)
        number = counting(course, week, stamped(report, about), self._worth)
        if number == about.number:
            return report
        self._abouts_again.add(student)
        if report.verdict is Ending.GRADED:
            keep_earlier_report(course, week, student, stamped(report, about))
            put_in_place(course, week, student, number)
            return report_of(course, week, student, number)
        self._found.notes.append(f"LOOK  {student}: not recorded: {report.message}")
        if not (number and about.number):
            self._found.left_out[student] = "an earlier submission was graded and stays"
            return None
        refuse(course, week, student, about.number, number, report.message)
        now = submission_of(course, week, student)
        known = report_with(course, week, student, now.content)
        if known is None or now.number == number:
            return report_of(course, week, student, number)
        return self._counting(known)  # its answers were kept, which makes it a new submission

    def _autograde(self, report: SubmissionReport) -> None:
        """nbgrader's step for one submission; why it could not be done is noted."""
        student, steps = report.name, self._opened()
        try:
            try:
                known = None if student in self._abouts_again else self._abouts.get(student)
                self._run(steps, report, known)
            except NbgraderError:
                if not (notes := accept_again(self._course, self._week, student)):
                    raise
                self._found.notes.extend(notes)
                self._run(steps, report, None)  # the submission is another one now
        except NbgraderError as error:
            self._found.left_out[student] = str(error)

    def _opened(self) -> _NbgraderSteps:
        from .batch_steps import autograding

        if self._steps is None:
            api = open_api(self._course)
            opened = self._open.enter_context(one_gradebook(self._course))
            self._steps = _NbgraderSteps(api, autograding(api), opened)
        return self._steps

    def _run(self, steps: _NbgraderSteps, report: SubmissionReport, about: About | None) -> None:
        from .batch_steps import run_one
        from .preprocessor import at_hand

        course, week = self._course, self._week
        known = {} if about is None else {report.name: about}
        with (
            at_hand(Report(week.name, (), (report,)), known),
            in_turn(recorded_folder(course, week)),
            steps.opened.whole(),
        ):
            run_one(steps.api, steps.series, week.name, report.name)

    def ended(self) -> RecordedScores:
        """All is entered: what was recorded, and what else there is to say of the gradebook."""
        course, week, found = self._course, self._week, self._found
        self._open.close()
        self._steps = None
        if self._otherwise:
            self._first.append(
                "graded before and now judged otherwise, because the graders changed: "
                f"{', '.join(self._otherwise)}; `autograder regrade` shows why and keeps a log"
            )
        found.notes[:0] = self._first
        found.notes.extend(f"LOOK  {note}" for note in restore_marks(course, week))
        share_marks(course, week)
        found.notes.extend(lines(bring_dates(course)))
        found.notes.extend(self._lower())
        return found

    def _lower(self) -> list[str]:
        """Return a line for each student whose newest submission is worth less than another."""
        several, worth = handed_in_before(self._course, self._week), Worth(self._course)
        found = []
        for student in sorted(self._entered & several):
            if less := lower(self._course, self._week, student, worth):
                found.append(f"LOWER  {student}: {less.sentence}")
        return found


class WhileGraded:
    """Enters a class's reports while the rest of it is graded.

    Where most were refused nothing is to be recorded, so nothing is before half of the class is
    known to be graded. What cannot be entered for want of the gradebook waits for the end, where
    it is told: grading goes on.
    """

    def __init__(self, recorder: Recorder, total: int) -> None:
        self._recorder, self._total = recorder, total
        self._graded = 0
        self._waiting = deque[SubmissionReport]()
        self._failed = False

    def __call__(self, report: SubmissionReport) -> None:
        """One more report is there."""
        if report.verdict is not Ending.GRADED:
            return
        self._graded += 1
        self._waiting.append(report)
        if self._failed or 2 * self._graded < self._total:
            return
        try:
            for _ in range(min(_AT_ONCE, len(self._waiting))):
                self._recorder.enter(self._waiting.popleft())
        except Exception:  # whatever it is, it is told at the end, where all is entered
            self._failed = True
