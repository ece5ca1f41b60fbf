"""The queue: what was handed in, in which order it is graded, and what came of it.

What a method has returned from lies safely in the database. A try is `waiting`, then `running`,
then `graded`; `replaced` if a newer try of the same student and week came while it waited. `stuck`
is one that we failed on several times: it waits for a person, or for the next start. A result is
kept under its receipt, once.
Whose it is while it runs: `leases.py`.

The order: those whose result is told at once, by how many tries of the student went before, by
place. So nobody's tenth try goes before another's first. A try that replaces one keeps its place.

Whether a result may be shown is decided in the transaction that stores the submission, because two
submissions at once would otherwise both see the same attempts left.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from ...model.report.schema import Diagnosis, SubmissionReport
from ...model.report.verdicts import Ending
from . import tables as t
from .leases import LEASE, RUNNING, STUCK, WAITING, Leases

GRADED, REPLACED = "graded", "replaced"
# A submission without a result, also one that the service failed on, is replaced by a newer one.
# So it never uses up an attempt, and nothing about it is shown.
_REPLACEABLE = (WAITING, STUCK)
COUNTED = (RUNNING, GRADED)
_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"


class Try(msgspec.Struct, frozen=True):
    """One thing handed in; its content lies beside it, by its digest."""

    receipt: str
    student: str
    week: str
    door: str
    digest: str
    received: float
    state: str
    held: bool = False
    counted: float = 0.0
    turn: int = 0
    place: int = 0
    attempts: int = 0
    not_before: float = 0.0
    trouble: str = ""
    source: str | None = None
    number: int = 0
    chosen: float = 0.0


def precedence(one: Try) -> tuple[float, int]:
    """Return the key that orders submissions by recency; a restored one counts as recent."""
    return max(one.received, one.chosen), one.number


class Admission(NamedTuple):
    """Whether a new submission's result is withheld, and for how many seconds grading waits."""

    held: bool = False
    wait: float = 0.0


class GlanceExercise(msgspec.Struct, frozen=True):
    """What is read of an exercise where a whole class is looked at."""

    name: str
    explained: tuple[Diagnosis, ...] = ()


class Glance(msgspec.Struct, frozen=True):
    """A report without its tests, of which there are many."""

    score: float
    max_score: float
    exercises: tuple[GlanceExercise, ...] = ()


class _EndedTry(msgspec.Struct):
    """How a report ended, without the rest of it."""

    verdict: Ending


class Waiting(msgspec.Struct, frozen=True):
    """How long the line is, for one try or for all."""

    ahead: int
    running: int


