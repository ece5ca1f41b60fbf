"""Restore an earlier submission: its files, its scores, and the marks that people gave."""

from __future__ import annotations

from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.message_text import did_you_mean
from ...model.report.schema import Ending, Report, SubmissionReport
from ..autograde.recorder import record, require_released
from ..gradebook.effective_results import report_with
from ..gradebook.report_store import submission_of
from ..workspace import Workspace
from .history import Entry, History
from .submissions import full_history, put_in_place


def submissions_of(course: Course, week: Week, student: str) -> History:
    """Return a student's submissions; raise NbgraderError if there is none."""
    found = full_history(course, week, student)
    if not found.entries:
        known = Workspace(course).students("submitted", week)
        raise NbgraderError(
            f"{week.name}: no submission of {student!r} was collected{did_you_mean(student, known)}"
        )
    return found


def chosen_entry(history: History, wanted: str) -> Entry:
    """Return the submission with this number; raise NbgraderError if there is none."""
    found = history.entry(int(wanted)) if wanted.isdecimal() else None
    if found is None:
        raise NbgraderError(
            f"--to {wanted} is not the number of a submission; without --to they are listed"
        )
    return found


def restore(course: Course, week: Week, student: str, entry: Entry) -> list[str]:
    """Make a submission count until a new one arrives; return the lines to print.

    Grade it only if it has no result yet. Raise NbgraderError if it cannot be graded.
    """
    from ..autograde.preprocessor import grade_student  # imports nbgrader, which takes seconds

    require_released(course, week)
    if entry.problem:
        raise NbgraderError(f"submission {entry.number} cannot be graded: {entry.problem}")
    before = full_history(course, week, student)
    put_in_place(course, week, student, entry.number, restored=True)
    content = submission_of(course, week, student).content
    report: SubmissionReport | None = report_with(course, week, student, content)
    sandbox = ""
    if report is None:
        report, sandbox = grade_student(course, week, student)
    if report.verdict is not Ending.GRADED:
        put_in_place(course, week, student, before.current, restored=before.restored)
        raise NbgraderError(f"submission {entry.number} cannot be graded: {report.message}")
    recording = record(course, week, Report(week.name, (), (report,), sandbox))
    return recording.lines()
