"""Record results in nbgrader's gradebook.

Submissions are accepted, and the submission that counts is chosen, by the same functions as in
`autograder collect` and `autograder grade`. nbgrader runs in a child process. If recording is
interrupted, it is repeated with the same outcome.

The submission that counts is not always the newest in the queue: the instructor may have restored
an earlier submission (`autograder restore`) or collected a newer one from a learning platform.
"""

import asyncio
import contextlib
import datetime as dt
import secrets
from functools import cache
from pathlib import Path

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from ..model.course import Course, Week, load
from ..model.errors import KitError, NbgraderError
from ..model.report.schema import Report, SubmissionReport
from ..model.submission_files import SECRET_FILE, format_timestamp
from ..nbgrader.collect.history import Entry, History, read_history
from ..nbgrader.collect.submissions import accept, earlier_files, put_in_place
from . import tables as t
from .grading_process import ChildProcess
from .queue import Queue
from .shared_state import Settings, SharedState
from .submissions.upload import unpacked

_POLL_SECONDS = 2.0
_RETRY_SECONDS = 60.0


class Ledger(t.Store):
    """Tracks which results have been recorded for each student and week. All methods block."""

    def pending(self) -> list[tuple[str, str]]:
        """Return (student, week) pairs to record now, sorted by the time of their newest result."""
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
        return [(row.student, row.week) for row in self.read(query)]

    def graded(self, student: str, week: str) -> list[tuple[t.QueuedSubmission, float]]:
        """Return a student's graded submissions and when they were graded, oldest first."""
        query = sa.select(t.submissions, t.results.c.graded)
        query = query.join(t.results, t.submissions.c.receipt == t.results.c.receipt)
        query = query.where(t.of_student(t.submissions, student, week))
        query = query.order_by(t.submissions.c.received, t.submissions.c.number)
        return [(t.queued_submission(row), row.graded) for row in self.read(query)]

    def mark(self, student: str, week: str, graded: float, error: str = "") -> None:
        """Mark a student's results up to the time `graded` as recorded, or store an error.

        After an error, recording is retried in a minute.
        """
        retry = self.clock() + _RETRY_SECONDS if error else 0.0
        row = {"graded": graded, "not_before": retry, "error": error}
        self.execute(self.upsert(t.recorded, student, week, **row))

    def failures(self) -> list[tuple[str, str, str]]:
        """Return (student, week, error) for each failed recording."""
        rows = self.read(sa.select(t.recorded).where(t.recorded.c.error != ""))
        return [(row.student, row.week, row.error) for row in rows]


class GradebookRecorder:
    """Records new results in the gradebook, one student at a time."""

    def __init__(self, state: SharedState, ledger: Ledger, leader: t.Leader) -> None:
        self._state, self._ledger, self._leader = state, ledger, leader
        self.process = ChildProcess("gradebook", state.settings.niceness)

    async def run(self) -> None:
        """Record new results until cancelled."""
        while True:
            pending: list[tuple[str, str]] = []
            with contextlib.suppress(SQLAlchemyError):  # the dispatcher reports database errors
                if await asyncio.to_thread(self._leader.is_leader):
                    pending = await asyncio.to_thread(self._ledger.pending)
                for student, week in pending:
                    await self._record(student, week)
            if not pending:
                await asyncio.sleep(_POLL_SECONDS)

    async def _record(self, student: str, week: str) -> None:
        incidents, courses = self._state.incidents, self._state.courses
        graded = await asyncio.to_thread(self._ledger.graded, student, week)
        database = self._ledger.engine.url.render_as_string(hide_password=False)
        try:
            if courses.week(week) is not None:
                settings, root = self._state.settings, courses.now.root
                await self.process.call(_record_in_child, root, database, settings, student, week)
        except Exception as error:  # an error for one student must not end the service
            message = t.error_text(error)
            incidents.open("recording", f"{week}: the gradebook was not updated: {message}")
            await asyncio.to_thread(self._ledger.mark, student, week, 0.0, message)
            return
        newest = max(time for _, time in graded)
        await asyncio.to_thread(self._ledger.mark, student, week, newest)
        if not await asyncio.to_thread(self._ledger.failures):
            incidents.close("recording")


# In the child process


def _record_in_child(root: Path, url: str, settings: Settings, student: str, week: str) -> None:
    engine = _engine(url)
    record_submissions(load(root), Queue(engine), Ledger(engine), settings, student, week)


_engine = cache(t.open_database)


def record_submissions(
    course: Course, queue: Queue, ledger: Ledger, settings: Settings, student: str, week_name: str
) -> None:
    """Accept a student's graded submissions for a week, oldest first, and record the results.

    Raise KitError or NbgraderError if a submission cannot be recorded.
    """
    from ..nbgrader.autograde.recorder import require_released

    week = course.week(week_name)
    require_released(course, week)
    submissions = [submission for submission, _ in ledger.graded(student, week.name)]
    latest = max(submissions, key=t.recency)
    by_time = {format_received(s.received): s for s in submissions}
    recorded: Entry | None = None

    def record_current() -> None:
        nonlocal recorded
        history = read_history(course, week, student)
        current = history.entry(history.current)
        if current is None or current == recorded or current.handed_in not in by_time:
            return
        # Skip an entry that `refuse` added with the same time to keep written answers.
        if current == history.submitted_at(current.handed_in):
            report = queue.result(by_time[current.handed_in].receipt)
            _record_score(course, week, settings, student, report)
            recorded = current

    for received, submission in by_time.items():
        if read_history(course, week, student).submitted_at(received) is None:
            files = unpacked(queue.content(submission.digest))
            if SECRET_FILE not in files:
                secret = earlier_files(course, week, student).get(SECRET_FILE)
                files[SECRET_FILE] = secret or secrets.token_hex(64).encode()
            accept(course, week, student, files, received, "service", whole=True)
            record_current()
    history = read_history(course, week, student)
    restored = history.submitted_at(format_received(latest.received))
    # Submissions accepted above may have been queued before the restore, which must not be undone.
    if latest.restored > latest.received and restored and restored.number != history.current:
        put_in_place(course, week, student, restored.number, restored=True)
    record_current()  # a killed process may have accepted a submission without recording its score


def _record_score(
    course: Course, week: Week, settings: Settings, student: str, report: SubmissionReport | None
) -> None:
    from ..nbgrader.autograde.recorder import record

    if report is None:
        raise KitError("a graded submission has no result")
    reports = (msgspec.structs.replace(report, name=student),)
    recording = record(course, week, Report(week.name, settings.devices, reports, settings.sandbox))
    if error := recording.left_out.get(student):
        raise KitError(error)


def format_received(received: float) -> str:
    """Format a time (seconds since the epoch) as nbgrader's timestamp."""
    return format_timestamp(dt.datetime.fromtimestamp(received, dt.UTC))


def history_of(course: Course, week: Week, student: str) -> History:
    try:
        return read_history(course, week, student)
    except NbgraderError:
        return History()  # the recorder reports the error


def is_pending(history: History, newest: t.QueuedSubmission) -> bool:
    """Return True if the newest submission, or its restore, is not recorded yet but will count."""
    received = format_received(newest.received)
    entry = history.submitted_at(received)
    if newest.restored > newest.received:
        return entry is None or entry.number != history.current
    return entry is None and (history.base is None or history.base.handed_in <= received)
