"""Record who changed which mark, extension, request or token, and when.

The marks themselves are only in nbgrader's gradebook.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa

from .. import tables as t


class StaffAction(msgspec.Struct, frozen=True):
    """A row of the table `actions`. `at`: seconds since the epoch. `kind`: mark, extension, …"""

    who: str
    kind: str
    student: str
    week: str = ""
    cell: str = ""
    detail: str = ""
    at: float = 0.0


class MarkDetail(msgspec.Struct, frozen=True):
    """The detail of a mark: its score, the rubric lines that were chosen, and the adjustment."""

    score: float
    lines: tuple[int, ...] = ()
    adjustment: float = 0.0


class StaffLog(t.Store):
    """The actions of instructors and assistants. All methods block."""

    def add(
        self,
        who: str,
        kind: str,
        students: Iterable[str],
        week: str = "",
        cell: str = "",
        detail: str = "",
    ) -> None:
        row = {"who": who, "kind": kind, "week": week, "cell": cell, "detail": detail}
        insert = t.actions.insert().values(**row, at=self.clock())
        self.execute(*(insert.values(student=student) for student in students))

    def latest(self, kind: str, **where: str) -> dict[tuple[str, str, str], StaffAction]:
        """Return the latest action by (student, week, cell). `where`: required values."""
        columns = t.actions.c
        conditions = [columns[name] == value for name, value in where.items()]
        query = sa.select(t.actions).where(columns.kind == kind, *conditions)
        rows: list[Any] = list(self.read(query.order_by(columns.number)))
        found = (msgspec.convert(row, StaffAction, from_attributes=True) for row in rows)
        return {(a.student, a.week, a.cell): a for a in found}
