"""Record reports in the gradebook, and restore earlier submissions with their scores.

Each submission passes through nbgrader's autograde step, which takes the scores from the report
instead of executing the notebook.
"""

from collections.abc import Mapping

import msgspec

from ...files import in_turn
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.message_text import did_you_mean
from ...model.report.schema import Ending, Report, SubmissionReport
from ..collect.groups import share_marks
from ..collect.history import Entry, History
from ..collect.submissions import full_history, put_in_place, refuse
from ..formgrader.manual_marks import keep_marks, restore_marks
from ..gradebook import report_store
from ..gradebook.due_dates import restore_assignment, update_dates
from ..gradebook.effective_results import Worth, counting, lower, report_with, results
from ..gradebook.report_store import About, Recorded
from ..workspace import Transaction, Workspace, last_words, open_api, shared_gradebook


class RecordedScores(msgspec.Struct, frozen=True):
    """The students whose scores were recorded, and the students who were left out."""

    recorded: list[str] = []
    left_out: dict[str, str] = {}  # student -> reason
    notes: list[str] = []

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


def record(
    course: Course, week: Week, report: Report, abouts: Mapping[str, About] | None = None
) -> RecordedScores:
    """Record the scores of every submission in the report.

    If a system error prevented grading, the student's earlier scores stay. Raise NbgraderError if
    the week was not released.

    abouts: identity of each graded submission, by student; default: of the collected submission
    """
    require_released(course, week)
    keep_marks(course)
    restored = restore_assignment(course, week)
    with shared_gradebook(course) as transaction:
        recorder = _Recorder(course, week, transaction)
        for submission in report.submissions:
            recorder.record(submission, (abouts or {}).get(submission.name))
    outcome = recorder.outcome
    outcome.notes[:0] = [f"LOOK  {restored}"] if restored else []
    if recorder.rescored:
        outcome.notes.append(
            "these submissions were graded before and have other scores now, because the "
            f"graders changed: {', '.join(recorder.rescored)}; `autograder regrade` shows why "
            "and keeps a log"
        )
    outcome.notes.extend(f"LOOK  {note}" for note in restore_marks(course, week))
    share_marks(course, week)
    outcome.notes.extend(update_dates(course))
    worth = Worth(course)
    recorded_here = {s.name for s in report.submissions}
    for student in sorted(recorded_here & report_store.students_with_earlier_reports(course, week)):
        if less := lower(results(course, week, student, worth)):
            outcome.notes.append(f"LOWER  {student}: {less.sentence(course.zone)}")
    return outcome


def submissions_of(course: Course, week: Week, student: str) -> History:
    """Return a student's submissions; raise NbgraderError if nothing was collected."""
    found = full_history(course, week, student)
    if not found.entries:
        known = Workspace(course).students("submitted", week)
        raise NbgraderError(
            f"{week.name}: no submission of {student!r} was collected{did_you_mean(student, known)}"
        )
    return found


def chosen_entry(history: History, wanted: str) -> Entry:
    """Return the submission numbered `wanted`; raise NbgraderError if there is none."""
    found = history.entry(int(wanted)) if wanted.isdecimal() else None
    if found is None:
        raise NbgraderError(
            f"--to {wanted} is not the number of a submission; without --to they are listed"
        )
    return found


def restore(course: Course, week: Week, student: str, entry: Entry) -> list[str]:
    """Make an earlier submission count until the student submits again.

    Restore the submission's files and scores, but keep the current manual marks, and return the
    lines to print. Grade the submission only if no report of it is stored. Raise NbgraderError if
    the submission cannot be graded.
    """
    from .preprocessor import grade_student  # importing nbgrader takes seconds

    require_released(course, week)
    if entry.problem:
        raise NbgraderError(f"submission {entry.number} cannot be graded: {entry.problem}")
    before = full_history(course, week, student)
    put_in_place(course, week, student, entry.number, restored=True)
    content = report_store.submission_of(course, week, student).content
    report: SubmissionReport | None = report_with(course, week, student, content)
    sandbox = ""
    if report is None:
        report, sandbox = grade_student(course, week, student)
    if report.verdict is not Ending.GRADED:
        put_in_place(course, week, student, before.current, restored=before.restored)
        raise NbgraderError(f"submission {entry.number} cannot be graded: {report.message}")
    return record(course, week, Report(week.name, (), (report,), sandbox)).lines()


class _Recorder:
    """Records the reports of one week in an open gradebook."""

    def __init__(self, course: Course, week: Week, transaction: Transaction) -> None:
        self._course, self._week = course, week
        self._transaction, self._api = transaction, open_api(course)
        self._worth = Worth(course)
        self.outcome = RecordedScores()
        self.rescored: list[str] = []

    def record(self, report: SubmissionReport, about: About | None) -> None:
        """Record the report, or an earlier submission's report if that submission counts."""
        student, outcome = report.name, self.outcome
        if report.verdict is Ending.GRADER_FAULT:
            outcome.left_out[student] = "the grading system failed on this submission"
            return
        about = about or report_store.submission_of(self._course, self._week, student)
        if not about.number:
            outcome.left_out[student] = "no submission was collected under this name"
            return
        counted = self._counting_report(report, about)
        if counted is not report:
            about = report_store.submission_of(self._course, self._week, student)
        before = report_store.stored_report(self._course, self._week, student)
        self._autograde(counted, about)
        if before is not None and _is_rescored(before, counted, about):
            self.rescored.append(student)
        if student not in outcome.left_out:
            outcome.recorded.append(student)

    def _counting_report(self, report: SubmissionReport, about: About) -> SubmissionReport:
        """Decide which submission counts, make it the current one, and return its report."""
        course, week, student = self._course, self._week, report.name
        new = report_store.stamped(report, about)
        number = counting(course, week, new, self._worth)
        if number == about.number:
            return report
        if report.verdict is Ending.GRADED:
            report_store.keep_earlier_report(course, week, student, new)
            put_in_place(course, week, student, number)
            return report_store.reports_by_number(course, week, student)[number]
        self.outcome.notes.append(f"LOOK  {student}: not recorded: {report.message}")
        refuse(course, week, student, about.number, number, report.message)
        now = report_store.submission_of(course, week, student)
        known = report_with(course, week, student, now.content)
        if known is None or now.number == number:
            return report_store.reports_by_number(course, week, student)[number]
        # `refuse` accepted the new answers as another submission, which may count instead.
        return self._counting_report(known, now)

    def _autograde(self, report: SubmissionReport, about: About) -> None:
        """Run nbgrader's autograde step in one transaction; if it fails, leave the student out."""
        from .preprocessor import prepared_report  # importing nbgrader takes seconds

        course, week = self._course, self._week
        try:
            with (
                prepared_report(week, report, about),
                in_turn(report_store.recorded_folder(course, week)),
                self._transaction(),
            ):
                result = self._api.autograde(week.name, report.name)
                if not result["success"]:
                    raise NbgraderError(last_words(result))
        except NbgraderError as error:
            self.outcome.left_out[report.name] = str(error)


def _is_rescored(before: Recorded, now: SubmissionReport, about: About) -> bool:
    same = (before.number, before.content) == (about.number, about.content)
    return same and now.verdict is Ending.GRADED and abs(before.score - now.score) > 1e-6
