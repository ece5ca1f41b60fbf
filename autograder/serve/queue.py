"""A queue of submissions in the database, with their results.

Each method commits its changes before it returns. A submission is first `waiting`, then `running`,
then `graded`. A waiting submission becomes `replaced` when the student submits again for the same
week. After a system error, a submission waits before it is graded again. Each receipt gets one
result.

Order: submissions whose results will be visible are graded first. Among these submissions, every
student's first submission for a week is graded before any student's second, and so on. Ties are
broken by position. A new submission gets the position of the waiting submission that it replaces.

The transaction that stores a submission also decides whether its result may be visible. Otherwise,
two simultaneous submissions could both use the last attempt.

Leases: on PostgreSQL, several services may share the queue. A submission that a service was grading
is requeued when that service restarts (`start`), or when the service has not renewed its leases for
`LEASE` seconds (`renew`). If that service was only slow and stores a second result, the first
result is kept.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa

from ..model.report.schema import Ending, SubmissionReport
from . import tables as t
from .tables import QueuedSubmission

LEASE = 60.0  # seconds
_SAMPLE = 40  # number of recent grading times that `durations` returns
_RECEIPT_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
_RUNNING = t.submissions.c.state == t.RUNNING


Graded = tuple[QueuedSubmission, SubmissionReport]


class Admission(NamedTuple):
    """How to queue a new submission. `withheld`: hide its result; `wait`: delay grading (s)."""

    withheld: bool = False
    wait: float = 0.0


class Queue(t.Store):
    """The submissions of a course. All methods block.

    owner: the name of this service, which must not change when the service restarts
    """

    def __init__(self, engine: sa.Engine, clock: t.Clock = time.time, owner: str = "") -> None:
        super().__init__(engine, clock)
        self.owner = owner

    # Submitting

    def add(
        self,
        student: str,
        week: str,
        content: bytes,
        digest: str,
        *,
        channel: str,
        admit: Callable[[Sequence[QueuedSubmission]], Admission] = lambda _: Admission(),
        received: float | None = None,
        source: str | None = None,
    ) -> QueuedSubmission:
        """Store and queue a submission, replacing the student's waiting submission for the week.

        If a stored submission has the same `source`, return that submission instead. Also return
        the student's latest submission (submitted or restored) if it has the same digest, unless
        its result is withheld and attempts are left.

        content: the files as a zip
        admit: called within the transaction with the student's earlier submissions
        received: when the student submitted (seconds since the epoch); default: now
        source: name of the submission's folder in the exchange
        """
        with self.transaction() as db:
            if self.shared:  # serialize a student's simultaneous submissions on PostgreSQL
                key = sa.func.hashtext(f"{student}/{week}")
                db.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))
            if source:
                query = sa.select(t.submissions).where(t.submissions.c.source == source)
                if known := db.execute(query).first():
                    return t.queued_submission(known)
            earlier = self._of_student(db, student, week)
            candidates = [s for s in earlier if s.state != t.REPLACED]
            newest = max(candidates, key=t.recency, default=None)
            if (
                newest
                and newest.digest == digest
                and (not newest.withheld or admit(earlier).withheld)
            ):
                return newest
            positions = self._replace_waiting(db, student, week)
            # read again, because another service may have started to grade a submission
            earlier = self._of_student(db, student, week)
            admission, now = admit(earlier), self.clock()
            last = db.execute(sa.select(sa.func.max(t.submissions.c.position))).scalar() or 0
            new = QueuedSubmission(
                receipt=_new_receipt(),
                student=student,
                week=week,
                channel=channel,
                digest=digest,
                received=now if received is None else received,
                state=t.WAITING,
                withheld=admission.withheld,
                counts_from=now + admission.wait,
                earlier=sum(s.state in t.COUNTED for s in earlier),
                position=min(positions, default=last + 1),
                not_before=now + admission.wait if admission.wait else 0.0,
                source=source,
            )
            self._store(db, new, content)
        return new

    def _replace_waiting(self, db: sa.Connection, student: str, week: str) -> Sequence[int]:
        """Mark waiting submissions as replaced; return their positions (at most one)."""
        waiting = t.submissions.c.state == t.WAITING
        own = t.of_student(t.submissions, student, week) & waiting
        update = t.submissions.update().where(own).values(state=t.REPLACED)
        return db.execute(update.returning(t.submissions.c.position)).scalars().all()

    def _store(self, db: sa.Connection, submission: QueuedSubmission, content: bytes) -> None:
        row = msgspec.structs.asdict(submission)
        del row["number"]  # the database assigns it
        files = self.insert(t.contents, digest=submission.digest, data=content)
        db.execute(files.on_conflict_do_nothing())
        db.execute(t.submissions.insert().values(**row))

    def _of_student(self, db: sa.Connection, student: str, week: str) -> list[QueuedSubmission]:
        query = sa.select(t.submissions).where(t.of_student(t.submissions, student, week))
        rows = db.execute(query.order_by(t.submissions.c.number.desc()))
        return [t.queued_submission(row) for row in rows]

    def restore(self, receipt: str) -> None:
        """Make a submission count until the student submits again; ignore an unknown receipt."""
        submission = self.find(receipt)
        if submission is None:
            return
        own = self.of_student(submission.student, submission.week)
        newest = max(max(s.received, s.restored) for s in own)
        restored = {"restored": max(self.clock(), newest + 0.001)}
        record = t.of_student(t.recorded, submission.student, submission.week)
        self.execute(
            t.submissions.update().where(t.submissions.c.receipt == receipt).values(**restored),
            t.recorded.update().where(record).values(graded=0.0, not_before=0.0),
        )

    # Grading

    def start(self) -> int:
        """Requeue interrupted and failed submissions without delay; return their number."""
        interrupted = _RUNNING & ((t.submissions.c.owner == self.owner) | self._expired())
        failed = (t.submissions.c.state == t.WAITING) & (t.submissions.c.error != "")
        requeued = {"state": t.WAITING, "attempts": 0, "not_before": 0.0}
        return self.execute(t.submissions.update().where(interrupted | failed).values(**requeued))

    def renew(self) -> int:
        """Renew this service's leases, and requeue submissions whose lease has expired.

        Return the number of requeued submissions.
        """
        mine = _RUNNING & (t.submissions.c.owner == self.owner)
        lease = self.clock() + LEASE
        return self.execute(
            t.submissions.update().where(mine).values(leased_until=lease),
            t.submissions.update().where(_RUNNING & self._expired()).values(state=t.WAITING),
        )

    def _expired(self) -> sa.ColumnElement[bool]:
        return t.submissions.c.leased_until < self.clock()

    def claim(self, week: str | None = None) -> QueuedSubmission | None:
        """Mark the next submission as running and return it, or return None if none is ready.

        Two submissions by the same student for the same week never run at the same time.

        week: consider only submissions for this week
        """
        waiting, running = t.submissions.alias("waiting"), t.submissions.alias("running")
        busy = sa.exists().where(
            running.c.student == waiting.c.student,
            running.c.week == waiting.c.week,
            running.c.state == t.RUNNING,
        )
        ready = (waiting.c.state == t.WAITING) & (waiting.c.not_before <= self.clock()) & ~busy
        if week is not None:
            ready &= waiting.c.week == week
        order = ("withheld", "earlier", "position", "number")
        first = sa.select(waiting.c.number).where(ready).limit(1)
        first = first.order_by(*(waiting.c[column] for column in order))
        first = first.with_for_update(skip_locked=True, of=waiting)  # ignored by SQLite
        claim = t.submissions.update().where(t.submissions.c.number == first.scalar_subquery())
        claim = claim.values(
            state=t.RUNNING,
            attempts=t.submissions.c.attempts + 1,
            owner=self.owner,
            leased_until=self.clock() + LEASE,
        )
        with self.transaction() as db:
            row = db.execute(claim.returning(t.submissions)).first()
        return t.queued_submission(row) if row else None

    def finish(
        self, submission: QueuedSubmission, report: SubmissionReport, seconds: float
    ) -> None:
        """Store a result unless the submission already has one. `seconds`: the grading time."""
        result = self.insert(
            t.results,
            receipt=submission.receipt,
            graded=self.clock(),
            seconds=seconds,
            score=report.score,
            report=msgspec.json.encode(report),
        )
        done: dict[str, Any] = {"state": t.GRADED, "error": ""}
        own = t.submissions.c.receipt == submission.receipt
        with self.transaction() as db:
            db.execute(result.on_conflict_do_nothing())
            if report.verdict is Ending.REFUSED:
                done["withheld"] = True  # do not count an attempt, because no hidden test ran
                self._requeue_replaced(db, submission)
            db.execute(t.submissions.update().where(own).values(**done))

    def _requeue_replaced(self, db: sa.Connection, refused: QueuedSubmission) -> None:
        for submission in self._of_student(db, refused.student, refused.week):
            is_refused = self.verdict(submission) is Ending.REFUSED
            if submission.number >= refused.number or is_refused:
                continue
            if submission.state == t.REPLACED:
                own = t.submissions.c.number == submission.number
                db.execute(t.submissions.update().where(own).values(state=t.WAITING))
            return

    def put_back(self, submission: QueuedSubmission, error: str, wait: float) -> None:
        """Requeue a submission after an error, or mark it as replaced if a newer one is waiting.

        wait: seconds until the submission may be graded again
        """
        own = (t.submissions.c.receipt == submission.receipt) & _RUNNING
        own &= t.submissions.c.owner == self.owner
        later = {"error": error, "not_before": self.clock() + wait}
        with self.transaction() as db:
            others = self._of_student(db, submission.student, submission.week)
            newer = any(s.number > submission.number and s.state == t.WAITING for s in others)
            state = t.REPLACED if newer else t.WAITING
            db.execute(t.submissions.update().where(own).values(state=state, **later))

    # Reading

    def content(self, digest: str) -> bytes:
        """Return the zip of the submitted files that have this digest."""
        query = sa.select(t.contents.c.data).where(t.contents.c.digest == digest)
        return bytes(self.read(query).scalar_one())

    def find(self, receipt: str) -> QueuedSubmission | None:
        query = sa.select(t.submissions).where(t.submissions.c.receipt == receipt)
        row = self.read(query).first()
        return t.queued_submission(row) if row else None

    def of_student(self, student: str, week: str) -> list[QueuedSubmission]:
        """Return a student's submissions for a week, newest first."""
        with self.engine.connect() as db:
            return self._of_student(db, student, week)

    def position(self, submission: QueuedSubmission) -> tuple[int, int]:
        """Return the number of submissions ahead of this submission, and the number running."""
        columns = ("withheld", "earlier", "position")
        own = (sa.literal(getattr(submission, column)) for column in columns)
        first = sa.tuple_(*(t.submissions.c[column] for column in columns)) < sa.tuple_(*own)
        ahead = sa.select(sa.func.count()).where(first, t.submissions.c.state == t.WAITING)
        running = sa.select(sa.func.count()).where(_RUNNING)
        return self.read(ahead).scalar_one(), self.read(running).scalar_one()

    def durations(self, week: str) -> list[float]:
        """Return the grading times (s) of recent submissions for a week, newest first."""
        same = t.results.c.receipt == t.submissions.c.receipt
        query = sa.select(t.results.c.seconds).where(same, t.submissions.c.week == week)
        query = query.order_by(t.results.c.graded.desc()).limit(_SAMPLE)
        return list(self.read(query).scalars())

    def in_states(self, *states: str) -> list[QueuedSubmission]:
        """Return all submissions in these states, oldest first."""
        query = sa.select(t.submissions).where(t.submissions.c.state.in_(states))
        rows = self.read(query.order_by(t.submissions.c.number))
        return [t.queued_submission(row) for row in rows]

    def result(self, receipt: str) -> SubmissionReport | None:
        query = sa.select(t.results.c.report).where(t.results.c.receipt == receipt)
        data = self.read(query).scalar()
        return _report(data) if data else None

    def verdict(self, submission: QueuedSubmission) -> Ending | None:
        """Return how grading ended, or None if the submission has not been graded."""
        report = self.result(submission.receipt) if submission.state == t.GRADED else None
        return report.verdict if report else None

    def recent_results(self, since: float) -> list[Graded]:
        """Return the results stored at or after `since` (seconds since the epoch), oldest first."""
        same = t.submissions.c.receipt == t.results.c.receipt
        query = sa.select(t.submissions, t.results.c.report).where(same)
        query = query.where(t.results.c.graded >= since).order_by(t.results.c.graded)
        return [(t.queued_submission(row), _report(row.report)) for row in self.read(query)]


def _report(data: bytes) -> SubmissionReport:
    return msgspec.json.decode(data, type=SubmissionReport)


def _new_receipt() -> str:
    """Return a random receipt such as 7KQ2-M4XD-9TRP, without ambiguous letters and digits."""
    letters = "".join(secrets.choice(_RECEIPT_LETTERS) for _ in range(12))
    return "-".join(letters[n : n + 4] for n in (0, 4, 8))
