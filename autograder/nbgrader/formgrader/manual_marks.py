"""What people put into the gradebook (marks, extra points, comments, extensions), kept beside it.

Automatic scores can be had again from the results that are kept; a person's marks cannot. So they
are copied to `.autograder/marks/<week>.json` whenever a command looks at the gradebook and whenever
Formgrader writes to it, and `grade` puts them back if the gradebook was deleted or replaced by an
old backup. Every change is also a line of `<week>.jsonl`, which is only ever added to.

How a gradebook that lost marks is told from one in which they were withdrawn: nbgrader gives each
submission a random id, so a gradebook that was made anew has other ids; and SQLite counts the
transactions of a file, so an old backup has a lower count. A mark that stands in the gradebook is
never overwritten.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import msgspec

from ...files.atomic import replace_file
from ...model.course.loader import Course, Week
from ...model.errors import NbgraderError
from ..gradebook.database import HandMark, Marked, read_hand_marks, transactions
from ..gradebook.report_store import recorded_folder
from ..workspace import open_gradebook


class KeptMarks(msgspec.Struct):
    """The marks of one submission; `of` says, cell by cell, what was judged (SaveScores)."""

    submission: str  # nbgrader's id of it
    extension: float = 0.0  # seconds
    cells: dict[str, HandMark] = {}
    of: dict[str, str] = {}


class _Week(msgspec.Struct):
    """A week's marks; `transactions` as the gradebook had them when it was last copied."""

    transactions: int = 0
    students: dict[str, KeptMarks] = {}


def keep_marks(course: Course) -> None:
    """Copy what people put into the gradebook; what the gradebook has lost stays as it was."""
    held, count = read_hand_marks(course), transactions(course)
    for week in course.weeks:
        kept = _read(course, week)
        before = msgspec.json.encode(kept.students)
        for student, marked in held.get(week.name, {}).items():
            if not _lost(kept, student, marked, count):
                kept.students[student] = _entry(course, week, student, marked)
        changed = msgspec.json.encode(kept.students) != before
        if changed:
            _log(course, week, msgspec.json.decode(before, type=dict[str, KeptMarks]), kept)
        if not any(_lost(kept, s, m, count) for s, m in held.get(week.name, {}).items()):
            changed, kept.transactions = changed or count > kept.transactions, count
        if changed and kept.students:
            _write(course, week, kept)


def lost_marks(course: Course, week: Week) -> list[str]:
    """The students of whose marks the gradebook knows nothing any more."""
    held, count = read_hand_marks(course).get(week.name, {}), transactions(course)
    kept = _read(course, week)
    return [s for s, marked in sorted(held.items()) if _lost(kept, s, marked, count)]


def require_marks(course: Course, week: Week) -> None:
    """Keep the marks that are there; raise NbgraderError if the gradebook has lost some."""
    keep_marks(course)
    if lost := lost_marks(course, week):
        who = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
        raise NbgraderError(
            f"the gradebook has lost what people gave to {who} in {week.name}: "
            f"`autograder grade {week.name}` puts it back"
        )


def restore_marks(course: Course, week: Week) -> list[str]:
    """Put back the marks that the gradebook has lost; returns what is to be said about it.

    A mark for an answer that has changed since asks to be looked at again.
    """
    kept, back = _read(course, week), lost_marks(course, week)
    if not back:
        return []
    said = []
    with open_gradebook(course) as gradebook:
        for student in back:
            said += _restore(course, week, gradebook, student, kept.students[student])
        gradebook.db.commit()
    now = read_hand_marks(course).get(week.name, {})
    for student in back:
        kept.students[student] = _entry(course, week, student, now[student])
    kept.transactions = transactions(course)
    _write(course, week, kept)
    who = ", ".join(back[:5]) + (f" and {len(back) - 5} more" if len(back) > 5 else "")
    return [f"marks, comments and extensions that people had given were put back: {who}", *said]


def _restore(
    course: Course, week: Week, gradebook: Any, student: str, kept: KeptMarks
) -> list[str]:
    submission = gradebook.find_submission(week.name, student)
    judged = _judged(course, week, student)
    said = []
    if kept.extension and not submission.extension:
        submission.extension = dt.timedelta(seconds=kept.extension)
    for notebook in submission.notebooks:
        comments = {c.name: c for c in notebook.comments}
        for grade in notebook.grades:
            mark = kept.cells.get(grade.name)
            if mark is None or (mark.score is None and not mark.extra):
                continue
            if grade.manual_score is not None and grade.manual_score != mark.score:
                said.append(
                    f"{student}: {grade.name}: the gradebook has {grade.manual_score:g}, and "
                    f"{mark.score} was given before: the gradebook's stays"
                )
                continue
            if mark.score is not None:
                same = kept.of.get(grade.name) == judged.get(grade.name) is not None
                grade.manual_score = mark.score
                grade.needs_manual_grade = not (mark.settled and same)
            grade.extra_credit = grade.extra_credit or mark.extra
        for name, mark in kept.cells.items():
            if mark.comment and name in comments and not comments[name].manual_comment:
                comments[name].manual_comment = mark.comment
    return said


def _lost(kept: _Week, student: str, held: Marked, count: int) -> bool:
    """Return whether the gradebook's entry is not the one whose marks were kept."""
    own = kept.students.get(student)
    if own is None or not (own.cells or own.extension):
        return False
    if own.submission != held.submission:
        return True
    older = count and count < kept.transactions
    return bool(older) and not (
        own.cells.keys() <= held.cells.keys() and bool(held.extension or not own.extension)
    )


def _entry(course: Course, week: Week, student: str, marked: Marked) -> KeptMarks:
    judged = _judged(course, week, student) if marked.cells else {}
    of = {name: judged[name] for name in marked.cells if name in judged}
    return KeptMarks(marked.submission, marked.extension, marked.cells, of)


def _judged(course: Course, week: Week, student: str) -> dict[str, str]:
    """What the submission in the gradebook was judged by, cell by cell (marks.SaveScores)."""
    try:
        found = json.loads((recorded_folder(course, week) / f"{student}.answers").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _folder(course: Course) -> Path:
    folder = course.state / "marks"
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder


def _read(course: Course, week: Week) -> _Week:
    try:
        data = (_folder(course) / f"{week.name}.json").read_bytes()
        return msgspec.json.decode(data, type=_Week)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return _Week()


def _write(course: Course, week: Week, kept: _Week) -> None:
    replace_file(_folder(course) / f"{week.name}.json", msgspec.json.encode(kept))


def _log(course: Course, week: Week, before: dict[str, KeptMarks], now: _Week) -> None:
    """A line for each student whose marks have changed."""
    at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    path = _folder(course) / f"{week.name}.jsonl"
    with path.open("ab") as file:
        for student, kept in now.students.items():
            old = before.get(student, KeptMarks(""))
            if (old.cells, old.extension) != (kept.cells, kept.extension):
                line = {"at": at, "student": student, "before": old, "now": kept}
                file.write(msgspec.json.encode(line) + b"\n")
    path.chmod(0o600)
