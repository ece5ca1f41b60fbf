"""The queue of submissions, their order, and their results.

Once a method returns, its change is stored in the database. A submission is `waiting`, then
`running`, then `graded`; or `replaced`, if a newer one of the same student and week arrived while
it waited. A submission whose grading failed because of a system error waits for a while. A receipt
gets one result.

Order: submissions whose result will be visible go first, then those with fewer graded submissions
of the same student and week before them, then by position. So no student's tenth submission is
graded before another student's first. A submission that replaces one takes over its position.

The transaction that stores a submission also decides if its result may be visible; otherwise two
simultaneous submissions would both use the last attempt.

Leases: on PostgreSQL several services may share the queue. Submissions that a service was grading
wait again after it has started again (`start`), or after it has not renewed its leases for `LEASE`
seconds (`renew`). If that service was only slow, the first result is kept.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from ...model.report.schema import Ending, SubmissionReport
from .. import tables as t
from ..tables import Store, of_student
from .queued_submission import (
    COUNTED,
    GRADED,
    REPLACED,
    RUNNING,
    WAITING,
    Admission,
    QueuedSubmission,
    queued_submission,
    recency,
)

LEASE = 60.0  # seconds
_SAMPLE = 40  # durations
_RECEIPT_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
_RUNNING = t.submissions.c.state == RUNNING


class Queue(Store):
    """The submissions of a course. All methods block.

    owner: the name of this service, which must not change when it restarts
    """

    def __init__(
        self, engine: sa.Engine, clock: Callable[[], float] = time.time, owner: str = ""
    ) -> None:
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
        """Store a submission and queue it, in place of an earlier one without a result.

        If the digest is that of the student's newest or restored submission, or if a submission
        from the same `source` is stored, that one is returned. A withheld one is queued again when
        attempts are left.

        admit: decides about the submission, given the student's earlier ones, in this transaction
        """
        with self.transaction() as db:
            self._lock_student(db, student, week)
            if source:
                query = sa.select(t.submissions).where(t.submissions.c.source == source)
                if known := db.execute(query).first():
                    return queued_submission(known)
            earlier = self._of_student(db, student, week)
            candidates = [s for s in earlier if s.state != REPLACED and not source]
            newest = max(candidates, key=recency, default=None)
            if (
                newest
                and newest.digest == digest
                and (not newest.withheld or admit(earlier).withheld)
            ):
                return newest
            positions = self._replace_waiting(db, student, week)
            # Read again, because another service may have started to grade a submission.
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
                state=WAITING,
                withheld=admission.withheld,
                counts_from=now + admission.wait,
                earlier=sum(s.state in COUNTED for s in earlier),
                position=min(positions, default=last + 1),
                not_before=now + admission.wait if admission.wait else 0.0,
                source=source,
            )
            self._store(db, new, content)
        return new

    def _replace_waiting(self, db: sa.Connection, student: str, week: str) -> Sequence[int]:
        """Mark a student's waiting submission as replaced; return its position, if there is one."""
        waiting = t.submissions.c.state == WAITING
        own = of_student(t.submissions, student, week) & waiting
        update = t.submissions.update().where(own).values(state=REPLACED)
        return db.execute(update.returning(t.submissions.c.position)).scalars().all()

    def _store(self, db: sa.Connection, submission: QueuedSubmission, content: bytes) -> None:
        row = msgspec.structs.asdict(submission)
        del row["number"]  # the database assigns it
        files = self.insert(t.contents, digest=submission.digest, data=content)
        db.execute(files.on_conflict_do_nothing())
        db.execute(t.submissions.insert().values(**row))

    def _lock_student(self, db: sa.Connection, student: str, week: str) -> None:
        """Serialise simultaneous submissions of one student on a server with many writers."""
        if self.shared:
            key = sa.func.hashtext(f"{student}/{week}")
            db.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))

    def _of_student(self, db: sa.Connection, student: str, week: str) -> list[QueuedSubmission]:
        """Return a student's submissions for a week, newest first."""
        query = sa.select(t.submissions).where(of_student(t.submissions, student, week))
        rows = db.execute(query.order_by(t.submissions.c.number.desc()))
        return [queued_submission(row) for row in rows]

    def restore(self, receipt: str) -> None:
        """Make an earlier submission count until a newer one is submitted."""
        submission = self.find(receipt)
        if submission is None:
            return
        own = self.of_student(submission.student, submission.week)
        newest = max(max(s.received, s.restored) for s in own)
        restored = {"restored": max(self.clock(), newest + 0.001)}
        record = of_student(t.recorded, submission.student, submission.week)
        self.execute(
            t.submissions.update().where(t.submissions.c.receipt == receipt).values(**restored),
            t.recorded.update().where(record).values(graded=0.0, not_before=0.0),
        )

    # Grading

    def start(self) -> int:
        """Requeue interrupted and failed submissions at once; return their number."""
        state = t.submissions.c.state
        interrupted = _RUNNING & ((t.submissions.c.owner == self.owner) | self._expired())
        failed = (state == WAITING) & (t.submissions.c.error != "")
        unfinished = interrupted | failed | (state == "stuck")  # written by an earlier version
        requeued = {"state": WAITING, "attempts": 0, "not_before": 0.0}
        return self.execute(t.submissions.update().where(unfinished).values(**requeued))

    def renew(self) -> int:
        """Renew this service's leases and requeue abandoned submissions; return their number."""
        mine = _RUNNING & (t.submissions.c.owner == self.owner)
        lease = self.clock() + LEASE
        return self.execute(
            t.submissions.update().where(mine).values(leased_until=lease),
            t.submissions.update().where(_RUNNING & self._expired()).values(state=WAITING),
        )

    def _expired(self) -> sa.ColumnElement[bool]:
        return t.submissions.c.leased_until < self.clock()

    def claim(self, week: str | None = None) -> QueuedSubmission | None:
        """Take the next submission (of `week`, if given) for grading; return None if none is ready.

        Two submissions of one student and week are never graded at the same time.
        """
        waiting, running = t.submissions.alias("waiting"), t.submissions.alias("running")
        busy = sa.exists().where(
            running.c.student == waiting.c.student,
            running.c.week == waiting.c.week,
            running.c.state == RUNNING,
        )
        ready = (waiting.c.state == WAITING) & (waiting.c.not_before <= self.clock()) & ~busy
        if week is not None:
            ready &= waiting.c.week == week
        order = ("withheld", "earlier", "position", "number")
        first = sa.select(waiting.c.number).where(ready).limit(1)
        first = first.order_by(*(waiting.c[column] for column in order))
        first = first.with_for_update(skip_locked=True, of=waiting)  # ignored by SQLite
        claim = t.submissions.update().where(t.submissions.c.number == first.scalar_subquery())
        claim = claim.values(
            state=RUNNING,
            attempts=t.submissions.c.attempts + 1,
            owner=self.owner,
            leased_until=self.clock() + LEASE,
        )
        with self.transaction() as db:
            row = db.execute(claim.returning(t.submissions)).first()
        return queued_submission(row) if row else None

    def finish(
        self, submission: QueuedSubmission, report: SubmissionReport, seconds: float
    ) -> bool:
        """Store a result; return True if it is the first for this receipt."""
        result = self.insert(
            t.results,
            receipt=submission.receipt,
            graded=self.clock(),
            seconds=seconds,
            score=report.score,
            report=msgspec.json.encode(report),
        )
        done: dict[str, Any] = {"state": GRADED, "error": ""}
        own = t.submissions.c.receipt == submission.receipt
        with self.transaction() as db:
            stored = result.on_conflict_do_nothing().returning(t.results.c.receipt)
            first = db.execute(stored).first() is not None
            if report.verdict is Ending.REFUSED:
                done["withheld"] = True  # no hidden test ran, so it uses up no attempt
                self._requeue_replaced(db, submission)
            db.execute(t.submissions.update().where(own).values(**done))
        return first

    def _requeue_replaced(self, db: sa.Connection, refused: QueuedSubmission) -> None:
        """Requeue the submission that was replaced by one that cannot be graded."""
        for submission in self._of_student(db, refused.student, refused.week):
            is_refused = self.verdict(submission) is Ending.REFUSED
            if submission.number >= refused.number or is_refused:
                continue
            if submission.state == REPLACED:
                own = t.submissions.c.number == submission.number
                db.execute(t.submissions.update().where(own).values(state=WAITING))
            return

    def put_back(self, submission: QueuedSubmission, error: str, wait: float) -> None:
        """Requeue a submission `wait` seconds after an error, unless a newer one is waiting."""
        own = (t.submissions.c.receipt == submission.receipt) & _RUNNING
        own &= t.submissions.c.owner == self.owner
        later = {"error": error, "not_before": self.clock() + wait}
        with self.transaction() as db:
            others = self._of_student(db, submission.student, submission.week)
            newer = any(s.number > submission.number and s.state == WAITING for s in others)
            state = REPLACED if newer else WAITING
            db.execute(t.submissions.update().where(own).values(state=state, **later))

    # Reading

    def content(self, digest: str) -> bytes:
        """Return a submission's files as a zip."""
        query = sa.select(t.contents.c.data).where(t.contents.c.digest == digest)
        return bytes(self.read(query).scalar_one())

    def find(self, receipt: str) -> QueuedSubmission | None:
        query = sa.select(t.submissions).where(t.submissions.c.receipt == receipt)
        row = self.read(query).first()
        return queued_submission(row) if row else None

    def of_student(self, student: str, week: str) -> list[QueuedSubmission]:
        """Return a student's submissions for a week, newest first."""
        with self.engine.connect() as db:
            return self._of_student(db, student, week)

    def position(self, submission: QueuedSubmission) -> tuple[int, int]:
        """Return how many submissions wait ahead of this one, and how many are being graded."""
        columns = ("withheld", "earlier", "position")
        own = (sa.literal(getattr(submission, column)) for column in columns)
        first = sa.tuple_(*(t.submissions.c[column] for column in columns)) < sa.tuple_(*own)
        ahead = sa.select(sa.func.count()).where(first, t.submissions.c.state == WAITING)
        running = sa.select(sa.func.count()).where(_RUNNING)
        return self.read(ahead).scalar_one(), self.read(running).scalar_one()

    def durations(self, week: str) -> list[float]:
        """Return the durations in seconds of the latest gradings of a week."""
        same = t.results.c.receipt == t.submissions.c.receipt
        query = sa.select(t.results.c.seconds).where(same, t.submissions.c.week == week)
        query = query.order_by(t.results.c.graded.desc()).limit(_SAMPLE)
        return list(self.read(query).scalars())

    def in_states(self, *states: str) -> list[QueuedSubmission]:
        """Return all submissions in these states, oldest first."""
        query = sa.select(t.submissions).where(t.submissions.c.state.in_(states))
        rows = self.read(query.order_by(t.submissions.c.number))
        return [queued_submission(row) for row in rows]

    def result(self, receipt: str) -> SubmissionReport | None:
        query = sa.select(t.results.c.report).where(t.results.c.receipt == receipt)
        data = self.read(query).scalar()
        return _report(data) if data else None

    def verdict(self, submission: QueuedSubmission) -> Ending | None:
        """Return how grading ended, or None if it has not ended."""
        report = self.result(submission.receipt) if submission.state == GRADED else None
        return report.verdict if report else None

    def recent_results(self, since: float) -> list[tuple[QueuedSubmission, SubmissionReport]]:
        """Return the results since a time (seconds since the epoch), oldest first."""
        same = t.submissions.c.receipt == t.results.c.receipt
        query = sa.select(t.submissions, t.results.c.report).where(same)
        query = query.where(t.results.c.graded >= since).order_by(t.results.c.graded)
        return [(queued_submission(row), _report(row.report)) for row in self.read(query)]


def _report(data: bytes) -> SubmissionReport:
    return msgspec.json.decode(data, type=SubmissionReport)


def _new_receipt() -> str:
    """Return a receipt such as 7KQ2-M4XD-9TRP: easy to read aloud, and hard to guess."""
    letters = "".join(secrets.choice(_RECEIPT_LETTERS) for _ in range(12))
    return "-".join(letters[n : n + 4] for n in (0, 4, 8))
