"""A submission's place in the gradebook, made and filled by a few statements.

nbgrader asks for it object by object, in forty statements, which is half of what recording costs.
Here its own tables are asked and written, with the defaults that nbgrader gave their columns; what
stands in them afterwards is the same. Statements go through the session, so they are part of its
transaction.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    GradeCell,
    MissingEntry,
    Notebook,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import bindparam, func, select

_Row = TypeVar("_Row")
_assignment, _notebook, _cell = Assignment.__table__, Notebook.__table__, BaseCell.__table__
_graded, _task, _source = GradeCell.__table__, TaskCell.__table__, SourceCell.__table__
_student, _submission = Student.__table__, SubmittedAssignment.__table__
_submitted, _grade, _comment = SubmittedNotebook.__table__, Grade.__table__, Comment.__table__

_of_assignment = _assignment.c.name == bindparam("assignment")
_of_notebook = _notebook.c.name == bindparam("notebook")
_of_student = _submission.c.student_id == bindparam("student")
_cells = _notebook.join(_assignment, _assignment.c.id == _notebook.c.assignment_id)
_theirs = (
    _submitted.join(_submission, _submission.c.id == _submitted.c.assignment_id)
    .join(_notebook, _notebook.c.id == _submitted.c.notebook_id)
    .join(_assignment, _assignment.c.id == _submission.c.assignment_id)
)

_NOTEBOOKS = select(_assignment.c.id, _notebook.c.id, _notebook.c.name).where(
    _of_assignment, _notebook.c.assignment_id == _assignment.c.id
)
_KNOWN = select(_student.c.id).where(_student.c.id == bindparam("student"))
_SUBMISSION = select(_submission.c.id, _submission.c.timestamp).where(
    _of_student, _submission.c.assignment_id == bindparam("assignment")
)
_CELLS = select(_cell.c.id, _cell.c.type, _cell.c.notebook_id).where(
    _cell.c.notebook_id == bindparam("notebook")
)
_SOURCES = (
    select(
        _source.c.name, _source.c.cell_type, _source.c.locked, _source.c.source, _source.c.checksum
    )
    .select_from(_source.join(_cells, _notebook.c.id == _source.c.notebook_id))
    .where(_of_assignment, _of_notebook)
)
_POINTS = (
    select(_cell.c.name, func.coalesce(_graded.c.max_score, _task.c.max_score).label("max_score"))
    .select_from(
        _cell.join(_cells, _notebook.c.id == _cell.c.notebook_id)
        .outerjoin(_graded, _graded.c.id == _cell.c.id)
        .outerjoin(_task, _task.c.id == _cell.c.id)
    )
    .where(_of_assignment, _of_notebook, _cell.c.type.in_(("GradeCell", "TaskCell")))
)
_KERNEL = select(_notebook.c.kernelspec).select_from(_cells).where(_of_assignment, _of_notebook)
_SUBMITTED = (
    select(_submitted.c.id).select_from(_theirs).where(_of_assignment, _of_notebook, _of_student)
)
_GRADES = (
    select(
        _cell.c.name,
        _grade.c.id,
        _grade.c.auto_score,
        _grade.c.manual_score,
        _grade.c.needs_manual_grade,
    )
    .select_from(_grade.join(_cell, _cell.c.id == _grade.c.cell_id))
    .where(_grade.c.notebook_id == bindparam("submitted"))
)
_COMMENTS = (
    select(_cell.c.name, _comment.c.id, _comment.c.auto_comment)
    .select_from(_comment.join(_cell, _cell.c.id == _comment.c.cell_id))
    .where(_comment.c.notebook_id == bindparam("submitted"))
)
_TIMES = (
    select(
        _assignment.c.name,
        _assignment.c.duedate,
        _submission.c.timestamp,
        _submission.c.extension,
    )
    .select_from(_submission.join(_assignment, _assignment.c.id == _submission.c.assignment_id))
    .where(_of_student)
)
_SET_GRADE = _grade.update().where(_grade.c.id == bindparam("row"))
_SET_GRADE = _SET_GRADE.values(
    auto_score=bindparam("auto_score"), needs_manual_grade=bindparam("needs_manual_grade")
)
_SET_COMMENT = (
    _comment.update()
    .where(_comment.c.id == bindparam("row"))
    .values(auto_comment=bindparam("auto_comment"))
)
_SET_TIME = (
    _submission.update()
    .where(_submission.c.id == bindparam("row"))
    .values(timestamp=bindparam("timestamp"))
)
_HANGS_ON = {_grade: ("GradeCell", "TaskCell"), _comment: ("SolutionCell", "TaskCell")}
_PENALTY = (
    select(_submitted.c.late_submission_penalty)
    .select_from(_theirs)
    .where(_of_assignment, _of_notebook, _of_student)
)


class NoCommits:
    """What nbgrader's steps take for the database: they commit for each cell, and we at the end."""

    def commit(self) -> None:
        pass


@dataclass
class GradeRow:
    """What SaveAutoGrades reads of a grade, and writes."""

    id: str
    auto_score: float | None
    manual_score: float | None
    needs_manual_grade: bool

    @property
    def written(self) -> tuple[object, ...]:
        return self.auto_score, self.needs_manual_grade


@dataclass
class CommentRow:
    """What SaveAutoGrades writes of a comment."""

    id: str
    auto_comment: str | None

    @property
    def written(self) -> tuple[object, ...]:
        return (self.auto_comment,)


