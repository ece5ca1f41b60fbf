"""The reports that stand behind the scores in the gradebook, one file per student and week.

A report is kept with what it was given for: when the submission was handed in, and a hash of its
files. So a student who hands in again is told from a grader that has changed; the report of the
former submission is kept beside the new one.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from ...batch.intake import Submission
from ...batch.store import content_hash
from ...files.atomic import replace_file
from ...model.course.loader import Course, Week
from ...model.notes import Note
from ...model.report.differences import differ
from ...model.report.schema import SubmissionReport
from ...model.report.verdicts import Ending
from ..collect.history import folder_time, read_marker
from ..workspace import Workspace


class Recorded(SubmissionReport, frozen=True):
    """A report in the gradebook. Times are in UTC."""

    handed_in: str = ""  # as nbgrader writes it; empty if it came another way
    content: str = ""  # a hash of the submission's files
    graded: str = ""  # when it was recorded, ISO 8601
    notes: tuple[Note, ...] = ()  # what was odd about the submission
    number: int = 0  # of the submission in the student's history; 0 if it is in none

    def is_of(self, handed_in: str, content: str) -> bool:
        """Return whether it was given for this submission: times decide, where both have one."""
        if self.handed_in and handed_in:
            return self.handed_in == handed_in
        return self.content in ("", content)


class _Head(msgspec.Struct):
    """The fields of `Recorded` that are read without its exercises."""

    name: str
    verdict: Ending
    score: float
    max_score: float
    seconds: float
    message: str = ""
    handed_in: str = ""
    content: str = ""
    graded: str = ""
    notes: tuple[Note, ...] = ()
    number: int = 0


def recorded_folder(course: Course, week: Week) -> Path:
    return course.state / "recorded" / week.name


def recorded_file(course: Course, week: Week, student: str) -> Path:
    return recorded_folder(course, week) / f"{student}.json"


def kept_report(course: Course, week: Week, student: str) -> Recorded | None:
    """The report behind a student's scores in the gradebook; None if there is none."""
    return _read(recorded_file(course, week, student))


def heads(course: Course, week: Week) -> dict[str, Recorded]:
    """Every report of a week by student, without its exercises: those take long to read."""
    found = {}
    for path in sorted(recorded_folder(course, week).glob("*.json")):
        try:
            head = msgspec.json.decode(path.read_bytes(), type=_Head)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
        found[path.stem] = Recorded(**msgspec.structs.asdict(head))
    return found


def handed_in_before(course: Course, week: Week) -> set[str]:
    """Who has reports of what they had handed in before."""
    return {p.name for p in (recorded_folder(course, week) / "earlier").glob("*")}


def earlier_reports(course: Course, week: Week, student: str) -> list[Recorded]:
    """The reports of what the student had handed in before, the oldest first."""
    found = [_read(p) for p in sorted(_earlier(course, week, student).glob("*.json"))]
    return [report for report in found if report is not None]


def keep_report(
    course: Course,
    week: Week,
    student: str,
    report: SubmissionReport,
    about: About | None = None,
) -> None:
    """Keep a report that was recorded; that of another submission before it is kept too.

    about: what the report is of, where that is known; else what was collected.
    """
    about = about or submission_of(course, week, student)
    before = kept_report(course, week, student)
    if before is not None and _says_the_same(before, report, about):
        return  # so that feedback that shows it does not count as stale
    if before is not None and before.graded and not before.is_of(about.handed_in, about.content):
        keep_earlier_report(course, week, student, before)
    write_report(course, week, student, stamped(report, about))


def keep_earlier_report(course: Course, week: Week, student: str, report: Recorded) -> None:
    """Keep the report of a submission that does not count."""
    folder = _earlier(course, week, student)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(folder / f"{report.graded.replace(':', '')}.json", report)


def _says_the_same(before: Recorded, report: SubmissionReport, about: About) -> bool:
    told = (about.handed_in, about.content, about.notes, about.number)
    same = (before.handed_in, before.content, before.notes, before.number) == told
    return same and not differ(before, report)


class About(msgspec.Struct, frozen=True):
    """When a collected submission was handed in, a hash of its files, what was odd about it."""

    handed_in: str
    content: str
    notes: tuple[Note, ...] = ()
    number: int = 0


NOTHING: Mapping[str, About] = MappingProxyType({})


def stamped(report: SubmissionReport, about: About) -> Recorded:
    """A report that is recorded now, for that submission."""
    now = dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")
    fields = {f: getattr(report, f) for f in SubmissionReport.__struct_fields__}
    return Recorded(**fields, **msgspec.structs.asdict(about), graded=now)


def write_report(course: Course, week: Week, student: str, report: Recorded) -> None:
    path = recorded_file(course, week, student)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(path, report)


def submission_of(course: Course, week: Week, student: str) -> About:
    """What tells a collected submission from another one of the same student."""
    from ..collect.submitted import read_student

    return about(course, week, student, read_student(course, week, student))


def about(course: Course, week: Week, student: str, submission: Submission) -> About:
    """The same of a submission that was read."""
    content = content_hash(submission.files, submission.problem.encode())
    marker = read_marker(Workspace(course).submitted(student, week))
    number = marker.number if marker else 0
    return About(handed_in(course, week, student), content, submission.notes, number)


def handed_in(course: Course, week: Week, student: str) -> str:
    """When the collected submission was handed in, as nbgrader writes it; or ""."""
    return folder_time(Workspace(course).submitted(student, week))


def feedback_is_stale(course: Course, week: Week, student: str) -> bool:
    """Return whether the feedback page is older than the report in the gradebook."""
    page = Workspace(course).feedback_page(student, week)
    try:
        made = page.stat().st_mtime_ns
        return recorded_file(course, week, student).stat().st_mtime_ns > made
    except OSError:
        return False


def note_shown_penalty(course: Course, week: Week, student: str, points: float) -> None:
    """Keep what the feedback page that was just made says of late work."""
    recorded_folder(course, week).mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(_shown(course, week, student), f"{points!r}\n".encode())


def shown_penalty(course: Course, week: Week, student: str) -> float | None:
    """The points off on the feedback page; None if there is none."""
    try:
        return float(_shown(course, week, student).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _shown(course: Course, week: Week, student: str) -> Path:
    return recorded_folder(course, week) / f"{student}.penalty"


def _earlier(course: Course, week: Week, student: str) -> Path:
    return recorded_folder(course, week) / "earlier" / student


def _write(path: Path, report: Recorded) -> None:
    replace_file(path, msgspec.json.encode(report))


def _read(path: Path) -> Recorded | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Recorded)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return None  # there is none, or another version of the kit wrote it
