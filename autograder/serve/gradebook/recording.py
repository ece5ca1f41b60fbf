"""Record results in nbgrader's gradebook.

Submissions go through the same functions as those of `autograder collect` and `grade`, which decide
which submission counts. nbgrader runs in a child process. After an interruption the same
submissions are recorded again, with the same outcome.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from ...model.course.loader import Course, Week, load
from ...model.errors import KitError
from ...model.report.schema import Report, SubmissionReport
from ...nbgrader.collect.history import Entry, read_history
from ...nbgrader.collect.submissions import accept, earlier_files, put_in_place
from ..queue.grading_process import ChildProcess
from ..queue.leader import Leader
from ..queue.queued_submission import QueuedSubmission, recency
from ..shared_state import SharedState
from ..submissions.upload import unpacked
from ..tables import error_text, first_line
from .ledger import Ledger
from .recorded_history import format_received

_POLL_SECONDS = 2.0
SECRET_FILE = "submission_secret.txt"


class GradedSubmission(msgspec.Struct, frozen=True):
    """A submission's files as a zip, and its report as JSON."""

    received: float
    content: bytes
    report: bytes


class RecordRequest(msgspec.Struct, frozen=True):
    """The submissions of a student's week that are to be recorded, oldest first."""

    root: str
    week: str
    student: str
    submissions: tuple[GradedSubmission, ...]
    restored: float | None  # when the submission was received that the student restored
    devices: tuple[str, ...]
    sandbox: str


class GradebookRecorder:
    """Records results, one student after the other."""

    def __init__(self, state: SharedState, ledger: Ledger, leader: Leader) -> None:
        self._state, self._ledger, self._leader = state, ledger, leader
        self.process = ChildProcess("gradebook", state.settings.niceness)
        self._recorded: set[str] = set()  # receipts that this service has recorded

    async def run(self) -> None:
        """Record new results until cancelled."""
        while True:
            try:
                pending = await asyncio.to_thread(self._pending)
            except SQLAlchemyError:
                pending = []  # the dispatcher reports it
            for student, week in pending:
                await self._record_week(student, week)
            if not pending:
                await asyncio.sleep(_POLL_SECONDS)

    def _pending(self) -> list[tuple[str, str]]:
        return self._ledger.pending() if self._leader.is_leader() else []

    async def _record_week(self, student: str, week: str) -> None:
        incidents = self._state.incidents
        try:
            await self._record(student, week)
            if not await asyncio.to_thread(self._ledger.failures):
                incidents.close("recording")
        except SQLAlchemyError as error:
            incidents.open("database", f"the database does not answer: {first_line(error)}")
            await asyncio.sleep(_POLL_SECONDS)
        except Exception as error:  # of one student, never of the service
            message = error_text(error)
            incidents.open("recording", f"{week}: the gradebook was not updated: {message}")
            try:
                await asyncio.to_thread(self._ledger.mark_failed, student, week, message)
            except SQLAlchemyError:
                await asyncio.sleep(_POLL_SECONDS)

    async def _record(self, student: str, week: str) -> None:
        graded = await asyncio.to_thread(self._ledger.graded, student, week)
        if not graded:
            return
        submissions = [submission for submission, _ in graded]
        counts = ""
        if self._state.courses.week(week) is not None:
            request = await asyncio.to_thread(self.request, student, week, submissions)
            current = await self.process.call(record_submissions, request)
            self._recorded.update(s.receipt for s in submissions)
            same_time = (s for s in submissions[::-1] if format_received(s.received) == current)
            counts = next((s.receipt for s in same_time), "")
        newest = max(time for _, time in graded)
        await asyncio.to_thread(self._ledger.mark_recorded, student, week, counts, newest)

    def request(
        self, student: str, week: str, submissions: Sequence[QueuedSubmission]
    ) -> RecordRequest:
        """Return what the child process needs to record a student's graded submissions."""
        queue = self._state.queue
        latest = max(submissions, key=recency)
        graded = []
        for submission in submissions:
            if submission.receipt not in self._recorded or submission is latest:
                report = msgspec.json.encode(queue.result(submission.receipt))
                content = queue.content(submission.digest)
                graded.append(GradedSubmission(submission.received, content, report))
        return RecordRequest(
            root=str(self._state.courses.now.root),
            week=week,
            student=student,
            submissions=tuple(graded),
            restored=latest.received if latest.restored > latest.received else None,
            devices=self._state.settings.devices,
            sandbox=self._state.settings.sandbox,
        )


# In the child process


def record_submissions(request: RecordRequest) -> str:
    """Accept and record submissions; return the timestamp of the one that counts, or ""."""
    from ...nbgrader.gradebook.transfer import require_released

    course = load(Path(request.root))
    week, student = course.week(request.week), request.student
    require_released(course, week)
    for submission in request.submissions:
        received = format_received(submission.received)
        history = read_history(course, week, student)
        known = next((e for e in history.entries if e.handed_in == received), None)
        if known is None:
            files = _with_secret(course, week, student, unpacked(submission.content))
            accept(course, week, student, files, received, "service", whole=True)
        elif submission.received == request.restored and known.number != history.current:
            put_in_place(course, week, student, known.number, restored=True)
        current = _current_entry(course, week, student)
        if current is not None and current.handed_in == received:
            _record_score(course, week, request, submission)
    current = _current_entry(course, week, student)
    return current.handed_in if current else ""


def _current_entry(course: Course, week: Week, student: str) -> Entry | None:
    history = read_history(course, week, student)
    return history.entry(history.current)


def _record_score(
    course: Course, week: Week, request: RecordRequest, submission: GradedSubmission
) -> None:
    from ...nbgrader.gradebook.transfer import record

    report = msgspec.json.decode(submission.report, type=SubmissionReport)
    reports = (msgspec.structs.replace(report, name=request.student),)
    recording = record(course, week, Report(week.name, request.devices, reports, request.sandbox))
    if error := recording.left_out.get(request.student):
        raise KitError(error)


def _with_secret(
    course: Course, week: Week, student: str, files: dict[str, bytes]
) -> dict[str, bytes]:
    """Add the secret with which the student fetches nbgrader's feedback."""
    if SECRET_FILE in files:
        return files
    secret = earlier_files(course, week, student).get(SECRET_FILE)
    return files | {SECRET_FILE: secret or secrets.token_hex(64).encode()}
