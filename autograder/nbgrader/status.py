"""Report the status of every week: released, submitted, graded, marked, returned, and problems.

The status is read from nbgrader's folders and gradebook and from `.autograder/`, without importing
nbgrader, which takes seconds.
"""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ..model.course import Course, Week
from ..model.report.schema import Ending
from ..model.submission_files import KINDS, SECRET_FILE, Kind, parse_timestamp
from .collect.collector import last_collection
from .collect.groups import unknown_students
from .collect.history import folder_time, last_seen, read_history, read_marker
from .collect.inbound import submissions_by_student
from .gradebook import database, report_store
from .gradebook.effective_results import PastResult, Worth, lower, results
from .regrade.regrade_log import open_requests
from .workspace import Workspace


class WeekStatus(msgspec.Struct, frozen=True):
    """The status of one week. Unless a comment says otherwise, lists contain students."""

    week: str
    title: str
    release: dt.datetime
    due: dt.datetime
    released: bool
    enrolled: int
    handed_in: list[str]
    missing: list[str]
    late: dict[str, str]  # student -> how late; omits submissions within the grace period
    graded: list[str]
    refused: dict[str, str]  # student -> why the submission cannot be graded
    waiting: list[str]  # submitted to the exchange, but not collected yet
    ungraded: list[str]  # collected, but not graded yet
    to_mark: dict[str, int]  # student -> number of unmarked cells
    returned: list[str]
    stale: list[str]  # students whose feedback is older than their score
    again: dict[str, list[PastResult]]  # student -> results, if there are several
    foreign: dict[str, str]  # student -> the user who submitted in the student's name
    noted: dict[Kind, list[str]] = {}  # kind of problem -> students
    asking: dict[str, str] = {}  # student -> first line of an unanswered regrade request
    strangers: list[str] = []  # lines about unknown students in extensions and groups
    lower: dict[str, str] = {}  # student -> comparison, if a better submission does not count
    not_accepted: dict[str, str] = {}  # student -> why the newest submission cannot be graded
    changed: dict[str, list[str]] = {}  # student -> answers that changed after they were marked

    @property
    def unreturned(self) -> list[str]:
        """Return the students without feedback, or [] while answers of the week are unmarked."""
        has = {*self.returned, *self.stale}
        return [] if self.to_mark else [s for s in self.graded if s not in has]


def status(course: Course) -> list[WeekStatus]:
    """Return the status of every week of the course."""
    gradebook, worth = database.read_gradebook(course), Worth(course)
    marks = database.read_hand_marks(course)
    late = _late(course, gradebook[1])
    return [
        _week(course, week, *gradebook, late.get(week.name, {}), worth, marks.get(week.name, {}))
        for week in course.weeks
    ]


def _week(
    course: Course,
    week: Week,
    students: list[str],
    entries: list[database.GradebookEntry],
    late: dict[str, str],
    worth: Worth,
    marks: Mapping[str, database.Marked],
) -> WeekStatus:
    workspace = Workspace(course)
    handed = workspace.students("submitted", week)
    held = {e.student: e for e in entries if e.week == week.name}
    graded = [s for s in sorted(held) if held[s].graded]
    reports = report_store.stored_reports(course, week)
    results_of = {
        s: results(course, week, s, worth)
        for s in sorted(report_store.students_with_earlier_reports(course, week))
    }
    again = {student: several for student, several in results_of.items() if len(several) > 1}
    compared = {student: lower(several) for student, several in again.items()}
    kinds = {s: {n.kind for n in reports[s].notes} if s in reports else {} for s in graded}
    newest = {s: h.entries[-1] for s in handed if (h := read_history(course, week, s)).accepted}
    has_feedback = [s for s in workspace.students("feedback", week) if returned(workspace, week, s)]
    stale = [s for s in has_feedback if report_store.feedback_is_stale(course, week, s)]
    return WeekStatus(
        week=week.name,
        title=week.title,
        release=course.localized(week.release),
        due=course.localized(week.due),
        released=workspace.outbound(week).is_dir(),
        enrolled=len(students),
        handed_in=handed,
        missing=[s for s in students if s not in handed],
        late={s: late[s] for s in handed if s in late},
        graded=graded,
        refused={
            s: reports[s].message.partition("\n")[0]
            for s in graded
            if s in reports and reports[s].verdict is Ending.REFUSED
        },
        waiting=to_collect(course, week),
        ungraded=[
            s
            for s in handed
            if s not in graded
            or (s in reports and reports[s].number != read_marker(workspace.submitted(s, week)))
        ],
        to_mark={s: e.to_mark for s, e in sorted(held.items()) if e.to_mark},
        returned=[s for s in has_feedback if s not in stale],
        stale=stale,
        again=again,
        foreign=last_collection(course, week).foreign,
        noted={kind: some for kind in KINDS if (some := [s for s in graded if kind in kinds[s]])},
        asking=open_requests(course, week),
        strangers=unknown_students(course, week),
        lower={
            s: less.sentence(course.zone)
            for s, less in compared.items()
            if less and not less.best.counts
        },
        not_accepted={s: entry.problem for s, entry in newest.items() if entry.problem},
        changed={s: names for s, m in sorted(marks.items()) if (names := m.changed_cells)},
    )


def _late(course: Course, entries: list[database.GradebookEntry]) -> dict[str, dict[str, str]]:
    """Return the lateness of each submission after the grace period, by week and student."""
    graded = database.by_student(entries)
    times: dict[str, dict[str, dt.datetime]] = {student: {} for student in graded}
    for week in course.weeks:
        for student in Workspace(course).students("submitted", week):
            folder = Workspace(course).submitted(student, week)
            if time := parse_timestamp(folder_time(folder)):
                times.setdefault(student, {})[week.name] = time
    found: dict[str, dict[str, str]] = {}
    for student, own in times.items():
        graded_before = graded.get(student, [])
        for name, late in database.lateness_of(course, student, graded_before, own).items():
            if late.late and not late.forgiven:
                found.setdefault(name, {})[student] = late.late
    return found


def to_collect(course: Course, week: Week) -> list[str]:
    """Return the students whose newest submission in the exchange has not been collected yet."""
    found = submissions_by_student(course, week)
    newest = {student: max(s.submitted for s in found[student]) for student in found}
    seen = {student: parse_timestamp(last_seen(course, week, student)) for student in newest}
    return [s for s in sorted(newest) if (before := seen[s]) is None or newest[s] > before]


def returned(workspace: Workspace, week: Week, student: str) -> bool:
    """Return True if the student's feedback has been released to the exchange.

    If the student did not submit through the exchange, return True if the page was generated.
    """
    secret = workspace.feedback(student, week) / SECRET_FILE
    if not secret.is_file():
        return workspace.feedback_page(student, week).is_file()
    return workspace.delivered_page(secret.read_bytes(), week).is_file()


def returned_page(workspace: Workspace, week: Week, student: str) -> Path | None:
    """Return the path of a student's feedback page, or None if it has not been released."""
    page = workspace.feedback_page(student, week)
    return page if returned(workspace, week, student) and page.is_file() else None
