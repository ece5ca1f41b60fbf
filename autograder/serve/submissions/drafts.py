"""Files that a student has sent and not confirmed yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import sqlalchemy as sa

from ...model.submission_zip import packed
from .. import tables as t
from ..tables import Store, of_student
from .upload import unpacked

_LIFETIME = 86_400.0  # seconds


class Draft(msgspec.Struct, frozen=True):
    """Files to submit, and a line for each rejected file."""

    files: dict[str, bytes]
    left_out: tuple[str, ...]


class Drafts(Store):
    """One draft per student and week, stored for a day. All methods block."""

    def store(
        self, student: str, week: str, files: Mapping[str, bytes], left_out: Sequence[str]
    ) -> None:
        """Store a draft in place of the student's earlier one."""
        expired = t.drafts.c.created < self.clock() - _LIFETIME
        row = {"data": packed(files), "left_out": "\n".join(left_out), "created": self.clock()}
        self.execute(
            t.drafts.delete().where(expired),
            self.upsert(t.drafts, {"student": student, "week": week}, row),
        )

    def find(self, student: str, week: str) -> Draft | None:
        row = self.row(sa.select(t.drafts).where(of_student(t.drafts, student, week)))
        return Draft(unpacked(row.data), tuple(row.left_out.splitlines())) if row else None

    def discard(self, student: str, week: str) -> None:
        self.execute(t.drafts.delete().where(of_student(t.drafts, student, week)))
