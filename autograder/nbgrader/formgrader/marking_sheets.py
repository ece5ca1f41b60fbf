"""Mark written answers on CSV sheets, anonymously and with several markers.

`marks WEEK --out sheet.csv` writes the answers question by question, with a code instead of a name.
A group's answer appears only once, and empty answers are left out. `marks WEEK --from sheet.csv
--marker bea` reads a marker's sheet and stores it in `.autograder/marks/<week>.markers.json`. The
mean of an answer's marks is entered in the gradebook if they differ by at most `--apart`. Otherwise
the answer must be marked again. A sheet enters marks only for answers that have not changed since
the sheet was written. It never deletes a mark, and overwrites a mark from Formgrader only if the
answer has changed since.
"""

import hashlib
import re
import statistics
from pathlib import Path
from typing import Any

import msgspec

from ...files import course_secret, read_state, write_state
from ...lms.csv_tables import read_rows, text_cell
from ...lms.grade_files import csv_text
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.report.scoring import rounded
from ..collect.groups import author_of
from ..collect.notebooks import DATA_URL, first_cells, read_cells, source_of
from ..gradebook.report_store import judged_digests
from ..workspace import Workspace, cells_of, open_gradebook

COLUMNS = ("code", "question", "points", "answer", "mark", "comment", "version")
_LONGEST = 20_000


class SheetMark(msgspec.Struct, frozen=True):
    """One marker's mark for one answer. `version`: digest of the answer; "" in old files."""

    mark: float
    comment: str = ""
    version: str = ""


Given = dict[str, dict[str, dict[str, SheetMark]]]  # marker -> code -> question


class _Sheets(msgspec.Struct):
    """All sheets of a week. `entered`: marks entered from the sheets, by "student question"."""

    given: Given = {}
    entered: dict[str, float] = {}


class MarksRead(msgspec.Struct):
    """The result of reading a sheet."""

    entered: int = 0
    apart: list[str] = []  # answers whose marks differ too much
    kept: list[str] = []  # answers marked in Formgrader
    changed: list[str] = []  # answers that no longer match the sheet


def code_of(course: Course, week: Week, student: str) -> str:
    """Return the student's code on the sheet, a hash keyed with the course's secret."""
    about, secret = f"sheet\0{week.name}\0{student}".encode(), course_secret(course)
    code = hashlib.blake2b(about, key=secret, digest_size=4).hexdigest()
    while re.fullmatch(r"\d+e?\d+", code):  # a spreadsheet would rewrite it as a number
        code = hashlib.blake2b(code.encode(), key=secret, digest_size=4).hexdigest()
    return code


def sheet(course: Course, week: Week) -> str:
    """Return the answers of a week as CSV. Raise NbgraderError if nothing was graded."""
    found = _answers(course, week)
    versions = {student: _versions(course, week, student) for student in found}
    codes = sorted((code_of(course, week, student), student) for student in found)
    lines = []
    for question in week.questions:
        for code, student in codes:
            if answer := found[student].get(question.name):
                text = "\n".join(map(text_cell, answer.split("\n")))
                points, version = f"{question.points:g}", versions[student][question.name]
                lines.append([code, question.name, points, text, "", "", version])
    if not found:
        raise NbgraderError(
            f"{week.name}: there are no answers to mark: run `autograder grade {week.name}` first"
        )
    return csv_text([COLUMNS, *lines])


