"""Read nbgrader's gradebook without importing nbgrader.

Importing nbgrader takes seconds, and its `Gradebook` class inspects and writes the database when it
is created. So SQLite files are opened read-only with Python's driver, and other databases are read
through SQLAlchemy.
"""

import datetime as dt
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...model.course import Course
from ...model.course.late import Lateness, lateness
from ...model.errors import NbgraderError
from ..workspace import Workspace, unreachable_gradebook

_SQLITE = "sqlite:///"
_EPOCH = dt.datetime(1970, 1, 1)  # SQLAlchemy stores a timedelta in SQLite as _EPOCH + timedelta
# The queries by name. `marked` is a condition for `grades`.
_TEXT = Path(__file__).with_name("gradebook.sql").read_text(encoding="utf-8")
_SQL = dict(query.split("\n", 1) for query in _TEXT.split("-- name: ")[1:])


class GradebookEntry(msgspec.Struct, frozen=True):
    """One submission in the gradebook."""

    week: str
    student: str
    handed_in: dt.datetime | None  # aware, UTC
    extension: dt.timedelta
    graded: bool
    to_mark: int  # cells that need manual grading
    score: float  # before the late penalty
    penalty: float


class CellState(NamedTuple):
    """A grade cell of one submission in the gradebook."""

    week: str
    student: str
    cell: str
    submission: str
    extra: float | None
    points: float
    automatic: float | None
    manual: float | None
    waiting: bool
    comment: str

    @property
    def status(self) -> str:
        """Return to mark, changed (since it was marked), marked or automatic."""
        if self.waiting:
            return "to mark" if self.manual is None else "changed"
        return "automatic" if self.manual is None else "marked"

    @property
    def score(self) -> float | None:
        return self.automatic if self.manual is None else self.manual


class HandMark(msgspec.Struct, frozen=True):
    """A manual mark and comment for one cell."""

    score: float | None = None
    extra: float | None = None
    comment: str = ""
    settled: bool = True  # False if nbgrader flags the cell for manual grading


class Marked(msgspec.Struct):
    """The manual marks of one submission; `submission` is its id in nbgrader."""

    submission: str
    extension: float = 0.0  # seconds
    cells: dict[str, HandMark] = {}

    @property
    def changed_cells(self) -> list[str]:
        """The answers that changed after they were marked, and need manual grading again."""
        marked = ((name, m) for name, m in self.cells.items() if m.score is not None)
        return sorted(name for name, m in marked if not m.settled)


def read_hand_marks(course: Course) -> dict[str, dict[str, Marked]]:
    """Return the manual marks of every submission in the gradebook, by week and student."""
    extended, marks = query_gradebook(course, _SQL["extensions"], _SQL["grades"] + _SQL["marked"])
    found: dict[str, dict[str, Marked]] = {}
    for week, student, number, extension in extended:
        marked = Marked(str(number), _span(extension).total_seconds())
        found.setdefault(str(week), {})[str(student)] = marked
    for mark in map(_cell_state, marks):
        hand_mark = HandMark(mark.manual, mark.extra, mark.comment, not mark.waiting)
        found[mark.week][mark.student].cells[mark.cell] = hand_mark
    return found


def cell_states(course: Course) -> list[CellState]:
    """Return every grade cell of every graded submission."""
    (rows,) = query_gradebook(course, _SQL["grades"])
    return [s for s in map(_cell_state, rows) if s.waiting or s.score is not None]


def _cell_state(row: Any) -> CellState:
    state = CellState(*row)
    return state._replace(waiting=bool(state.waiting), comment=state.comment or "")


def transactions(course: Course) -> int:
    """Return a SQLite gradebook's transaction count; 0 if it is missing or not SQLite."""
    url = Workspace(course).db_url
    if not url.startswith(_SQLITE):
        return 0
    try:
        with Path(url.removeprefix(_SQLITE)).open("rb") as file:
            return int.from_bytes(file.read(28)[24:], "big")  # SQLite's file change counter
    except OSError:
        return 0


