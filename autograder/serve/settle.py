"""From results to nbgrader: what was graded goes through `accept` and the recorder.

They decide which submission counts, as for all channels. nbgrader runs in a process of its own.
After an interruption the gradebook is told again of the same submissions, and ends the same.
"""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from ..model.course import Course, Week, load
from ..model.errors import KitError
from ..model.report import Report, SubmissionReport
from ..nbgrader.history import read_history
from ..nbgrader.submissions import accept, earlier_files, put_in_place
from .chair import Chair
from .courses import Courses
from .current import format_received
from .lanes import Helper, LaneDied
from .ledger import Ledger
from .parcel import unpacked
from .queue import Queue, Try, precedence
from .tables import first_line
from .troubles import Troubles

_LOOK = 2.0  # seconds
_SECRET = "submission_secret.txt"


class GradedTry(msgspec.Struct, frozen=True):
    """A submission with its report."""

    received: float
    content: bytes
    report: bytes


class ToRecord(msgspec.Struct, frozen=True):
    """What the gradebook is to know of a student's week, the oldest first."""

    root: str
    week: str
    student: str
    tries: tuple[GradedTry, ...]
    restored: float | None  # when the one was received that the student chose to restore
    devices: tuple[str, ...]
    sandbox: str


class Settler:
    """Tells the gradebook of what was graded, one student after the other."""

    def __init__(
        self,
        courses: Courses,
        queue: Queue,
        ledger: Ledger,
        troubles: Troubles,
        chair: Chair,
        devices: tuple[str, ...],
        sandbox: str,
        *,
        niceness: int,
    ) -> None:
        self.courses, self.queue, self.ledger = courses, queue, ledger
        self.troubles, self.chair = troubles, chair
        self.devices, self.sandbox = devices, sandbox
        self.helper = Helper("gradebook", niceness)
        self._known: set[str] = set()  # the receipts that this service has recorded

    async def run(self) -> None:
        while True:
            try:
                pending = await asyncio.to_thread(self._pending)
            except SQLAlchemyError:
                pending = []  # the dispatcher says so
            for student, week in pending:
                await self.settle(student, week)
            if not pending:
                await asyncio.sleep(_LOOK)

    def _pending(self) -> list[tuple[str, str]]:
        return self.ledger.to_settle() if self.chair.taken() else []

    async def settle(self, student: str, week: str) -> None:
        """Bring the gradebook to what counts for a student's week."""
        try:
            await self._settle(student, week)
        except (KitError, LaneDied, OSError) as error:
            await self._later(student, week, str(error) or type(error).__name__)
        except SQLAlchemyError as error:
            self.troubles.begin("database", f"the database does not answer: {first_line(error)}")
            await asyncio.sleep(_LOOK)
        except Exception as error:  # of one student's, never of the service
            await self._later(student, week, f"{type(error).__name__}: {error}")

    async def _settle(self, student: str, name: str) -> None:
        rows = await asyncio.to_thread(self.ledger.graded, student, name)
        if not rows:
            return
        newest = max(graded for _, _, graded in rows)
        tries = [one for one, _, _ in rows]
        counts = ""
        if self.courses.week(name) is not None:
            sent = await asyncio.to_thread(self._to_record, student, name, tries)
            in_place = await self.helper.call(record_tries, sent)
            self._known.update(one.receipt for one in tries)
            counts = next(
                (t.receipt for t in reversed(tries) if format_received(t.received) == in_place), ""
            )
        await asyncio.to_thread(self.ledger.settle, student, name, counts, newest)
        if not self.queue_troubles():
            self.troubles.end("recording")

    def queue_troubles(self) -> list[tuple[str, str, str]]:
        return self.ledger.unsettled_troubles()

    def _to_record(self, student: str, name: str, tries: list[Try]) -> ToRecord:
        latest = max(tries, key=precedence)
        graded = []
        for one in tries:
            if one.receipt not in self._known or one is latest:
                report = self.queue.result(one.receipt)
                assert report is not None
                encoded = msgspec.json.encode(report)
                graded.append(GradedTry(one.received, self.queue.content(one.digest), encoded))
        return ToRecord(
            root=str(self.courses.now.root),
            week=name,
            student=student,
            tries=tuple(graded),
            restored=latest.received if latest.chosen > latest.received else None,
            devices=self.devices,
            sandbox=self.sandbox,
        )

    async def _later(self, student: str, week: str, why: str) -> None:
        self.troubles.begin("recording", f"{week}: the gradebook could not be told: {why}")
        try:
            await asyncio.to_thread(self.ledger.settle, student, week, "", 0.0, why)
        except SQLAlchemyError:
            await asyncio.sleep(_LOOK)


# In the process of its own


def record_tries(sent: ToRecord) -> str:
    """Accept and record what was graded; return the time of the submission that counts."""
    from ..nbgrader.gradebook import require_released

    course = load(Path(sent.root))
    week = course.week(sent.week)
    require_released(course, week)
    for one in sent.tries:
        handed_in = format_received(one.received)
        history = read_history(course, week, sent.student)
        known = next((e for e in history.entries if e.handed_in == handed_in), None)
        if known is None:
            files = _with_secret(course, week, sent.student, unpacked(one.content))
            accept(course, week, sent.student, files, handed_in, "service", whole=True)
        elif one.received == sent.restored and known.number != history.current:
            put_in_place(course, week, sent.student, known.number, restored=True)
        history = read_history(course, week, sent.student)
        current = history.entry(history.current)
        entry = next((e for e in history.entries if e.handed_in == handed_in), None)
        if current is not None and current == entry:
            _record(course, week, sent, one)
    history = read_history(course, week, sent.student)
    current = history.entry(history.current)
    return current.handed_in if current else ""


def _record(course: Course, week: Week, sent: ToRecord, one: GradedTry) -> None:
    from ..nbgrader.gradebook import record

    report = msgspec.json.decode(one.report, type=SubmissionReport)
    named = msgspec.structs.replace(report, name=sent.student)
    recording = record(course, week, Report(week.name, sent.devices, (named,), sent.sandbox))
    if why := recording.left_out.get(sent.student):
        raise KitError(why)


def _with_secret(
    course: Course, week: Week, student: str, files: dict[str, bytes]
) -> dict[str, bytes]:
    """Add the secret by which nbgrader's feedback finds the student."""
    if _SECRET in files:
        return files
    secret = earlier_files(course, week, student).get(_SECRET)
    return files | {_SECRET: secret or secrets.token_hex(64).encode()}
