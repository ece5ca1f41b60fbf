"""From results to nbgrader: the try that counts goes to submitted/ and into the gradebook.

nbgrader runs in a process of its own. Whatever is killed when: the gradebook is told again of the
same try, and ends the same.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import secrets
from pathlib import Path

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from ..lms.bulk import write_whole
from ..model.course import Course, Week, load
from ..model.errors import KitError
from ..model.late import lateness
from ..model.report import Report, SubmissionReport
from ..nbgrader.served import note_served
from ..nbgrader.workspace import Workspace
from .chair import Chair
from .courses import FRESH, Courses
from .lanes import Helper, LaneDied
from .ledger import Ledger
from .parcel import unpacked
from .policy import counted_try
from .queue import Queue, Try
from .tables import first_line
from .troubles import Troubles

_LOOK = 2.0  # seconds
_SECRET = "submission_secret.txt"
_TIMESTAMP = "timestamp.txt"


class CountedTry(msgspec.Struct, frozen=True):
    """What the gradebook is to hold for a student's week."""

    root: str
    week: str
    student: str
    received: float
    content: bytes
    report: bytes
    newest: float  # when the newest of the student's tries was handed in
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
        self._known: dict[tuple[str, str], str] = {}  # what this service has settled already

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
        found = await asyncio.to_thread(self._counted, student, name, rows)
        if found is None:
            await asyncio.to_thread(self.ledger.settle, student, name, "", newest)
            return
        receipt, counted = found
        if self._known.get((student, name)) != receipt:
            await self.helper.call(record_counted, counted)
            self._known[student, name] = receipt
        await asyncio.to_thread(self.ledger.settle, student, name, receipt, newest)
        if not self.queue_troubles():
            self.troubles.end("recording")

    def queue_troubles(self) -> list[tuple[str, str, str]]:
        return self.ledger.unsettled_troubles()

    def _counted(
        self, student: str, name: str, rows: list[tuple[Try, float, float]]
    ) -> tuple[str, CountedTry] | None:
        course, week = self.courses.now, self.courses.week(name)
        if week is None:
            return None
        worth = [(one, self._worth(course, week, one, score)) for one, score, _ in rows]
        best = counted_try(course.registry.counts, worth)
        assert best is not None
        one = best[0]
        report = self.queue.result(one.receipt)
        assert report is not None
        counted = CountedTry(
            root=str(course.root),
            week=name,
            student=student,
            received=one.received,
            content=self.queue.content(one.digest),
            report=msgspec.json.encode(report),
            newest=max(each.received for each, _, _ in rows),
            devices=self.devices,
            sandbox=self.sandbox,
        )
        return one.receipt, counted

    def _worth(self, course: Course, week: Week, one: Try, score: float) -> float:
        """The points of a try after what its lateness costs."""
        if course.registry.counts == "latest":
            return score
        _, entries = self.courses.gradebook(fair=FRESH)
        own = [e for e in entries if e.student == one.student]
        times = {e.week: e.handed_in for e in own if e.handed_in is not None}
        times[week.name] = dt.datetime.fromtimestamp(one.received, dt.UTC)
        late = lateness(course, one.student, times, {e.week: e.extension for e in own})
        return late[week.name].kept(score)

    async def _later(self, student: str, week: str, why: str) -> None:
        self.troubles.begin("recording", f"{week}: the gradebook could not be told: {why}")
        try:
            await asyncio.to_thread(self.ledger.settle, student, week, "", 0.0, why)
        except SQLAlchemyError:
            await asyncio.sleep(_LOOK)


# In the process of its own


def record_counted(counted: CountedTry) -> None:
    """Put the files where nbgrader looks, and the report into its gradebook; raises KitError."""
    from ..nbgrader.gradebook import record, require_released
    from ..nbgrader.submitted import complete

    course = load(Path(counted.root))
    week = course.week(counted.week)
    require_released(course, week)
    folder = Workspace(course).submitted(counted.student, week)
    write_whole(folder, _files(counted, folder))
    complete(course, week, folder)
    report = msgspec.json.decode(counted.report, type=SubmissionReport)
    one = msgspec.structs.replace(report, name=counted.student)
    recording = record(course, week, Report(week.name, counted.devices, (one,), counted.sandbox))
    if why := recording.left_out.get(counted.student):
        raise KitError(why)
    if course.registry.counts == "best":
        note_served(course, week, counted.student, _stamp(counted.newest))


def _files(counted: CountedTry, folder: Path) -> dict[str, bytes]:
    """What was handed in, with the time and the secret by which feedback finds its student."""
    files = unpacked(counted.content)
    files[_TIMESTAMP] = _stamp(counted.received).encode()
    if _SECRET not in files:
        try:
            files[_SECRET] = (folder / _SECRET).read_bytes()
        except OSError:
            files[_SECRET] = secrets.token_hex(64).encode()
    return files


def _stamp(received: float) -> str:
    """A time as nbgrader writes it."""
    moment = dt.datetime.fromtimestamp(received, dt.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC"
