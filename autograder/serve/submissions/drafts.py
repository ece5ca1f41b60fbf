"""Files that were sent and not submitted yet, while their student looks at what they change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from sqlalchemy.dialects import postgresql, sqlite

from ...model.submission_zip import packed
from ..queue import tables as t
from ..queue.tables import Rows
from .upload import unpacked

_KEPT = 86_400.0  # seconds


class Draft(msgspec.Struct, frozen=True):
    """Files to submit, and a line for each file that was sent and is not taken."""

    files: dict[str, bytes]
    left_out: tuple[str, ...]


class Drafts(Rows):
    """One draft per student and week, for a day. Methods block."""

    def keep(
        self, student: str, week: str, files: Mapping[str, bytes], left_out: Sequence[str]
    ) -> None:
        """Store a draft in place of the student's earlier one."""
        now = self.clock()
        row = {"data": packed(files), "left_out": "\n".join(left_out), "made": now}
        insert = postgresql.insert if self.shared else sqlite.insert
        new = insert(t.drafts).values(student=student, week=week, **row)
        with self._write() as db:
            db.execute(t.drafts.delete().where(t.drafts.c.made < now - _KEPT))
            db.execute(new.on_conflict_do_update(index_elements=["student", "week"], set_=row))

    def find(self, student: str, week: str) -> Draft | None:
        own = (t.drafts.c.student == student) & (t.drafts.c.week == week)
        with self._read() as db:
            row = db.execute(t.drafts.select().where(own)).first()
        return Draft(unpacked(row.data), tuple(row.left_out.splitlines())) if row else None

    def discard(self, student: str, week: str) -> None:
        own = (t.drafts.c.student == student) & (t.drafts.c.week == week)
        with self._write() as db:
            db.execute(t.drafts.delete().where(own))
