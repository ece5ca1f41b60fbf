"""Track which results are recorded in the gradebook."""

from __future__ import annotations

import sqlalchemy as sa

from .. import tables as t
from ..queue.queued_submission import QueuedSubmission, queued_submission
from ..tables import Store, of_student

_RETRY_SECONDS = 60.0


class Ledger(Store):
    """The state of recording per student and week. All methods block."""

    def pending(self) -> list[tuple[str, str]]:
        """Return (student, week) with results that are not recorded, oldest first."""
        student, week = t.submissions.c.student, t.submissions.c.week
        graded = sa.func.max(t.results.c.graded)
        query = (
            sa.select(student, week)
            .join(t.results, t.submissions.c.receipt == t.results.c.receipt)
            .outerjoin(t.recorded, (t.recorded.c.student == student) & (t.recorded.c.week == week))
            .where(sa.func.coalesce(t.recorded.c.not_before, 0.0) <= self.clock())
            .group_by(student, week, t.recorded.c.graded)
            .having(sa.func.coalesce(t.recorded.c.graded, 0.0) < graded)
            .order_by(graded)
        )
        return [(row.student, row.week) for row in self.rows(query)]

    def graded(self, student: str, week: str) -> list[tuple[QueuedSubmission, float]]:
        """Return a student's graded submissions with the time of grading, oldest first."""
        query = sa.select(t.submissions, t.results.c.graded)
        query = query.join(t.results, t.submissions.c.receipt == t.results.c.receipt)
        query = query.where(of_student(t.submissions, student, week))
        query = query.order_by(t.submissions.c.received, t.submissions.c.number)
        return [(queued_submission(row), row.graded) for row in self.rows(query)]

    def mark_recorded(self, student: str, week: str, receipt: str, graded: float) -> None:
        """Note that results up to `graded` are recorded, and which submission counts."""
        self._update(student, week, receipt=receipt, graded=graded, not_before=0.0, error="")

    def mark_failed(self, student: str, week: str, error: str) -> None:
        """Note that recording failed and is retried after a minute."""
        later = self.clock() + _RETRY_SECONDS
        self._update(student, week, receipt="", graded=0.0, not_before=later, error=error)

    def _update(self, student: str, week: str, **row: str | float) -> None:
        self.execute(self.upsert(t.recorded, {"student": student, "week": week}, row))

    def failures(self) -> list[tuple[str, str, str]]:
        """Return (student, week, error) for each failed recording."""
        rows = self.rows(sa.select(t.recorded).where(t.recorded.c.error != ""))
        return [(row.student, row.week, row.error) for row in rows]