def read_marks(
    course: Course, week: Week, path: Path, marker: str, tolerance: float = 0.5
) -> MarksRead:
    """Store a marker's sheet, and enter the mean mark of each answer if all its marks agree.

    Raise NbgraderError if a line of the sheet has an unknown code or question, or an invalid mark.

    tolerance: marks of an answer agree if they differ by at most this many points
    """
    sheets = read_state(_path(course, week), _Sheets) or _Sheets()
    own, parsed = sheets.given.setdefault(marker, {}), _parsed(course, week, path)
    for code, by_question in parsed.items():
        own.setdefault(code, {}).update(by_question)
    outcome = MarksRead()
    with open_gradebook(course) as gradebook:
        for student in _students(course, week):
            code, cells = code_of(course, week, student), cells_of(gradebook, week, student)
            versions = _versions(course, week, student)
            for name, mark in parsed.get(code, {}).items():
                if name not in cells or mark.version != versions[name]:
                    outcome.changed.append(f"{code} {name}")
                    continue
                of_code = [marks.get(code, {}) for marks in sheets.given.values()]
                given = [marks[name] for marks in of_code if name in marks]
                marks = [m for m in given if m.version in ("", mark.version)]
                cell, where = cells[name], f"{student} {name}"
                numbers = [m.mark for m in marks]
                if _is_marked_elsewhere(cell.grade, sheets.entered.get(where)):
                    outcome.kept.append(where)
                elif max(numbers) - min(numbers) > tolerance:
                    listed = " and ".join(f"{n:g}" for n in numbers)
                    outcome.apart.append(f"{code} {name}: {listed}")
                    cell.grade.needs_manual_grade = True
                    sheets.entered.pop(where, None)
                else:
                    mean = rounded(statistics.fmean(numbers), course.registry.decimals)
                    sheets.entered[where] = mean
                    cell.grade.manual_score, cell.grade.needs_manual_grade = mean, False
                    if comments := [m.comment for m in marks if m.comment]:
                        cell.comment.manual_comment = "\n\n".join(dict.fromkeys(comments))
                    outcome.entered += 1
        gradebook.db.commit()
    write_state(_path(course, week), sheets)
    return outcome


def _is_marked_elsewhere(grade: Any, entered: float | None) -> bool:
    settled = grade.manual_score is not None and not grade.needs_manual_grade
    return settled and (entered is None or abs(grade.manual_score - entered) > 1e-6)


def _parsed(course: Course, week: Week, path: Path) -> dict[str, dict[str, SheetMark]]:
    codes = {code_of(course, week, s): s for s in _students(course, week)}
    points = {q.name: q.points for q in week.questions}
    found: dict[str, dict[str, SheetMark]] = {}
    for number, row in enumerate(read_rows(path, "code", "question", "mark"), start=2):
        text = row["mark"].replace(",", ".")
        if not text:
            continue
        code, question = row["code"], row["question"]
        where = f"{path.name}: line {number}"
        if code not in codes:
            raise NbgraderError(f"{where}: no student of {week.name} has the code {code!r}")
        if question not in points:
            raise NbgraderError(f"{where}: {week.name} has no question {question!r}")
        try:
            mark = float(text)
        except ValueError:
            raise NbgraderError(f"{where}: {text!r} is not a number") from None
        if not 0 <= mark <= points[question]:
            raise NbgraderError(f"{where}: {mark:g} is not between 0 and {points[question]:g}")
        comment = row.get("comment", "").removeprefix("'")
        version = row.get("version") or _versions(course, week, codes[code])[question]
        found.setdefault(code, {})[question] = SheetMark(mark, comment, version)
    return found


def _students(course: Course, week: Week) -> list[str]:
    """Return the graded students, but from each group only the author of its submission."""
    graded = Workspace(course).students("autograded", week)
    return [s for s in graded if author_of(course, week, s) == s]


def _versions(course: Course, week: Week, student: str) -> dict[str, str]:
    """Return a short digest of each answer; the prefix v keeps it text in a spreadsheet."""
    judged = judged_digests(course, week, student)
    return {q.name: f"v{judged.get(q.name, '')[:12]}" for q in week.questions}


def _answers(course: Course, week: Week) -> dict[str, dict[str, str]]:
    """Return the text of each answer that needs or has a manual mark, by student and question."""
    found = {}
    with open_gradebook(course) as gradebook:
        for student in _students(course, week):
            path = Workspace(course).autograded(student, week) / f"{week.name}.ipynb"
            texts = {n: source_of(cell) for n, cell in first_cells(read_cells(path)).items()}
            found[student] = {
                name: DATA_URL.sub("(picture)", texts[name])[:_LONGEST]
                for name, (grade, _) in cells_of(gradebook, week, student).items()
                if name in texts and (grade.needs_manual_grade or grade.manual_score is not None)
            }
    return found


def _path(course: Course, week: Week) -> Path:
    return course.state / "marks" / f"{week.name}.markers.json"
