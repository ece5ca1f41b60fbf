"""Read nbgrader's gradebook without importing nbgrader, and share one connection to write to it.

Importing nbgrader takes seconds, and its `Gradebook` class inspects and writes the database when it
is created. So SQLite files are opened read-only with Python's driver, and other databases are read
through SQLAlchemy.

nbgrader opens the gradebook nine times for each submission, and each time it connects, inspects the
tables and compiles every statement. Within `shared_gradebook`, all uses share one connection, with
one transaction per submission. This module also adds indices to nbgrader's tables, because without
indices the time to record a class grows with the square of its size.
"""

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ...model.course import Course
from ...model.course.late import Lateness, lateness
from ...model.errors import NbgraderError
from ..workspace import Workspace, open_gradebook, unreachable_gradebook

_SQLITE = "sqlite:///"
_EPOCH = dt.datetime(1970, 1, 1)  # SQLAlchemy stores a timedelta in SQLite as _EPOCH + timedelta
_STUDENTS = "SELECT id FROM student ORDER BY id"
_CELLS = """
SELECT assignment.name, base_cell.name, grade_cells.max_score
FROM grade_cells
JOIN base_cell ON base_cell.id = grade_cells.id
JOIN notebook ON notebook.id = base_cell.notebook_id
JOIN assignment ON assignment.id = notebook.assignment_id
"""
_DUE = "SELECT name, duedate FROM assignment"
_EXTENDED = """
SELECT assignment.name, submitted.student_id, submitted.id, submitted.extension
FROM submitted_assignment AS submitted
JOIN assignment ON assignment.id = submitted.assignment_id
"""
_MARKS = """
SELECT submitted.id, base_cell.name, grade.manual_score, grade.extra_credit,
       grade.needs_manual_grade
FROM grade
JOIN base_cell ON base_cell.id = grade.cell_id
JOIN submitted_notebook AS notebook ON notebook.id = grade.notebook_id
JOIN submitted_assignment AS submitted ON submitted.id = notebook.assignment_id
WHERE grade.manual_score IS NOT NULL OR COALESCE(grade.extra_credit, 0) <> 0
"""
_COMMENTS = """
SELECT submitted.id, base_cell.name, comment.manual_comment
FROM comment
JOIN base_cell ON base_cell.id = comment.cell_id
JOIN submitted_notebook AS notebook ON notebook.id = comment.notebook_id
JOIN submitted_assignment AS submitted ON submitted.id = notebook.assignment_id
WHERE COALESCE(comment.manual_comment, '') <> ''
"""
_SUBMISSIONS = """
SELECT assignment.name, submitted.student_id, submitted.timestamp, submitted.extension,
       COUNT(grade.auto_score),
       SUM(CASE WHEN grade.needs_manual_grade THEN 1 ELSE 0 END),
       SUM(COALESCE(grade.manual_score, grade.auto_score, 0)
           + CASE WHEN COALESCE(grade.manual_score, grade.auto_score) IS NULL
             THEN 0 ELSE COALESCE(grade.extra_credit, 0) END),
       MAX(COALESCE(notebook.late_submission_penalty, 0))
FROM submitted_assignment AS submitted
JOIN assignment ON assignment.id = submitted.assignment_id
JOIN submitted_notebook AS notebook ON notebook.assignment_id = submitted.id
JOIN grade ON grade.notebook_id = notebook.id
GROUP BY assignment.name, submitted.student_id, submitted.timestamp, submitted.extension
"""


@dataclass(frozen=True)
class GradebookEntry:
    """One submission in the gradebook."""

    week: str
    student: str
    handed_in: dt.datetime | None  # aware, UTC
    extension: dt.timedelta
    graded: bool
    to_mark: int  # cells that need manual grading
    score: float  # before the late penalty
    penalty: float


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
    extended, marks, comments = query_gradebook(course, (_EXTENDED, _MARKS, _COMMENTS))
    found: dict[str, dict[str, Marked]] = {}
    by_id: dict[str, Marked] = {}
    for week, student, number, extension in extended:
        marked = Marked(str(number), _span(extension).total_seconds())
        by_id[marked.submission] = found.setdefault(str(week), {})[str(student)] = marked
    for number, cell, score, extra, waiting in marks:
        by_id[str(number)].cells[str(cell)] = HandMark(score, extra, "", not waiting)
    for number, cell, comment in comments:
        cells = by_id[str(number)].cells
        before = cells.get(str(cell), HandMark())
        cells[str(cell)] = msgspec.structs.replace(before, comment=str(comment))
    return found


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
    students, rows = query_gradebook(course, (_STUDENTS, _SUBMISSIONS))
    return [str(s) for (s,) in students], [_entry(row) for row in rows]


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


