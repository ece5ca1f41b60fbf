"""The reports behind the scores in the gradebook, one file per student and week.

`.autograder/recorded/<week>/<student>.json` holds the report with the submission that it grades:
its submission time and a hash of its files. So a new submission can be distinguished from a
changed grader. The reports of earlier submissions are in `earlier/<student>/`.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import msgspec

from ...batch.intake import Submission
from ...batch.store import content_hash
from ...model.course import Course, Week
from ...model.report.comparison import differ
from ...model.report.schema import SubmissionReport
from ...model.submission_files import Note
from ..collect.history import folder_time, read_marker
from ..workspace import Workspace, read_state, write_state


class About(msgspec.Struct, frozen=True):
    """The submission that a report grades.

    handed_in: submission time as nbgrader writes it, "" if unknown. content: a hash of the files.
    notes: problems that were fixed. number: the number in the student's history, 0 if not there.
    """

    handed_in: str
    content: str
    notes: tuple[Note, ...] = ()
    number: int = 0


class Recorded(SubmissionReport, frozen=True):
    """A recorded report, with the fields of `About`. `graded`: time of grading (ISO 8601, UTC)."""

    handed_in: str = ""
    content: str = ""
    graded: str = ""
    notes: tuple[Note, ...] = ()
    number: int = 0

    def is_of(self, handed_in: str, content: str) -> bool:
        """Return True if this report grades that submission.

        Compare the times if both are known, otherwise the contents.
        """
        if self.handed_in and handed_in:
            return self.handed_in == handed_in
        return self.content in ("", content)


def recorded_folder(course: Course, week: Week) -> Path:
    return course.state / "recorded" / week.name


def recorded_file(course: Course, week: Week, student: str) -> Path:
    return recorded_folder(course, week) / f"{student}.json"


def stored_report(course: Course, week: Week, student: str) -> Recorded | None:
    """Return the report behind a student's scores in the gradebook, or None."""
    return read_state(recorded_file(course, week, student), Recorded)


def stored_reports(course: Course, week: Week) -> dict[str, Recorded]:
    """Return the recorded reports of a week by student."""
    paths = sorted(recorded_folder(course, week).glob("*.json"))
    reports = {path.stem: read_state(path, Recorded) for path in paths}
    return {student: report for student, report in reports.items() if report is not None}


def students_with_earlier_reports(course: Course, week: Week) -> set[str]:
    return {p.name for p in (recorded_folder(course, week) / "earlier").glob("*")}


def earlier_reports(course: Course, week: Week, student: str) -> list[Recorded]:
    """Return the reports of a student's earlier submissions, the oldest first."""
    paths = sorted(_earlier_folder(course, week, student).glob("*.json"))
    return [r for path in paths if (r := read_state(path, Recorded)) is not None]


def keep_report(
    course: Course,
    week: Week,
    student: str,
    report: SubmissionReport,
    about: About | None = None,
) -> None:
    """Store the report of a submission; keep the report of an earlier submission too.

    about: the graded submission; by default the one that is currently collected.
    """
    about = about or submission_of(course, week, student)
    before = stored_report(course, week, student)
    if before is not None:
        graded_before = About(before.handed_in, before.content, before.notes, before.number)
        if graded_before == about and not differ(before, report):
            return  # an unchanged file does not make the feedback stale
        if before.graded and not before.is_of(about.handed_in, about.content):
            keep_earlier_report(course, week, student, before)
    write_report(course, week, student, stamped(report, about))


def keep_earlier_report(course: Course, week: Week, student: str, report: Recorded) -> None:
    """Store the report of a submission that does not count."""
    name = f"{report.graded.replace(':', '')}.json"
    write_state(_earlier_folder(course, week, student) / name, report)


def write_report(course: Course, week: Week, student: str, report: Recorded) -> None:
    write_state(recorded_file(course, week, student), report)


def stamped(report: SubmissionReport, about: About) -> Recorded:
    """Combine a report with its submission and the current time."""
    now = dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")
    fields = {f: getattr(report, f) for f in SubmissionReport.__struct_fields__}
    return Recorded(**fields, **msgspec.structs.asdict(about), graded=now)


def submission_of(course: Course, week: Week, student: str) -> About:
    """Identify the student's collected submission."""
    from ..collect.history import read_student

    return identify(course, week, student, read_student(course, week, student))


def identify(course: Course, week: Week, student: str, submission: Submission) -> About:
    """Identify a submission that was read."""
    content = content_hash(submission.files, submission.problem.encode())
    marker = read_marker(Workspace(course).submitted(student, week))
    number = marker.number if marker else 0
    return About(handed_in(course, week, student), content, submission.notes, number)


def handed_in(course: Course, week: Week, student: str) -> str:
    """Return the time of the collected submission in nbgrader's format, or "" if it is unknown."""
    return folder_time(Workspace(course).submitted(student, week))


def judged_digests(course: Course, week: Week, student: str) -> dict[str, str]:
    """Return digests of the scored cells; key "CELL marked": the digest when CELL was marked."""
    return read_state(digests_file(course, week, student), dict[str, str]) or {}


def digests_file(course: Course, week: Week, student: str) -> Path:
    return recorded_folder(course, week) / f"{student}.answers"


def feedback_is_stale(course: Course, week: Week, student: str) -> bool:
    """Return True if the feedback page is older than the report in the gradebook."""
    page = Workspace(course).feedback_page(student, week)
    try:
        made = page.stat().st_mtime_ns
        return recorded_file(course, week, student).stat().st_mtime_ns > made
    except OSError:
        return False


def _earlier_folder(course: Course, week: Week, student: str) -> Path:
    return recorded_folder(course, week) / "earlier" / student