def read_gradebook(course: Course) -> tuple[list[str], list[GradebookEntry]]:
    """Return all students and all submissions; both lists are empty if there is no gradebook."""
    students, rows = query_gradebook(course, _SQL["students"], _SQL["submissions"])
    return [str(s) for (s,) in students], [_entry(row) for row in rows]


def read_students(course: Course) -> dict[str, dict[str, str]]:
    """Return the name and email of each student, "" if unknown, as `autograder roster` entered."""
    (rows,) = query_gradebook(course, _SQL["people"])
    return {
        str(student): {"name": " ".join(filter(None, (first, last))), "email": email or ""}
        for student, first, last, email in rows
    }


def by_student(entries: Iterable[GradebookEntry]) -> dict[str, list[GradebookEntry]]:
    found: dict[str, list[GradebookEntry]] = {}
    for entry in entries:
        found.setdefault(entry.student, []).append(entry)
    return found


def lateness_of(
    course: Course,
    student: str,
    entries: Iterable[GradebookEntry],
    times: Mapping[str, dt.datetime] | None = None,
) -> dict[str, Lateness]:
    """Return the lateness of a student's submissions, by week.

    times: submission times by week, which override the times in the gradebook
    """
    extensions = {e.week: e.extension for e in entries}
    handed_in = {e.week: e.handed_in for e in entries if e.handed_in is not None}
    return lateness(course, student, handed_in | dict(times or {}), extensions)


def lateness_by_entry(course: Course) -> list[tuple[GradebookEntry, Lateness | None]]:
    """Pair each submission with its lateness, or None if it is not graded or has no time."""
    found = []
    for student, entries in by_student(read_gradebook(course)[1]).items():
        late = lateness_of(course, student, [e for e in entries if e.graded])
        found += [(e, late.get(e.week)) for e in entries]
    return found


def read_assignments(course: Course) -> dict[str, tuple[dt.datetime | None, dict[str, float]]]:
    """Return the due date (aware, UTC) and the points of each grade cell, by assignment."""
    (rows,) = query_gradebook(course, _SQL["assignments"])
    found: dict[str, tuple[dt.datetime | None, dict[str, float]]] = {}
    for assignment, due, cell, points in rows:
        _, cells = found.setdefault(str(assignment), (_time(due), {}))
        if points is not None:
            cells[str(cell)] = float(points)
    return found


def query_gradebook(course: Course, *queries: str) -> list[Sequence[Any]]:
    """Return the rows of each query, or empty lists if the gradebook does not exist yet."""
    url = Workspace(course).db_url
    if url.startswith(_SQLITE):
        return _from_sqlite(Path(url.removeprefix(_SQLITE)), queries)
    return _from_server(url, queries)


def _from_sqlite(path: Path, queries: Sequence[str]) -> list[Sequence[Any]]:
    if not path.is_file():
        return [[] for _ in queries]
    try:
        # Not "ro": if a writer was killed, the first reader must undo its unfinished transaction.
        uri = f"{path.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            return [connection.execute(query).fetchall() for query in queries]
    except sqlite3.Error as error:
        raise NbgraderError(f"{path}: the gradebook cannot be read: {error}") from None


def _from_server(url: str, queries: Sequence[str]) -> list[Sequence[Any]]:
    from sqlalchemy import NullPool, create_engine, text
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with create_engine(url, poolclass=NullPool).connect() as connection:
            return [connection.execute(text(query)).fetchall() for query in queries]
    except (SQLAlchemyError, ImportError) as error:
        raise unreachable_gradebook(error) from None


def _entry(row: Any) -> GradebookEntry:
    week, student, handed, extension, graded, to_mark, *points = row
    times = _time(handed), _span(extension)
    return GradebookEntry(week, student, *times, bool(graded), int(to_mark), *map(float, points))


def _time(value: Any) -> dt.datetime | None:
    """Convert a naive UTC time, or its text in SQLite, to an aware time; return None for None."""
    time = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    return time.replace(tzinfo=dt.UTC) if time else None


def _span(value: Any) -> dt.timedelta:
    if isinstance(value, str):
        return dt.datetime.fromisoformat(value) - _EPOCH
    return value if isinstance(value, dt.timedelta) else dt.timedelta()