class SubmittedCells:
    """What SaveAutoGrades asks a gradebook for: all of one notebook is read and written at once."""

    def __init__(self, session: Any, about: Mapping[str, str]) -> None:
        self.db = NoCommits()
        self._session = session
        notebook = session.execute(_SUBMITTED, _named(about)).scalar_one_or_none()
        if notebook is None:
            raise MissingEntry(f"{about['student']} has no {about['notebook']} in the gradebook")
        found = {"submitted": notebook}
        self._grades = {row[0]: GradeRow(*row[1:]) for row in session.execute(_GRADES, found)}
        self._comments = {row[0]: CommentRow(*row[1:]) for row in session.execute(_COMMENTS, found)}
        self._before = {row.id: row.written for row in self._rows()}

    def find_grade(self, cell: str, *_: str) -> GradeRow:
        return entry_of(self._grades, cell)

    def find_comment(self, cell: str, *_: str) -> CommentRow:
        return entry_of(self._comments, cell)

    def write(self) -> None:
        """Bring what has changed into the gradebook."""
        changed = [row for row in self._rows() if row.written != self._before[row.id]]
        grades = [
            {"row": g.id, "auto_score": g.auto_score, "needs_manual_grade": g.needs_manual_grade}
            for g in changed
            if isinstance(g, GradeRow)
        ]
        comments = [
            {"row": c.id, "auto_comment": c.auto_comment}
            for c in changed
            if isinstance(c, CommentRow)
        ]
        for statement, rows in ((_SET_GRADE, grades), (_SET_COMMENT, comments)):
            if rows:
                self._session.connection().execute(statement, rows)

    def _rows(self) -> Iterable[GradeRow | CommentRow]:
        return (*self._grades.values(), *self._comments.values())


class ReleasedCells:
    """What OverwriteCells asks a gradebook for: the cells of a notebook as they were handed out."""

    def __init__(self, session: Any, about: Mapping[str, str]) -> None:
        named = _released(about)
        self._source = {row.name: row for row in session.execute(_SOURCES, named)}
        self._graded = {row.name: row for row in session.execute(_POINTS, named)}

    def find_source_cell(self, name: str, *_: str) -> Any:
        return entry_of(self._source, name)

    def find_graded_cell(self, name: str, *_: str) -> Any:
        return entry_of(self._graded, name)


def entry_of(entries: Mapping[str, _Row], cell: str) -> _Row:
    """What was read of a cell; raises nbgrader's MissingEntry if there is nothing."""
    if cell not in entries:
        raise MissingEntry(f"the gradebook has no cell {cell}")
    return entries[cell]


def entered(
    session: Any, week: str, student: str, notebooks: set[str], handed_in: dt.datetime | None
) -> bool:
    """Give a submission its place, as nbgrader does before it grades; or return False.

    False: the assignment is unknown, or has other notebooks than those; nothing was written then.
    """
    rows = session.execute(_NOTEBOOKS, {"assignment": week}).all()
    if not rows or {name for *_, name in rows} != notebooks:
        return False
    assignment, own = rows[0][0], [number for _, number, _ in rows]
    connection = session.connection()
    if session.execute(_KNOWN, {"student": student}).first() is None:
        connection.execute(_student.insert(), {"id": student})
    found = session.execute(_SUBMISSION, {"student": student, "assignment": assignment}).first()
    if found is None:
        entry = {"assignment_id": assignment, "student_id": student, "timestamp": handed_in}
        made = connection.execute(_submission.insert(), entry).inserted_primary_key[0]
        for number in own:
            _enter_notebook(connection, made, number)
    elif handed_in is not None and found.timestamp != handed_in:
        connection.execute(_SET_TIME, {"row": found.id, "timestamp": handed_in})
    return True


def _enter_notebook(connection: Any, submission: str, notebook: str) -> None:
    entry = {"assignment_id": submission, "notebook_id": notebook}
    made = connection.execute(_submitted.insert(), entry).inserted_primary_key[0]
    cells = connection.execute(_CELLS, {"notebook": notebook}).all()
    for table, kinds in _HANGS_ON.items():
        rows = [{"cell_id": c.id, "notebook_id": made} for c in cells if c.type in kinds]
        if rows:
            connection.execute(table.insert(), rows)


def handed_in_times(
    session: Any, student: str
) -> dict[str, tuple[dt.datetime | None, dt.datetime | None, dt.timedelta]]:
    """By assignment: when it is due, when the student handed in, and how much longer they have."""
    rows = session.execute(_TIMES, {"student": student})
    return {name: (due, handed, more or dt.timedelta()) for name, due, handed, more in rows}


def penalty_of(session: Any, about: Mapping[str, str]) -> float | None:
    """What stands in the gradebook as the price of late work."""
    found: float | None = session.execute(_PENALTY, _named(about)).scalar_one_or_none()
    return found


def kernelspec_of(session: Any, about: Mapping[str, str]) -> Any:
    """The kernel that a notebook was handed out with; None if it names none."""
    found = session.execute(_KERNEL, _released(about)).scalar_one()
    return None if found is None else json.loads(found)


def _released(about: Mapping[str, str]) -> dict[str, str]:
    return {name: about[name] for name in ("assignment", "notebook")}


def _named(about: Mapping[str, str]) -> dict[str, str]:
    return {name: about[name] for name in ("assignment", "notebook", "student")}