def read_due_dates(course: Course) -> dict[str, dt.datetime | None]:
    """Return the due date (aware, UTC) of each assignment in the gradebook."""
    (rows,) = query_gradebook(course, (_DUE,))
    return {str(name): _time(due) for name, due in rows}


def read_cells(course: Course) -> dict[str, dict[str, float]]:
    """Return the maximum points of each grade cell, by assignment and cell."""
    (rows,) = query_gradebook(course, (_CELLS,))
    found: dict[str, dict[str, float]] = {}
    for assignment, cell, points in rows:
        found.setdefault(str(assignment), {})[str(cell)] = float(points)
    return found


def query_gradebook(course: Course, queries: Sequence[str]) -> list[Sequence[Any]]:
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
    week, student, handed, extension, graded, to_mark, score, penalty = row
    return GradebookEntry(
        week=week,
        student=student,
        handed_in=_time(handed),
        extension=_span(extension),
        graded=bool(graded),
        to_mark=int(to_mark or 0),
        score=float(score or 0),
        penalty=float(penalty or 0),
    )


def _time(value: Any) -> dt.datetime | None:
    """Convert a naive UTC time, or its text in SQLite, to an aware time; return None for None."""
    time = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    return time.replace(tzinfo=dt.UTC) if time else None


def _span(value: Any) -> dt.timedelta:
    if isinstance(value, str):
        return dt.datetime.fromisoformat(value) - _EPOCH
    return value if isinstance(value, dt.timedelta) else dt.timedelta()


Transaction = Callable[[], AbstractContextManager[None]]


@contextmanager
def shared_gradebook(course: Course) -> Iterator[Transaction]:
    """Make every `nbgrader.api.Gradebook` of this course share one connection.

    Yield a function that returns a transaction as a context manager. An exception rolls the
    transaction back. The gradebook must be used only within transactions.
    """
    from nbgrader.api import Gradebook

    opened = open_gradebook(course)
    _add_indices(opened.engine)
    url = opened.engine.url.render_as_string(hide_password=False)
    known_courses = {opened.course_id}
    gradebook_class: Any = Gradebook
    original_init, original_close = gradebook_class.__init__, gradebook_class.close

    def init(
        self: Any, db_url: str, course_id: str = "default_course", authenticator: Any = None
    ) -> None:
        if db_url != url:
            original_init(self, db_url, course_id, authenticator)
            return
        self.engine, self.db = opened.engine, opened.db
        if course_id not in known_courses:
            self.check_course(course_id=course_id)
            known_courses.add(course_id)
        self.course_id, self.authenticator = course_id, authenticator

    def close(self: Any) -> None:
        if self.db is not opened.db:
            original_close(self)

    @contextmanager
    def transaction() -> Iterator[None]:
        try:
            with one_transaction(opened.db):
                yield
        finally:
            opened.db.remove()

    gradebook_class.__init__, gradebook_class.close = init, close
    try:
        yield transaction
    finally:
        gradebook_class.__init__, gradebook_class.close = original_init, original_close
        opened.close()


@contextmanager
def one_transaction(session: Any) -> Iterator[None]:
    """Commit a session only once, at the end of the block; roll back on an exception."""
    commit = session.commit
    session.commit = session.flush
    try:
        yield
        session.flush()
        session.expire_all()  # reload on next access: the database computes sums of scores
        commit()
    except BaseException:
        session.rollback()
        raise
    finally:
        session.commit = commit


_INDICES = {
    "grade": "notebook_id",
    "comment": "notebook_id",
    "submitted_notebook": "assignment_id",
    "submitted_assignment": "student_id",
    "base_cell": "notebook_id",
}


def _add_indices(engine: Any) -> None:
    from sqlalchemy import text
    from sqlalchemy.exc import SQLAlchemyError

    # A failure, for example in a read-only schema, only makes recording slower.
    with suppress(SQLAlchemyError), engine.begin() as connection:
        for table, column in _INDICES.items():
            name = f"autograder_{table}_{column}"
            connection.execute(text(f"CREATE INDEX IF NOT EXISTS {name} ON {table} ({column})"))
