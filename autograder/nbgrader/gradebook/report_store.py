"""Store the report of every graded submission.

`.autograder/recorded/<week>/<student>.json` contains the report whose scores are in the gradebook,
with the number, time and content hash of the submission. In the same folder,
`earlier/<student>/<number>.json` is the newest report of a submission that does not count.
"""

import datetime as dt
from pathlib import Path

import msgspec

from ...batch.intake import Submission
from ...batch.store import content_hash
from ...files import read_state, write_state
from ...model.course import Course, Week
from ...model.report.comparison import differ
from ...model.report.schema import SubmissionReport
from ...model.submission_files import Note
from ..collect.history import folder_time, read_marker, read_student
from ..workspace import Workspace


class About(msgspec.Struct, frozen=True):
    """The identity of a graded submission.

    handed_in: submission time in nbgrader's format, or "" if it is unknown. content: hash of the
    graded files. notes: problems in the submission and how they were handled. number: the
    submission's number in the student's history, or 0 if nothing was collected.
    """

    handed_in: str
    content: str
    notes: tuple[Note, ...] = ()
    number: int = 0


class Recorded(SubmissionReport, frozen=True):
    """A report with the fields of `About`. `graded`: time of grading (ISO 8601, UTC)."""

    handed_in: str = ""
    content: str = ""
    graded: str = ""
    notes: tuple[Note, ...] = ()
    number: int = 0


def recorded_folder(course: Course, week: Week) -> Path:
    return course.state / "recorded" / week.name


def recorded_file(course: Course, week: Week, student: str) -> Path:
    return recorded_folder(course, week) / f"{student}.json"


def stored_report(course: Course, week: Week, student: str) -> Recorded | None:
    """Return the report behind a student's scores, or None if no report is recorded."""
    return read_state(recorded_file(course, week, student), Recorded)


def stored_reports(course: Course, week: Week) -> dict[str, Recorded]:
    """Return the reports behind the scores of a week, by student."""
    paths = sorted(recorded_folder(course, week).glob("*.json"))
    return {p.stem: report for p in paths if (report := read_state(p, Recorded)) is not None}


def students_with_earlier_reports(course: Course, week: Week) -> set[str]:
    return {p.name for p in (recorded_folder(course, week) / "earlier").glob("*")}


def reports_by_number(course: Course, week: Week, student: str) -> dict[int, Recorded]:
    """Return each submission's newest report by number; the submission that counts is last."""
    found: dict[int, Recorded] = {}
    earlier = (recorded_folder(course, week) / "earlier" / student).glob("*.json")
    for path in (*sorted(earlier), recorded_file(course, week, student)):
        if (report := read_state(path, Recorded)) is not None:
            found.pop(report.number, None)
            found[report.number] = report
    return found


def earlier_reports(course: Course, week: Week, student: str) -> list[Recorded]:
    """Return the reports of the submissions that do not count, oldest submission first."""
    return list(reports_by_number(course, week, student).values())[:-1]


def keep_report(
    course: Course, week: Week, student: str, report: SubmissionReport, about: About
) -> None:
    """Store the report behind a student's scores; archive the former submission's report."""
    before = stored_report(course, week, student)
    if before is not None:
        graded_before = About(before.handed_in, before.content, before.notes, before.number)
        if graded_before == about and not differ(before, report):
            return  # a new modification time would mark the feedback as outdated
        if before.number != about.number:
            keep_earlier_report(course, week, student, before)
    write_state(recorded_file(course, week, student), stamped(report, about))


def keep_earlier_report(course: Course, week: Week, student: str, report: Recorded) -> None:
    """Store the report of a submission that does not count."""
    name = f"{report.number:06}.json"
    write_state(recorded_folder(course, week) / "earlier" / student / name, report)


def stamped(report: SubmissionReport, about: About) -> Recorded:
    """Return the report with the identity of its submission and the current time."""
    now = dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")
    fields = {f: getattr(report, f) for f in SubmissionReport.__struct_fields__}
    return Recorded(**fields, **msgspec.structs.asdict(about), graded=now)


def submission_of(course: Course, week: Week, student: str) -> About:
    """Read the student's collected submission and return its identity."""
    return identify(course, week, student, read_student(course, week, student))


def identify(course: Course, week: Week, student: str, submission: Submission) -> About:
    """Return the identity of a collected submission that has already been read."""
    content = content_hash(submission.files, submission.problem.encode())
    folder = Workspace(course).submitted(student, week)
    return About(folder_time(folder), content, submission.notes, read_marker(folder))


def judged_digests(course: Course, week: Week, student: str) -> dict[str, str]:
    """Return, by cell, the digest of the answer, or of the score if the cell has no answer.

    The key "CELL marked" has the digest that CELL had when it was marked.
    """
    return read_state(digests_file(course, week, student), dict[str, str]) or {}


def digests_file(course: Course, week: Week, student: str) -> Path:
    return recorded_folder(course, week) / f"{student}.answers"


def feedback_is_stale(course: Course, week: Week, student: str) -> bool:
    """Return True if a student's feedback page is older than the recorded report."""
    page = Workspace(course).feedback_page(student, week)
    try:
        return recorded_file(course, week, student).stat().st_mtime_ns > page.stat().st_mtime_ns
    except OSError:
        return False
