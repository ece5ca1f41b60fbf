"""Write grades as a file for a learning platform, a spreadsheet or a program.

`WRITERS` maps a platform to the function that writes its import file, which is based on the class
list exported from that platform (`csv_tables.CLASS_LISTS`).
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from ..model.course import Week
from ..model.errors import KitError
from ..model.message_text import visible_json
from ..model.report.scoring import full_points
from .csv_tables import CLASS_LISTS, KEY_FIELDS, POINTS, key_cell, text_cell
from .roster import Roster, RosterEntry

_NUMBERED = re.compile(r"(.*) \(\d+\)\Z", re.DOTALL)
Scores = Mapping[str, Mapping[str, float]]  # week -> student -> points after late penalties
Rows = Sequence[tuple[RosterEntry, list[str]]]  # each student with one cell per week


@dataclass(frozen=True)
class Exported:
    """A grade file. `unmatched`: students with a grade who are not on the class list."""

    text: str
    unmatched: list[str]


def export(
    form: str, weeks: Sequence[Week], scores: Scores, roster: Roster | None, missing: str = ""
) -> Exported:
    """Return grades in one of `FORMATS`; raise KitError if the class list does not suit the format.

    missing: the cell for students on the class list who are not in the gradebook
    """
    students = sorted({s for by_student in scores.values() for s in by_student})
    if form in WRITERS and (roster is None or roster.kind != form):
        raise KitError(
            f"--format {form} needs --roster with a CSV file exported from "
            f"{form.capitalize()}: it has the ids by which {form.capitalize()} identifies students"
        )
    matched, unmatched = roster.match(students) if roster else ({}, [])
    if form == "json":
        return Exported(_json(weeks, scores, students, matched), unmatched)

    def cells(student: str) -> list[str]:
        """Return a cell for each week; the cell of an ungraded week is empty, not 0."""
        return [_number(scores[week.name].get(student)) for week in weeks]

    if form == "csv":
        return Exported(_plain(weeks, matched, {s: cells(s) for s in students}), unmatched)
    assert roster is not None
    by_entry = {id(entry): cells(student) for student, entry in matched.items()}
    rows = [(e, by_entry.get(id(e), [missing] * len(weeks))) for e in roster.entries]
    return Exported(WRITERS[form](weeks, roster, rows), unmatched)


def total(week: Week) -> float:
    """Return the points of a week, including written questions."""
    return full_points(week) + sum(q.points for q in week.questions)


def _json(
    weeks: Sequence[Week], scores: Scores, students: list[str], matched: Mapping[str, RosterEntry]
) -> str:
    grades = []
    for student in students:
        entry = matched.get(student)
        about = {"name": entry.name, "email": entry.email} if entry else {}
        points = {w.name: scores[w.name][student] for w in weeks if student in scores[w.name]}
        grades.append({"student": student, **about, "scores": points})
    data = {"max_scores": {w.name: total(w) for w in weeks}, "grades": grades}
    return visible_json(msgspec.json.format(msgspec.json.encode(data), indent=1).decode()) + "\n"


def _plain(
    weeks: Sequence[Week], matched: Mapping[str, RosterEntry], scores: Mapping[str, list[str]]
) -> str:
    rows = [["student", "name", "email", *(w.name for w in weeks)]]
    for student, cells in scores.items():
        entry = matched.get(student)
        about = [student, entry.name if entry else "", entry.email if entry else ""]
        rows.append([*map(text_cell, about), *cells])
    return csv_text(rows)


def _canvas(weeks: Sequence[Week], roster: Roster, rows: Rows) -> str:
    header, *students = _table([_canvas_column(w, roster.columns) for w in weeks], roster, rows)
    blank = [""] * (len(header) - len(weeks) - 1)
    points = [f"    {POINTS}", *blank, *(_number(total(w)) for w in weeks)]
    return csv_text([header, points, *students])


def _canvas_column(week: Week, columns: Sequence[str]) -> str:
    """Return the assignment's Canvas column, `Name (id)`, or the name of a new column."""
    number = week.lms.canvas_id if week.lms else None
    if number is not None:
        known = (column for column in columns if column.endswith(f" ({number})"))
        return next(known, f"{week.title} ({number})")
    for column in columns:
        found = _NUMBERED.match(column)
        if found and found.group(1) in (week.title, week.name):
            return column
    return week.title


def _moodle(weeks: Sequence[Week], roster: Roster, rows: Rows) -> str:
    """Fill in a grading worksheet, or add a column per week to any other class list."""
    if not {"number", "grade"} <= roster.column_of.keys():
        return csv_text(_table([w.title for w in weeks], roster, rows))
    if len(weeks) != 1:
        raise KitError("this class list is the grading worksheet of one assignment: name its week")
    table = [list(roster.columns)]
    for entry, (score,) in rows:
        filled = entry.row | ({roster.column_of["grade"]: score} if score else {})
        table.append([_cell(c, filled.get(c, ""), roster) for c in roster.columns])
    return csv_text(table)


def _brightspace(weeks: Sequence[Week], roster: Roster, rows: Rows) -> str:
    """Add a column "Points Grade" for each week, and the end-of-line column of Brightspace."""
    first, *others = _table([f"{w.title} Points Grade" for w in weeks], roster, rows)
    return csv_text([[*first, "End-of-Line Indicator"], *([*row, "#"] for row in others)])


def _table(titles: Sequence[str], roster: Roster, rows: Rows) -> list[list[str]]:
    """Return a header and a row for each student, with the columns that the platform reads.

    titles: the names of the weeks' columns
    """
    names = CLASS_LISTS[roster.kind].kept
    kept = [roster.column_of[name] for name in names if name in roster.column_of]
    students = [[*(_cell(c, entry.row[c], roster) for c in kept), *cells] for entry, cells in rows]
    return [[*kept, *titles], *students]


def _cell(column: str, text: str, roster: Roster) -> str:
    """Return a cell of the class list, escaped for the platform that exported the list."""
    name = next((name for name, known in roster.column_of.items() if known == column), "")
    if name in CLASS_LISTS[roster.kind].unchanged:
        return text
    return key_cell(text) if name in KEY_FIELDS else text_cell(text)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return a table as CSV, whose lines end with a carriage return and a line feed."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue()


WRITERS = {"canvas": _canvas, "moodle": _moodle, "brightspace": _brightspace}
FORMATS = ("csv", "json", *WRITERS)
