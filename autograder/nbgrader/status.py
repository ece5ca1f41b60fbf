"""The status of every week: released, submitted, graded, marked, returned, and problems.

Everything is read from nbgrader's folders and gradebook and from `.autograder/`, without importing
nbgrader, which takes seconds.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ..model.course import Course, Week
from ..model.report.schema import Ending
from ..model.submission_files import KINDS, Kind, parse_timestamp
from .collect.collector import last_collection
from .collect.history import last_seen, read_history
from .gradebook.database import (
    GradebookEntry,
    Marked,
    by_student,
    lateness_of,
    read_gradebook,
    read_hand_marks,
)
from .gradebook.due_dates import unknown_extensions
from .gradebook.effective_results import PastResult, Worth, lower, results
from .gradebook.report_store import (
    Recorded,
    feedback_is_stale,
    handed_in,
    stored_reports,
    students_with_earlier_reports,
)
from .regrade.regrade_log import open_requests
from .release.archive import names
from .workspace import Workspace


class WeekStatus(msgspec.Struct, frozen=True):
    """The status of one week. Lists contain students."""

    week: str
    title: str
    release: dt.datetime
    due: dt.datetime
    released: bool
    enrolled: int
    handed_in: list[str]
    missing: list[str]
    late: dict[str, str]  # student -> how late, without the grace period
    graded: list[str]
    refused: dict[str, str]  # student -> why
    waiting: list[str]  # submitted to the exchange, but not collected yet
    ungraded: list[str]  # collected, but not graded yet
    to_mark: dict[str, int]  # student -> number of unmarked cells
    returned: list[str]
    stale: list[str]  # whose feedback is older than their score
    again: dict[str, list[PastResult]]  # student -> results, oldest first, if there are several
    foreign: dict[str, str]  # student -> the user who submitted in their name
    noted: dict[Kind, list[str]] = {}  # kind of problem -> students
    asking: dict[str, str] = {}  # student -> first line of an unanswered regrade request
    strangers: list[str] = []  # lines about extensions for unknown students
    lower: dict[str, str] = {}  # student whose newest submission scored lower -> the results
    not_accepted: dict[str, str] = {}  # student whose newest submission cannot be graded -> why
    changed: dict[str, list[str]] = {}  # student -> answers changed since they were marked


def status(course: Course) -> list[WeekStatus]:
    """Return the status of every week of the course."""
    students, entries = read_gradebook(course)
    stamps = {week.name: _stamps(course, week) for week in course.weeks}
    late = _late(course, entries, stamps)
    worth, marks = Worth(course), read_hand_marks(course)
    return [
        _week(course, week, students, entries, late, stamps[week.name], worth, marks)
        for week in course.weeks
    ]


def _stamps(course: Course, week: Week) -> dict[str, str]:
    students = Workspace(course).students("submitted", week)
    return {student: handed_in(course, week, student) for student in students}


def _week(
    course: Course,
    week: Week,
    students: list[str],
    entries: list[GradebookEntry],
    late: Mapping[tuple[str, str], str],
    stamps: Mapping[str, str],
    worth: Worth,
    marks: Mapping[str, Mapping[str, Marked]],
) -> WeekStatus:
    workspace = Workspace(course)
    handed = list(stamps)
    held = {e.student: e for e in entries if e.week == week.name}
    graded = [s for s in sorted(held) if held[s].graded]
    came, done = set(handed), set(graded)
    reports = stored_reports(course, week)
    graded_as = {s: r.handed_in for s, r in reports.items() if r.handed_in and stamps.get(s)}
    again = _again(course, week, worth)
    made = [s for s in workspace.students("feedback", week) if returned(workspace, week, s)]
    stale = [s for s in made if feedback_is_stale(course, week, s)]
    return WeekStatus(
        week=week.name,
        title=week.title,
        release=course.localized(week.release),
        due=course.localized(week.due),
        released=workspace.outbound(week).is_dir(),
        enrolled=len(students),
        handed_in=handed,
        missing=[s for s in students if s not in came],
        late={s: late[s, week.name] for s in handed if (s, week.name) in late},
        graded=graded,
        refused={
            s: reports[s].message.partition("\n")[0]
            for s in graded
            if s in reports and reports[s].verdict is Ending.REFUSED
        },
        waiting=to_collect(course, week),
        ungraded=[s for s in handed if s not in done or graded_as.get(s, stamps[s]) != stamps[s]],
        to_mark={s: e.to_mark for s, e in sorted(held.items()) if e.to_mark},
        returned=[s for s in made if s not in stale],
        stale=stale,
        again=again,
        foreign=last_collection(course, week).foreign,
        noted=_noted(graded, reports),
        asking=open_requests(course, week),
        strangers=unknown_extensions(course, week),
        lower=_lower(again),
        not_accepted=_not_accepted(course, week, handed),
        changed=_changed_answers(week, marks),
    )


def _noted(graded: list[str], reports: dict[str, Recorded]) -> dict[Kind, list[str]]:
    kinds = {s: {n.kind for n in reports[s].notes} for s in graded if s in reports}
    found = {kind: [s for s in kinds if kind in kinds[s]] for kind in KINDS}
    return {kind: students for kind, students in found.items() if students}


def _again(course: Course, week: Week, worth: Worth) -> dict[str, list[PastResult]]:
    students = sorted(students_with_earlier_reports(course, week))
    found = {student: results(course, week, student, worth) for student in students}
    return {student: several for student, several in found.items() if len(several) > 1}


def _lower(again: Mapping[str, list[PastResult]]) -> dict[str, str]:
    compared = {student: lower(several) for student, several in again.items()}
    return {s: less.sentence for s, less in compared.items() if less and not less.best.counts}


def _not_accepted(course: Course, week: Week, students: list[str]) -> dict[str, str]:
    newest = {s: h.entries[-1] for s in students if (h := read_history(course, week, s)).accepted}
    return {student: entry.problem for student, entry in newest.items() if entry.problem}


def _changed_answers(week: Week, marks: Mapping[str, Mapping[str, Marked]]) -> dict[str, list[str]]:
    found = {}
    for student, marked in sorted(marks.get(week.name, {}).items()):
        cells = [n for n, m in marked.cells.items() if m.score is not None and not m.settled]
        if cells:
            found[student] = sorted(cells)
    return found


def _late(
    course: Course, entries: list[GradebookEntry], stamps: Mapping[str, Mapping[str, str]]
) -> dict[tuple[str, str], str]:
    """Return how late the last collected or graded submission of each (student, week) is."""
    graded = by_student(entries)
    found = {}
    for student in {*graded, *(student for own in stamps.values() for student in own)}:
        times = {w: t for w, own in stamps.items() if (t := parse_timestamp(own.get(student, "")))}
        late = lateness_of(course, student, graded.get(student, []), times)
        for name, one in late.items():
            if one.late and not one.forgiven:
                found[student, name] = one.late
    return found


def to_collect(course: Course, week: Week) -> list[str]:
    """Return the students with a submission in the exchange that was not collected yet."""
    workspace = Workspace(course)
    newest: dict[str, dt.datetime] = {}
    for name in names(workspace, week):
        for path in (workspace.exchange / course.id / "inbound").glob(f"*+{name}+*"):
            student, _, rest = path.name.partition(f"+{name}+")
            time = parse_timestamp(rest.split("+")[0])
            if student and time:
                newest[student] = max(time, newest.get(student, time))
    found = []
    for student, time in sorted(newest.items()):
        seen = parse_timestamp(last_seen(course, week, student))
        if seen is None or time > seen:
            found.append(student)
    return found


def returned(workspace: Workspace, week: Week, student: str) -> bool:
    """Return True if the student can fetch the feedback, or it must be sent by other means."""
    folder = workspace.feedback(student, week)
    secret = folder / "submission_secret.txt"
    if not secret.is_file():
        return workspace.feedback_page(student, week).is_file()
    # the file name that nbgrader chooses (utils.notebook_hash)
    key = secret.read_text(encoding="utf-8") + week.name
    name = hashlib.md5(key.encode(), usedforsecurity=False).hexdigest()
    released: Path = workspace.exchange / workspace.course.id / "feedback" / f"{name}.html"
    return released.is_file()


def returned_page(workspace: Workspace, week: Week, student: str) -> Path | None:
    """Return the page of a student's feedback, or None if it was not returned."""
    page = workspace.feedback_page(student, week)
    return page if returned(workspace, week, student) and page.is_file() else None