class Queue(Leases):
    """The tries of a course. Methods block: they are called in threads."""

    # Handing in

    def hand_in(
        self,
        student: str,
        week: str,
        content: bytes,
        digest: str,
        *,
        door: str,
        admit: Callable[[Sequence[Try]], Admission] = lambda _: Admission(),
        received: float | None = None,
        source: str | None = None,
        replace: bool = True,
    ) -> Try:
        """Keep what was handed in and put it in line, in place of one that has no result yet.

        The same files as in the student's newest or restored submission, and what came from the
        same `source` before, are that submission.

        admit: called with the student's earlier submissions, in the same transaction
        replace: False if it cannot be graded, so that one in the queue stays there.
        """
        with self._write() as db:
            self._one_at_a_time(db, student, week)
            if source and (known := self._by_source(db, source)):
                return known
            earlier = self._own(db, student, week)
            there = [t for t in earlier if t.state != REPLACED and not source]
            newest = max(there, key=precedence, default=None)
            if newest and newest.digest == digest:
                return self._shown_now(db, newest, admit(earlier))
            own = (t.tries.c.student == student) & (t.tries.c.week == week)
            before = t.tries.update().where(own & t.tries.c.state.in_(_REPLACEABLE))
            before = before.values(state=REPLACED).returning(t.tries.c.place)
            places = db.execute(before).scalars().all() if replace else []
            # read again, because another service may have begun to grade one meanwhile
            earlier = self._own(db, student, week)
            admission, now = admit(earlier), self.clock()
            last = db.execute(sa.select(sa.func.max(t.tries.c.place))).scalar() or 0
            db.execute(_insert(db, t.contents, digest=digest, data=content))
            new = Try(
                receipt=_receipt(),
                student=student,
                week=week,
                door=door,
                digest=digest,
                received=now if received is None else received,
                state=WAITING,
                held=admission.held,
                counted=now + admission.wait,
                turn=sum(one.state in COUNTED for one in earlier),
                place=min(places, default=last + 1),
                not_before=now + admission.wait if admission.wait else 0.0,
                source=source,
            )
            row = msgspec.structs.asdict(new)
            row.pop("number")
            db.execute(t.tries.insert().values(**row))
        return new

    def _one_at_a_time(self, db: sa.Connection, student: str, week: str) -> None:
        """Two hand-ins of one student at once, on a server with many writers, take turns."""
        if db.dialect.name == "postgresql":
            key = sa.func.hashtext(f"{student}\0{week}".replace("\0", "/"))
            db.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))

    def _own(self, db: sa.Connection, student: str, week: str | None) -> list[Try]:
        """Return a student's submissions, of one week or of all, the newest first."""
        own = t.tries.c.student == student
        if week is not None:
            own &= t.tries.c.week == week
        query = sa.select(t.tries).where(own).order_by(t.tries.c.number.desc())
        return [try_of(row) for row in db.execute(query).mappings()]

    def _shown_now(self, db: sa.Connection, one: Try, admission: Admission) -> Try:
        """Show the result of a withheld submission that is sent again when attempts are left."""
        if not one.held or admission.held:
            return one
        begins = self.clock() + admission.wait
        shown: dict[str, Any] = {"held": False, "counted": begins, "not_before": begins}
        if one.state == GRADED:
            shown["state"] = WAITING
        db.execute(t.tries.update().where(t.tries.c.number == one.number).values(**shown))
        return msgspec.structs.replace(one, **shown)

    def _by_source(self, db: sa.Connection, source: str) -> Try | None:
        row = db.execute(sa.select(t.tries).where(t.tries.c.source == source)).mappings().first()
        return try_of(row) if row else None

    def choose(self, receipt: str) -> None:
        """Let an earlier try count until a newer one is submitted; the settler is told."""
        one = self.find(receipt)
        if one is None:
            return
        newest = max(max(o.received, o.chosen) for o in self.of(one.student, one.week))
        chosen = {"chosen": max(self.clock(), newest + 0.001)}
        own = (t.settled.c.student == one.student) & (t.settled.c.week == one.week)
        with self._write() as db:
            db.execute(t.tries.update().where(t.tries.c.receipt == receipt).values(**chosen))
            db.execute(t.settled.update().where(own).values(graded=0.0, not_before=0.0))

    # Working

    def claim(self, weeks: Sequence[str] | None = None) -> Try | None:
        """Take the next in line for grading; None if nothing may be graded now.

        No two tries of one student and week are graded at the same time. `weeks`: of these only.
        """
        other = t.tries.alias("other")
        busy = sa.exists().where(
            other.c.student == t.tries.c.student,
            other.c.week == t.tries.c.week,
            other.c.state == RUNNING,
        )
        ready = (t.tries.c.state == WAITING) & (t.tries.c.not_before <= self.clock()) & ~busy
        if weeks is not None:
            ready &= t.tries.c.week.in_(weeks)
        order = (t.tries.c.held, t.tries.c.turn, t.tries.c.place, t.tries.c.number)
        with self._write() as db:
            query = sa.select(t.tries).where(ready).order_by(*order).limit(1)
            query = query.with_for_update(skip_locked=True, of=t.tries)  # nothing on SQLite
            row = db.execute(query).mappings().first()
            if row is None:
                return None
            mine = (t.tries.c.number == row["number"]) & (t.tries.c.state == WAITING)
            begun = {"state": RUNNING, "attempts": row["attempts"] + 1}
            lease = {"owner": self.owner, "leased": self.clock() + LEASE}
            if not db.execute(t.tries.update().where(mine).values(**begun, **lease)).rowcount:
                return None  # replaced at this very moment
            return try_of({**row, **begun})

    def finish(self, one: Try, report: SubmissionReport, seconds: float) -> bool:
        """Keep a result; return whether it is the first for this receipt."""
        data = msgspec.json.encode(report)
        with self._write() as db:
            row = _insert(
                db,
                t.results,
                receipt=one.receipt,
                graded=self.clock(),
                seconds=seconds,
                score=report.score,
                report=data,
            )
            first = db.execute(row.returning(t.results.c.receipt)).first() is not None
            done: dict[str, Any] = {"state": GRADED, "trouble": ""}
            if report.verdict is Ending.REFUSED:
                done["held"] = True  # no hidden test was run, so it uses up no attempt
                self._return_to_queue(db, one)
            db.execute(t.tries.update().where(t.tries.c.receipt == one.receipt).values(**done))
            return first

    def _return_to_queue(self, db: sa.Connection, refused: Try) -> None:
        """Let the submission wait again that was replaced by one that cannot be graded."""
        for one in self._own(db, refused.student, refused.week):
            if one.number >= refused.number or self._refused(db, one):
                continue
            if one.state == REPLACED:
                mine = t.tries.c.number == one.number
                db.execute(t.tries.update().where(mine).values(state=WAITING))
            return

    def _refused(self, db: sa.Connection, one: Try) -> bool:
        query = sa.select(t.results.c.report).where(t.results.c.receipt == one.receipt)
        data = db.execute(query).scalar()
        ended = msgspec.json.decode(data, type=_EndedTry) if data else None
        return ended is not None and ended.verdict is Ending.REFUSED

    def put_back(self, one: Try, trouble: str, wait: float, most: int) -> str:
        """After a fault of ours: wait a while, or for a person if it was tried so often; which."""
        state = WAITING if one.attempts < most else STUCK
        later = {"state": state, "trouble": trouble, "not_before": self.clock() + wait}
        mine = (t.tries.c.receipt == one.receipt) & (t.tries.c.state == RUNNING)
        mine &= t.tries.c.owner == self.owner
        with self._write() as db:
            if state == WAITING and self._newer_waits(db, one):
                later["state"] = state = REPLACED
            db.execute(t.tries.update().where(mine).values(**later))
        return state

    def _newer_waits(self, db: sa.Connection, one: Try) -> bool:
        own = (t.tries.c.student == one.student) & (t.tries.c.week == one.week)
        newer = own & (t.tries.c.number > one.number) & (t.tries.c.state == WAITING)
        return db.execute(sa.select(sa.func.count()).where(newer)).scalar_one() > 0

    def again(self, receipt: str) -> bool:
        """Grade a stuck try again; return whether it was one."""
        stuck = (t.tries.c.receipt == receipt) & (t.tries.c.state == STUCK)
        fresh = {"state": WAITING, "attempts": 0, "not_before": 0.0}
        with self._write() as db:
            return bool(db.execute(t.tries.update().where(stuck).values(**fresh)).rowcount)

    # Looking

    def content(self, digest: str) -> bytes:
        with self._read() as db:
            query = sa.select(t.contents.c.data).where(t.contents.c.digest == digest)
            return bytes(db.execute(query).scalar_one())

    def find(self, receipt: str) -> Try | None:
        with self._read() as db:
            query = sa.select(t.tries).where(t.tries.c.receipt == receipt)
            row = db.execute(query).mappings().first()
        return try_of(row) if row else None

    def of(self, student: str, week: str | None = None) -> list[Try]:
        """A student's tries, the newest first."""
        with self._read() as db:
            return self._own(db, student, week)

    def all(self, *states: str, since: float = 0.0) -> list[Try]:
        """Everybody's tries in these states, received since then, the oldest first."""
        where = t.tries.c.state.in_(states) & (t.tries.c.received >= since)
        with self._read() as db:
            query = sa.select(t.tries).where(where).order_by(t.tries.c.number)
            return [try_of(row) for row in db.execute(query).mappings()]

    def known_sources(self) -> set[str]:
        with self._read() as db:
            query = sa.select(t.tries.c.source).where(t.tries.c.source.is_not(None))
            return {str(s) for s in db.execute(query).scalars()}

    def result(self, receipt: str) -> SubmissionReport | None:
        with self._read() as db:
            query = sa.select(t.results.c.report).where(t.results.c.receipt == receipt)
            data = db.execute(query).scalar()
        return msgspec.json.decode(data, type=SubmissionReport) if data else None

    def scores(self, receipts: Sequence[str]) -> dict[str, float]:
        with self._read() as db:
            query = sa.select(t.results.c.receipt, t.results.c.score)
            rows = db.execute(query.where(t.results.c.receipt.in_(receipts)))
            return {str(r.receipt): float(r.score) for r in rows}

    def glances(self, since: float) -> list[tuple[Try, Glance]]:
        """What was graded since then, the oldest first."""
        both = t.tries.join(t.results, t.tries.c.receipt == t.results.c.receipt)
        query = sa.select(t.tries, t.results.c.report).select_from(both)
        query = query.where(t.results.c.graded >= since).order_by(t.results.c.graded)
        with self._read() as db:
            rows = db.execute(query).mappings().all()
        return [(try_of(r), msgspec.json.decode(r["report"], type=Glance)) for r in rows]

    def waiting(self, one: Try | None = None) -> Waiting:
        """How many go before a try that waits (or wait at all), and how many are being graded."""
        ahead = t.tries.c.state == WAITING
        if one is not None:
            columns = (t.tries.c.held, t.tries.c.turn, t.tries.c.place)
            ahead &= sa.tuple_(*columns) < sa.tuple_(
                sa.literal(one.held), sa.literal(one.turn), sa.literal(one.place)
            )
        with self._read() as db:
            count = sa.select(sa.func.count()).select_from(t.tries)
            return Waiting(
                db.execute(count.where(ahead)).scalar_one(),
                db.execute(count.where(t.tries.c.state == RUNNING)).scalar_one(),
            )

    def overtaking(self, one: Try, seconds: float) -> float:
        """How many came each second, of late, of those who go before this try whenever they come.

        Looked at are the last so many seconds.
        """
        columns = (t.tries.c.held, t.tries.c.turn)
        first = sa.tuple_(*columns) < sa.tuple_(sa.literal(one.held), sa.literal(one.turn))
        recent = t.tries.c.received > self.clock() - seconds
        query = sa.select(sa.func.count()).select_from(t.tries).where(first & recent)
        with self._read() as db:
            return float(db.execute(query).scalar_one()) / seconds

    def durations(self, week: str, newest: int = 40) -> list[float]:
        """How long the last results of a week took, in seconds."""
        both = t.results.join(t.tries, t.tries.c.receipt == t.results.c.receipt)
        query = sa.select(t.results.c.seconds).select_from(both).where(t.tries.c.week == week)
        with self._read() as db:
            query = query.order_by(t.results.c.graded.desc()).limit(newest)
            return [float(s) for s in db.execute(query).scalars()]

    def waits(self, receipts: Sequence[str]) -> list[float]:
        """The seconds from hand-in to result."""
        both = t.tries.join(t.results, t.tries.c.receipt == t.results.c.receipt)
        took = t.results.c.graded - t.tries.c.received
        query = sa.select(took).select_from(both).where(t.tries.c.receipt.in_(receipts))
        with self._read() as db:
            return [float(s) for s in db.execute(query).scalars()]


def _insert(db: sa.Connection, table: sa.Table, **row: Any) -> Any:
    """An insertion that does nothing where the key is known."""
    insert = postgresql.insert if db.dialect.name == "postgresql" else sqlite.insert
    return insert(table).values(**row).on_conflict_do_nothing()


def try_of(row: Any) -> Try:
    return Try(**{name: row[name] for name in Try.__struct_fields__})


def _receipt() -> str:
    """Such as 7KQ2-M4XD-9TRP: to be read aloud, and not to be guessed."""
    letters = "".join(secrets.choice(_LETTERS) for _ in range(12))
    return "-".join(letters[n : n + 4] for n in (0, 4, 8))
