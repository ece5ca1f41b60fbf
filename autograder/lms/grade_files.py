"""Write grades as a file for a learning platform, a spreadsheet or a program.

`COLUMNS` lists the columns of each format, whose values are computed from a `FinalScore`. `WRITERS`
maps a platform to the function that writes its import file, which is based on the class list
exported from that platform (`csv_tables.CLASS_LISTS`).
"""

import csv
import datetime as dt
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from ..model.course import Week
from ..model.course.late import Lateness
from ..model.errors import KitError
from ..model.message_text import visible_json
from ..model.report.scoring import full_points
from .csv_tables import CLASS_LISTS, KEY_FIELDS, POINTS, key_cell, text_cell
from .roster import Roster, RosterEntry

_NUMBERED = re.compile(r"(.*) \(\d+\)\Z", re.DOTALL)


class FinalScore(msgspec.Struct, frozen=True):
    """A student's score for a week, with the facts that a column may show.

    points: after the late penalty
    lateness: None if the work is missing, not graded, or has no submission time
    """

    points: float
    penalty: float = 0.0
    submitted: dt.datetime | None = None  # aware, UTC
    lateness: Lateness | None = None


Scores = Mapping[str, Mapping[str, FinalScore]]  # week -> student -> score
About = Mapping[str, Mapping[str, str]]  # student -> fields of the class list, {} if unmatched
Rows = Sequence[tuple[RosterEntry, list[str]]]  # each student with the cells of all weeks

# Fields of the class list that csv and json files show.
STUDENT_FIELDS = ("name", "email")
# The columns of each week, of which the first shows the points. None becomes an empty cell. In a
# title, `column` is the name of the assignment's column in Canvas's class list.
COLUMNS: Mapping[str, Mapping[str, Callable[[FinalScore], object]]] = {
    "csv": {"{week.name}": lambda s: s.points},
    "json": {
        "scores": lambda s: s.points,
        "late_penalties": lambda s: s.penalty,
        "days_late": lambda s: s.lateness and s.lateness.days,
        "submitted": lambda s: s.submitted,
    },
    "canvas": {"{column}": lambda s: s.points},
    "moodle": {"{week.title}": lambda s: s.points},
    "brightspace": {"{week.title} Points Grade": lambda s: s.points},
}
FORMATS = tuple(COLUMNS)


class Exported(msgspec.Struct, frozen=True):
    """A grade file. `unmatched`: students with a grade who are not on the class list."""

    text: str
    unmatched: list[str]


def export(
    form: str,
    weeks: Sequence[Week],
    scores: Scores,
    roster: Roster | None,
    absent: FinalScore | None = None,
    named: About | None = None,
) -> Exported:
    """Return grades in one of `FORMATS`; raise KitError if the class list does not suit the format.

    absent: the score of students on the class list who are not in the gradebook
    named: the gradebook's fields of each student, for students without an entry in the class list
    """
    students = sorted({s for by_student in scores.values() for s in by_student})
    if form in WRITERS and (roster is None or roster.kind != form):
        raise KitError(
            f"--format {form} needs --roster with a CSV file exported from "
            f"{form.capitalize()}: it has the ids by which {form.capitalize()} identifies students"
        )
    matched, unmatched = roster.match(students) if roster else ({}, [])
    known = named or {}
    about = {s: matched[s].fields if s in matched else known.get(s, {}) for s in students}
    if form == "json":
        return Exported(_json(weeks, scores, about), unmatched)
    columns, given = COLUMNS[form], roster.columns if roster else ()
    titles = [t.format(week=w, column=_canvas_column(w, given)) for w in weeks for t in columns]

    def cells(finals: Iterable[FinalScore | None]) -> list[str]:
        """Return the cells of each week; the cells of an ungraded week are empty, not 0."""
        return [_text(value(s)) if s else "" for s in finals for value in columns.values()]

    of = {student: cells(scores[w.name].get(student) for w in weeks) for student in students}
    if form == "csv":
        return Exported(_plain(titles, about, of), unmatched)
    assert roster is not None
    by_entry = {id(entry): of[student] for student, entry in matched.items()}
    rows = [(e, by_entry.get(id(e)) or cells([absent] * len(weeks))) for e in roster.entries]
    return Exported(WRITERS[form](weeks, titles, roster, rows), unmatched)


def total(week: Week) -> float:
    """Return the points of a week, including written questions."""
    return full_points(week) + sum(q.points for q in week.questions)


def _json(weeks: Sequence[Week], scores: Scores, about: About) -> str:
    grades = []
    for student, fields in about.items():
        named = {name: fields.get(name, "") for name in STUDENT_FIELDS if fields}
        finals = {w.name: scores[w.name][student] for w in weeks if student in scores[w.name]}
        values = {
            title: {name: value(s) for name, s in finals.items()}
            for title, value in COLUMNS["json"].items()
        }
        grades.append({"student": student, **named, **values})
    data = {"max_scores": {w.name: total(w) for w in weeks}, "grades": grades}
    return visible_json(msgspec.json.format(msgspec.json.encode(data), indent=1).decode()) + "\n"


def _plain(titles: Sequence[str], about: About, cells: Mapping[str, list[str]]) -> str:
    rows = [["student", *STUDENT_FIELDS, *titles]]
    for student, fields in about.items():
        named = [student, *(fields.get(name, "") for name in STUDENT_FIELDS)]
        rows.append([*map(text_cell, named), *cells[student]])
    return csv_text(rows)


def _canvas(weeks: Sequence[Week], titles: Sequence[str], roster: Roster, rows: Rows) -> str:
    header, *students = _table(titles, roster, rows)
    blank = [""] * (len(header) - len(titles) - 1)
    others = [""] * (len(COLUMNS["canvas"]) - 1)
    points = [cell for week in weeks for cell in (_text(total(week)), *others)]
    return csv_text([header, [f"    {POINTS}", *blank, *points], *students])


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


def _moodle(weeks: Sequence[Week], titles: Sequence[str], roster: Roster, rows: Rows) -> str:
    """Fill in a grading worksheet, or add the weeks' columns to any other class list."""
    if not {"number", "grade"} <= roster.column_of.keys():
        return csv_text(_table(titles, roster, rows))
    if len(weeks) != 1:
        raise KitError("this class list is the grading worksheet of one assignment: name its week")
    table = [list(roster.columns)]
    for entry, (points, *_) in rows:
        filled = entry.row | ({roster.column_of["grade"]: points} if points else {})
        table.append([_cell(c, filled.get(c, ""), roster) for c in roster.columns])
    return csv_text(table)


def _brightspace(_: Sequence[Week], titles: Sequence[str], roster: Roster, rows: Rows) -> str:
    first, *others = _table(titles, roster, rows)
    return csv_text([[*first, "End-of-Line Indicator"], *([*row, "#"] for row in others)])


def _table(titles: Sequence[str], roster: Roster, rows: Rows) -> list[list[str]]:
    """Return a header and a row for each student, with the columns that the platform reads."""
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


def _text(value: object) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else text_cell(value)


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return a table as CSV, whose lines end with a carriage return and a line feed."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue()


WRITERS = {"canvas": _canvas, "moodle": _moodle, "brightspace": _brightspace}
