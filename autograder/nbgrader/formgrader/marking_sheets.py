"""Marking written answers on a sheet: without names, and by more than one person.

`marks WEEK --out sheet.csv` writes every answer with a code in place of a name, in the order of the
codes; a group's answer stands there once. `marks WEEK --from sheet.csv --marker bea` reads it back.
Each marker's sheet is kept (`.autograder/marks/<week>.markers.json`). One marker's mark goes into
the gradebook; of two that are no further apart than `--apart` the mean does, else neither, and the
answer waits for a third look. A mark that somebody gave in Formgrader is never overwritten.
"""

from __future__ import annotations

import csv
import hashlib
import io
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ...files.atomic import replace_file
from ...files.secret import course_secret
from ...lms.spreadsheet_cells import text_cell
from ...model.course.loader import Course, Week
from ...model.errors import NbgraderError
from ...model.report.scoring import rounded
from ..collect.groups import author_of
from ..collect.notebooks import read_cells
from ..workspace import Workspace, open_gradebook

COLUMNS = ("code", "question", "points", "answer", "mark", "comment")
_LONGEST = 20_000


class SheetMark(msgspec.Struct, frozen=True):
    """What one marker gives for one answer."""

    mark: float
    comment: str = ""


Given = dict[str, dict[str, dict[str, SheetMark]]]  # marker -> code -> question


class _Sheets(msgspec.Struct):
    """`entered`: what this file wrote into the gradebook, by "student question"."""

    given: Given = {}
    entered: dict[str, float] = {}


@dataclass
class MarksRead:
    """What came of a sheet."""

    entered: int = 0
    apart: list[str] = field(default_factory=list)  # answers that two markers see differently
    kept: list[str] = field(default_factory=list)  # marked in Formgrader: left alone


def code_of(course: Course, week: Week, student: str) -> str:
    """What stands for a student on the sheet; without the course's secret it tells nothing."""
    about = f"sheet\0{week.name}\0{student}".encode()
    return hashlib.blake2b(about, key=course_secret(course), digest_size=4).hexdigest()


def sheet(course: Course, week: Week) -> str:
    """The answers of a week as CSV, one line each."""
    lines = []
    for student, answers in _answers(course, week).items():
        code = code_of(course, week, student)
        for question in week.questions:
            text = text_cell(answers.get(question.name, ""))
            lines.append([code, question.name, f"{question.points:g}", text, "", ""])
    if not lines:
        raise NbgraderError(f"{week.name}: nobody's answers are here: `autograder grade` it first")
    out = io.StringIO(newline="")
    csv.writer(out).writerows([COLUMNS, *sorted(lines)])
    return out.getvalue()


def read_marks(
    course: Course, week: Week, path: Path, marker: str, apart: float = 0.5
) -> MarksRead:
    """Take a marker's sheet: keep it, and enter what is settled."""
    found = _parsed(course, week, path)
    kept = _read(course, week)
    kept.given.setdefault(marker, {})
    for code, marks in found.items():
        kept.given[marker].setdefault(code, {}).update(marks)
    said = MarksRead()
    with open_gradebook(course) as gradebook:
        for student in _students(course, week):
            code = code_of(course, week, student)
            for question in week.questions:
                given = [m[code][question.name] for m in kept.given.values()
                         if question.name in m.get(code, {})]  # fmt: skip
                if given:
                    _enter(
                        course, week, gradebook, student, question.name, given, apart, kept, said
                    )
        gradebook.db.commit()
    _write(course, week, kept)
    return said


def _enter(
    course: Course,
    week: Week,
    gradebook: Any,
    student: str,
    question: str,
    given: list[SheetMark],
    apart: float,
    kept: _Sheets,
    said: MarksRead,
) -> None:
    from nbgrader.api import MissingEntry

    try:
        grade = gradebook.find_grade(question, week.name, week.name, student)
    except MissingEntry:
        return
    where = f"{student} {question}"
    ours = kept.entered.get(where)
    settled = grade.manual_score is not None and not grade.needs_manual_grade
    if settled and (ours is None or abs(grade.manual_score - ours) > 1e-6):
        said.kept.append(where)
        return
    marks = [g.mark for g in given]
    if max(marks) - min(marks) > apart:
        code = code_of(course, week, student)
        said.apart.append(f"{code} {question}: {' and '.join(f'{m:g}' for m in marks)}")
        grade.manual_score, grade.needs_manual_grade = None, True
        kept.entered.pop(where, None)
        return
    mean = rounded(statistics.fmean(marks), course.registry.decimals)
    grade.manual_score, grade.needs_manual_grade = mean, False
    kept.entered[where] = mean
    comment = gradebook.find_comment(question, week.name, week.name, student)
    words = "\n\n".join(dict.fromkeys(g.comment for g in given if g.comment))
    if words:
        comment.manual_comment = words
    said.entered += 1


def _parsed(course: Course, week: Week, path: Path) -> dict[str, dict[str, SheetMark]]:
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise NbgraderError(f"{path}: no marking sheet: {error}") from None
    if not rows or not {"code", "question", "mark"} <= rows[0].keys():
        raise NbgraderError(f"{path}: no marking sheet: it needs columns code, question, mark")
    codes = {code_of(course, week, s) for s in _students(course, week)}
    points = {q.name: q.points for q in week.questions}
    found: dict[str, dict[str, SheetMark]] = {}
    for number, row in enumerate(rows, start=2):
        text = (row.get("mark") or "").strip().replace(",", ".")
        if not text:
            continue
        code, question = (row.get("code") or "").strip(), (row.get("question") or "").strip()
        where = f"{path.name}: line {number}"
        if code not in codes:
            raise NbgraderError(f"{where}: {code!r} is nobody's code in {week.name}")
        if question not in points:
            raise NbgraderError(f"{where}: {week.name} has no question {question!r}")
        try:
            mark = float(text)
        except ValueError:
            raise NbgraderError(f"{where}: {text!r} is no mark") from None
        if not 0 <= mark <= points[question]:
            raise NbgraderError(f"{where}: {mark:g} is not between 0 and {points[question]:g}")
        comment = (row.get("comment") or "").strip().removeprefix("'")
        found.setdefault(code, {})[question] = SheetMark(mark, comment)
    return found


def _students(course: Course, week: Week) -> list[str]:
    """Whoever was graded with work of their own; of a group one."""
    graded = Workspace(course).students("autograded", week)
    return [s for s in graded if author_of(course, week, s) == s]


def _answers(course: Course, week: Week) -> dict[str, dict[str, str]]:
    found = {}
    for student in _students(course, week):
        path = Workspace(course).autograded(student, week) / f"{week.name}.ipynb"
        own = {}
        for cell in read_cells(path):
            name = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
            source = cell.get("source", "")
            own[str(name)] = ("".join(source) if isinstance(source, list) else source)[:_LONGEST]
        found[student] = own
    return found


def _path(course: Course, week: Week) -> Path:
    folder = course.state / "marks"
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder / f"{week.name}.markers.json"


def _read(course: Course, week: Week) -> _Sheets:
    try:
        return msgspec.json.decode(_path(course, week).read_bytes(), type=_Sheets)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return _Sheets()


def _write(course: Course, week: Week, kept: _Sheets) -> None:
    replace_file(_path(course, week), msgspec.json.encode(kept))
