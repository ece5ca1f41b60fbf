"""Record results in nbgrader's gradebook.

The functions of `autograder collect` and `grade` accept each submission and decide which one
counts. nbgrader runs in a child process. After an interruption the same submissions are recorded
again, with the same outcome.
"""

from __future__ import annotations

import asyncio
import secrets
from functools import cache
from pathlib import Path

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from ...model.course import Course, Week, load
from ...model.errors import KitError
from ...model.report.schema import Report, SubmissionReport
from ...nbgrader.collect.history import Entry, read_history
from ...nbgrader.collect.submissions import accept, earlier_files, put_in_place
from ..queue.grading_process import ChildProcess
from ..queue.leader import Leader
from ..queue.queue import Queue
from ..queue.queued_submission import recency
from ..shared_state import Settings, SharedState
from ..submissions.upload import unpacked
from ..tables import error_text, first_line, open_database
from .ledger import Ledger
from .recorded_history import format_received

_POLL_SECONDS = 2.0
SECRET_FILE = "submission_secret.txt"


class GradebookRecorder:
    """Records results, one student after the other."""

    def __init__(self, state: SharedState, ledger: Ledger, leader: Leader) -> None:
        self._state, self._ledger, self._leader = state, ledger, leader
        self.process = ChildProcess("gradebook", state.settings.niceness)

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
        counts = ""
        if self._state.courses.week(week) is not None:
            settings, root = self._state.settings, self._state.courses.now.root
            database = self._ledger.engine.url.render_as_string(hide_password=False)
            counts = await self.process.call(
                _record_in_child, root, database, settings, student, week
            )
        newest = max(time for _, time in graded)
        await asyncio.to_thread(self._ledger.mark_recorded, student, week, counts, newest)


# In the child process


def _record_in_child(root: Path, database: str, settings: Settings, student: str, week: str) -> str:
    engine = _engine(database)
    return record_submissions(load(root), Queue(engine), Ledger(engine), settings, student, week)


_engine = cache(open_database)


def record_submissions(
    course: Course, queue: Queue, ledger: Ledger, settings: Settings, student: str, week_name: str
) -> str:
    """Accept and record a student's graded submissions of a week, oldest first.

    Return the receipt of the submission that counts, or "" if it did not arrive here.
    """
    from ...nbgrader.autograde.recorder import require_released

    week = course.week(week_name)
    require_released(course, week)
    submissions = [submission for submission, _ in ledger.graded(student, week.name)]
    latest = max(submissions, key=recency)
    by_time = {format_received(s.received): s.receipt for s in submissions}
    scored = set()
    for submission in submissions:
        received = format_received(submission.received)
        history = read_history(course, week, student)
        known = next((e for e in history.entries if e.handed_in == received), None)
        if known is None:
            content = unpacked(queue.content(submission.digest))
            files = _with_secret(course, week, student, content)
            accept(course, week, student, files, received, "service", whole=True)
        elif submission is not latest:
            continue
        elif submission.restored > submission.received and known.number != history.current:
            put_in_place(course, week, student, known.number, restored=True)
        current = _current_entry(course, week, student)
        if current is not None and current.handed_in == received:
            _record_score(course, week, settings, student, queue.result(submission.receipt))
            scored.add(received)
    current = _current_entry(course, week, student)
    counts = by_time.get(current.handed_in, "") if current else ""
    if current and counts and current.handed_in not in scored:
        # an earlier run may have been killed before it recorded the score
        _record_score(course, week, settings, student, queue.result(counts))
    return counts


def _current_entry(course: Course, week: Week, student: str) -> Entry | None:
    history = read_history(course, week, student)
    return history.entry(history.current)


def _record_score(
    course: Course, week: Week, settings: Settings, student: str, report: SubmissionReport | None
) -> None:
    from ...nbgrader.autograde.recorder import record

    if report is None:
        raise KitError("a graded submission has no result")
    reports = (msgspec.structs.replace(report, name=student),)
    recording = record(course, week, Report(week.name, settings.devices, reports, settings.sandbox))
    if error := recording.left_out.get(student):
        raise KitError(error)


def _with_secret(
    course: Course, week: Week, student: str, files: dict[str, bytes]
) -> dict[str, bytes]:
    """Add the secret with which the student fetches nbgrader's feedback."""
    if SECRET_FILE in files:
        return files
    secret = earlier_files(course, week, student).get(SECRET_FILE)
    return files | {SECRET_FILE: secret or secrets.token_hex(64).encode()}
