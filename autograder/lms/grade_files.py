"""Grades as a file that Canvas, Moodle, Brightspace, a spreadsheet or a program takes.

A system's format is a function in `WRITERS`; roster.py reads its class list.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from ..model.course.loader import Week
from ..model.errors import KitError
from ..model.report.scoring import full_points
from ..model.visible import visible_json
from .roster import BRIGHTSPACE, CANVAS, POINTS, Roster, RosterEntry
from .spreadsheet_cells import key_cell, text_cell

_NUMBERED = re.compile(r"(.*) \(\d+\)\Z", re.DOTALL)
_KEYS = (
    "ID",
    "SIS User ID",
    "SIS Login ID",
    "Username",
    "ID number",
    "Email address",
    *BRIGHTSPACE,
)
_THEIRS = (
    "Identifier",
    "Grade",
    "Feedback comments",
)  # Moodle's own, and teachers' words
Scores = Mapping[str, Mapping[str, float]]  # week -> student -> points, lateness counted


@dataclass(frozen=True)
class Exported:
    """The file's text, and whose grades stand in no row of it."""

    text: str
    unmatched: list[str]


def export(
    form: str, weeks: Sequence[Week], scores: Scores, roster: Roster | None, missing: str = ""
) -> Exported:
    """Raises KitError if the format needs a class list of its own kind.

    `missing` is what stands for work of somebody on the class list of whom we know nothing.
    """
    students = sorted({s for by_student in scores.values() for s in by_student})
    if form in WRITERS and (roster is None or roster.kind != form):
        raise KitError(
            f"--format {form} needs --roster with a CSV file exported from "
            f"{form.capitalize()}: it has the ids by which {form.capitalize()} knows students"
        )
    matched, unmatched = roster.match(students) if roster else ({}, [])
    if form == "json":
        return Exported(_json(weeks, scores, students, matched), unmatched)
    if form == "csv":
        return Exported(_plain(weeks, _Grades(scores, ""), students, matched), unmatched)
    assert roster is not None
    ours = {id(entry): student for student, entry in matched.items()}
    rows = [(e, ours.get(id(e), "")) for e in roster.entries]
    write = WRITERS[form]
    return Exported(write(weeks, _Grades(scores, missing), roster, rows), unmatched)


@dataclass(frozen=True)
class _Grades:
    """Scores as cells of a table; `nobody` stands for somebody of whom we know nothing."""

    scores: Scores
    nobody: str

    def cell(self, week: Week, student: str) -> str:
        """Empty if nothing was graded: that is not a zero."""
        if not student:
            return self.nobody
        own = self.scores[week.name].get(student)
        return "" if own is None else _number(own)


def total(week: Week) -> float:
    """What a perfect submission gets, written questions included."""
    return full_points(week) + sum(q.points for q in week.questions)


def _json(
    weeks: Sequence[Week], scores: Scores, students: list[str], matched: Mapping[str, RosterEntry]
) -> str:
    grades = []
    for student in students:
        entry = matched.get(student)
        about = {"name": entry.name, "email": entry.email} if entry else {}
        own = {w.name: scores[w.name][student] for w in weeks if student in scores[w.name]}
        grades.append({"student": student, **about, "scores": own})
    data = {"max_scores": {w.name: total(w) for w in weeks}, "grades": grades}
    return visible_json(msgspec.json.format(msgspec.json.encode(data), indent=1).decode()) + "\n"


def _plain(
    weeks: Sequence[Week], grades: _Grades, students: list[str], matched: Mapping[str, RosterEntry]
) -> str:
    rows = [["student", "name", "email", *(w.name for w in weeks)]]
    for student in students:
        entry = matched.get(student)
        about = [student, entry.name if entry else "", entry.email if entry else ""]
        rows.append([*map(text_cell, about), *(grades.cell(w, student) for w in weeks)])
    return _csv(rows)


def _canvas(
    weeks: Sequence[Week], grades: _Grades, roster: Roster, rows: Sequence[tuple[RosterEntry, str]]
) -> str:
    kept = [c for c in CANVAS if c in roster.columns]
    table = [[*kept, *(_canvas_column(w, roster.columns) for w in weeks)]]
    blank = [""] * (len(kept) - 1)
    table.append([f"    {POINTS}", *blank, *(_number(total(w)) for w in weeks)])
    for entry, student in rows:
        about = (_cell(c, entry.row[c], roster) for c in kept)
        table.append([*about, *(grades.cell(w, student) for w in weeks)])
    return _csv(table)


def _cell(column: str, text: str, roster: Roster) -> str:
    """A cell of the class list on its way back to the system that made the list."""
    name = next((n for n, theirs in roster.spelling.items() if theirs == column), column)
    if name in _THEIRS:
        return text
    return key_cell(text) if name in _KEYS else text_cell(text)


def _canvas_column(week: Week, columns: Sequence[str]) -> str:
    """The assignment's own column, `Name (id)`, if Canvas has it; else a new one is made."""
    number = week.lms.canvas_id if week.lms else None
    for column in columns if number is not None else ():
        if column.endswith(f" ({number})"):
            return column
    if number is not None:
        return f"{week.title} ({number})"
    for column in columns:
        found = _NUMBERED.match(column)
        if found and found.group(1) in (week.title, week.name):
            return column
    return week.title


def _moodle(
    weeks: Sequence[Week], grades: _Grades, roster: Roster, rows: Sequence[tuple[RosterEntry, str]]
) -> str:
    """A grading worksheet is filled in; any other list gets a column per week."""
    if {"Identifier", "Grade"} <= roster.spelling.keys():
        grade = roster.spelling["Grade"]
        if len(weeks) != 1:
            raise KitError("this roster is the grading worksheet of one assignment: name its week")
        table = [list(roster.columns)]
        for entry, student in rows:
            own = grades.cell(weeks[0], student)
            filled = entry.row | ({grade: own} if own else {})
            table.append([_cell(c, filled.get(c, ""), roster) for c in roster.columns])
        return _csv(table)
    names = ("Username", "ID number", "Email address")
    kept = [roster.spelling[n] for n in names if n in roster.spelling]
    return _csv(_with_weeks(kept, [w.title for w in weeks], weeks, grades, roster, rows))


def _brightspace(
    weeks: Sequence[Week], grades: _Grades, roster: Roster, rows: Sequence[tuple[RosterEntry, str]]
) -> str:
    """Brightspace's import file: the ids, a "Points Grade" per item, and its end of line."""
    kept = [c for c in BRIGHTSPACE if c in roster.columns]
    titles = [f"{w.title} Points Grade" for w in weeks]
    first, *others = _with_weeks(kept, titles, weeks, grades, roster, rows)
    return _csv([[*first, "End-of-Line Indicator"], *([*row, "#"] for row in others)])


def _with_weeks(
    kept: Sequence[str],
    titles: Sequence[str],
    weeks: Sequence[Week],
    grades: _Grades,
    roster: Roster,
    rows: Sequence[tuple[RosterEntry, str]],
) -> list[list[str]]:
    """Some columns of the class list as they are, and one per week."""
    table = [[*kept, *titles]]
    for entry, student in rows:
        about = (_cell(c, entry.row[c], roster) for c in kept)
        table.append([*about, *(grades.cell(w, student) for w in weeks)])
    return table


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _csv(rows: list[list[str]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue()


WRITERS = {"canvas": _canvas, "moodle": _moodle, "brightspace": _brightspace}
FORMATS = ("csv", "json", *WRITERS)
