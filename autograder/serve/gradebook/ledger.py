"""What stands in nbgrader's gradebook for each student and week, and what is missing there."""

from __future__ import annotations

import sqlalchemy as sa

from ..queue import tables as t
from ..queue.queue import Try, try_of
from ..queue.tables import Rows


class Ledger(Rows):
    """Results that the gradebook was told of, and those that it was not. Methods block."""

    def to_settle(self) -> list[tuple[str, str]]:
        """(student, week) whose results changed since the gradebook was told, the oldest first."""
        newest = (
            sa.select(
                t.tries.c.student,
                t.tries.c.week,
                sa.func.max(t.results.c.graded).label("graded"),
            )
            .select_from(t.tries.join(t.results, t.tries.c.receipt == t.results.c.receipt))
            .group_by(t.tries.c.student, t.tries.c.week)
            .subquery()
        )
        known = newest.outerjoin(
            t.settled,
            (t.settled.c.student == newest.c.student) & (t.settled.c.week == newest.c.week),
        )
        late = t.settled.c.graded.is_(None) | (t.settled.c.graded < newest.c.graded)
        ready = t.settled.c.not_before.is_(None) | (t.settled.c.not_before <= self.clock())
        query = sa.select(newest.c.student, newest.c.week).select_from(known)
        with self._read() as db:
            rows = db.execute(query.where(late & ready).order_by(newest.c.graded))
            return [(str(r.student), str(r.week)) for r in rows]

    def graded(self, student: str, week: str) -> list[tuple[Try, float, float]]:
        """A student's graded tries of a week, the oldest first: try, score, when it was graded."""
        both = t.tries.join(t.results, t.tries.c.receipt == t.results.c.receipt)
        query = sa.select(t.tries, t.results.c.score, t.results.c.graded).select_from(both)
        own = (t.tries.c.student == student) & (t.tries.c.week == week)
        with self._read() as db:
            query = query.where(own).order_by(t.tries.c.received, t.tries.c.number)
            rows = db.execute(query).mappings()
            return [(try_of(r), float(r["score"]), float(r["graded"])) for r in rows]

    def settle(
        self, student: str, week: str, receipt: str, graded: float, trouble: str = ""
    ) -> None:
        """The gradebook was told of this try, or could not be, for now."""
        row = {
            "receipt": receipt,
            "graded": graded if not trouble else 0.0,
            "not_before": self.clock() + 60 if trouble else 0.0,
            "trouble": trouble,
        }
        own = (t.settled.c.student == student) & (t.settled.c.week == week)
        with self._write() as db:
            if not db.execute(t.settled.update().where(own).values(**row)).rowcount:
                db.execute(t.settled.insert().values(student=student, week=week, **row))

    def unsettled_troubles(self) -> list[tuple[str, str, str]]:
        """(student, week, what went wrong) where the gradebook could not be told."""
        with self._read() as db:
            rows = db.execute(sa.select(t.settled).where(t.settled.c.trouble != "")).mappings()
            return [(r["student"], r["week"], r["trouble"]) for r in rows]
