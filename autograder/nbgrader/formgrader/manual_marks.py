"""Copy manual marks, extra points, comments and extensions, and restore them if they are lost.

Automatic scores can be restored from stored reports, but manual marks cannot. So marks are copied
to `.autograder/marks/<week>.json` after each change in Formgrader, when scores are recorded, and by
`regrade`, `status`, `marks --from`, `export`, `push` and `feedback`. `grade` restores marks if the
gradebook was deleted or replaced by an old backup, and never overwrites a mark in the gradebook.

Lost marks can be told apart from withdrawn marks. nbgrader gives each submission a random id, so a
new gradebook has different ids. SQLite counts transactions, so an old backup has a lower count.
"""

import datetime as dt
from typing import Any

import msgspec

from ...files import read_state, write_state
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.message_text import first_names
from ..gradebook.database import Marked, read_hand_marks, transactions
from ..gradebook.due_dates import update_penalty
from ..gradebook.report_store import judged_digests
from ..workspace import cells_of, open_gradebook


class StoredMarks(Marked):
    """The marks of one submission. `of`: digests of the marked cells (see `judged_digests`)."""

    of: dict[str, str] = msgspec.field(default_factory=dict)


class _Week(msgspec.Struct):
    """A week's marks. `transactions`: the gradebook's transaction count at the last copy."""

    transactions: int = 0
    students: dict[str, StoredMarks] = {}


def keep_marks(course: Course) -> dict[str, list[str]]:
    """Copy manual marks from the gradebook, but keep copies of marks that it has lost.

    Return the students whose marks the gradebook has lost, by week.
    """
    held, count = read_hand_marks(course), transactions(course)
    lost_by_week = {}
    for week in course.weeks:
        kept, found = _read(course, week), held.get(week.name, {})
        lost = sorted(student for student, m in found.items() if _lost(kept, student, m, count))
        new = {s: _entry(course, week, s, m) for s, m in found.items() if s not in lost}
        now = _Week(kept.transactions if lost else count, kept.students | new)
        changed = now.students != kept.students or now.transactions > kept.transactions
        if changed and now.students:
            write_state(course.state_file("marks", week), now)
        lost_by_week[week.name] = lost
    return lost_by_week


def require_marks(course: Course, week: Week) -> None:
    """Copy the manual marks. Raise NbgraderError if the gradebook has lost marks of the week."""
    if lost := keep_marks(course)[week.name]:
        raise NbgraderError(
            f"the gradebook has lost the manual marks of {first_names(lost)} in {week.name}: "
            f"run `autograder grade {week.name}` to restore them"
        )


def restore_marks(course: Course, week: Week) -> list[str]:
    """Restore the marks that the gradebook has lost, and return notes.

    If an answer has changed since it was marked, the restored mark needs manual grading again.
    """
    lost = keep_marks(course)[week.name]
    kept, notes, held = _read(course, week), [], read_hand_marks(course).get(week.name, {})
    extended = [s for s, m in kept.students.items() if m.extension and not m.cells]
    not_submitted = [student for student in extended if student not in held]
    if not (lost or not_submitted):
        return []
    with open_gradebook(course) as gradebook:
        for student in not_submitted:
            extra = dt.timedelta(seconds=kept.students[student].extension)
            gradebook.update_or_create_student(student)
            gradebook.update_or_create_submission(week.name, student, extension=extra)
        for student in lost:
            notes += _restore(course, week, gradebook, student, kept.students[student])
            update_penalty(course, gradebook, week, student)
        gradebook.db.commit()
    now = read_hand_marks(course).get(week.name, {})
    lost += not_submitted
    for student in lost:
        kept.students[student] = _entry(course, week, student, now[student])
    kept.transactions = transactions(course)
    write_state(course.state_file("marks", week), kept)
    return [f"manual marks, comments and extensions were restored: {first_names(lost)}", *notes]


def _restore(
    course: Course, week: Week, gradebook: Any, student: str, stored: StoredMarks
) -> list[str]:
    submission = gradebook.find_submission(week.name, student)
    judged = judged_digests(course, week, student)
    notes = []
    if stored.extension and not submission.extension:
        submission.extension = dt.timedelta(seconds=stored.extension)
    cells = cells_of(gradebook, week, student)
    for name, mark in stored.cells.items():
        if name not in cells:
            continue
        grade, comment = cells[name]
        if mark.comment and comment is not None and not comment.manual_comment:
            comment.manual_comment = mark.comment
        if mark.score is not None and grade.manual_score not in (None, mark.score):
            notes.append(
                f"{student}: {name}: the gradebook has {grade.manual_score:g} instead of "
                f"the former {mark.score}, and keeps it"
            )
            continue
        if mark.score is not None:
            same = stored.of.get(name) == judged.get(name) is not None
            grade.manual_score = mark.score
            grade.needs_manual_grade = not (mark.settled and same)
        grade.extra_credit = grade.extra_credit or mark.extra
    return notes


def _lost(stored: _Week, student: str, marked: Marked, count: int) -> bool:
    """Return True if the gradebook has lost the copied marks of a student."""
    own = stored.students.get(student)
    if own is None or not (own.cells or own.extension):
        return False
    if own.submission != marked.submission:
        return True
    older = count and count < stored.transactions
    return bool(older) and not (
        own.cells.keys() <= marked.cells.keys() and bool(marked.extension or not own.extension)
    )


def _entry(course: Course, week: Week, student: str, marked: Marked) -> StoredMarks:
    judged = judged_digests(course, week, student) if marked.cells else {}
    of = {name: judged[name] for name in marked.cells if name in judged}
    return StoredMarks(marked.submission, marked.extension, marked.cells, of)


def _read(course: Course, week: Week) -> _Week:
    return read_state(course.state_file("marks", week), _Week) or _Week()
