"""Send submissions from the queue to grading processes or a cluster, and store the results.

A submission whose grading fails because of a system error is retried with exponential back-off.
Writing a result is retried until the database accepts it, so no result is lost.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from ..files import WorkFolder, write_files
from ..model.course import Course, Week
from ..model.errors import KitError
from ..model.report.schema import Ending, SubmissionReport
from ..nbgrader.collect.history import read_student
from ..nbgrader.release.archive import course_for
from .grading_process import GradingProcess, PreparedSubmission
from .shared_state import SharedState
from .submissions.upload import unpacked
from .tables import QueuedSubmission, error_text, first_line

_PAUSE, _LONGEST_PAUSE = 5.0, 600.0  # first and longest wait (s) before a retry
WRITE_RETRY_SECONDS = 2.0
_POLL_SECONDS = 0.25  # while the queue is empty or no process is idle


class Dispatcher:
    """Takes submissions from the queue whenever a grading process is idle.

    on_finished: called in a separate thread with each submission whose result has been stored
    """

    def __init__(
        self,
        state: SharedState,
        processes: Sequence[GradingProcess],
        on_finished: Callable[[QueuedSubmission], None],
    ) -> None:
        self.courses, self.queue, self.incidents = state.courses, state.queue, state.incidents
        self._processes, self._on_finished = processes, on_finished
        self._idle = list(processes)
        self._freed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Send queued submissions to idle processes until cancelled."""
        while True:
            submission = await self._claim() if self._idle else None
            if submission is None:
                self._freed.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._freed.wait(), _POLL_SECONDS)
                continue
            week = submission.week
            # prefer processes that have loaded the week's engine, then those with few engines
            process = min(self._idle, key=lambda p: (week not in p.weeks, len(p.weeks)))
            self._idle.remove(process)
            task = asyncio.create_task(self._grade(process, submission))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Kill all processes. Unfinished submissions are requeued when the service restarts."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for process in self._processes:
            await asyncio.to_thread(process.end)

    async def _claim(self, week: str | None = None) -> QueuedSubmission | None:
        try:
            submission = await asyncio.to_thread(self.queue.claim, week)
        except SQLAlchemyError as error:
            self.incidents.open("database", f"the database does not answer: {first_line(error)}")
            return None
        self.incidents.close("database")
        return submission

    async def _grade(self, process: GradingProcess, first: QueuedSubmission) -> None:
        """Grade a submission, and more submissions for its week if the process grades batches."""
        started = time.monotonic()
        ungraded = {first.receipt: first}

        async def done(receipt: str, report: SubmissionReport) -> None:
            submission = ungraded.pop(receipt)
            if report.verdict is Ending.GRADER_FAULT:
                await self._put_back(submission, report.message)
            else:
                await self._finish(submission, report, time.monotonic() - started)

        process.busy = first.week
        try:
            while len(ungraded) < process.max_batch and (more := await self._claim(first.week)):
                ungraded[more.receipt] = more
            prepared = {
                receipt: await asyncio.to_thread(self._prepare, submission)
                for receipt, submission in list(ungraded.items())
            }
            await process.grade(prepared, done)
        except Exception as error:  # an error in these submissions must not end the service
            for submission in ungraded.values():
                await self._put_back(submission, error_text(error))
        finally:
            process.busy = ""
            self._idle.append(process)
            self._freed.set()

    def _prepare(self, submission: QueuedSubmission) -> PreparedSubmission:
        week = self.courses.week(submission.week)
        if week is None:
            raise KitError(f"{submission.week} is no longer in course.yaml")
        return prepare(self.courses.now, week, submission, self.queue.content(submission.digest))

    async def _finish(
        self, submission: QueuedSubmission, report: SubmissionReport, seconds: float
    ) -> None:
        await self.retry_write(self.queue.finish, submission, report, seconds)
        await asyncio.to_thread(self._on_finished, submission)
        self.incidents.close("grading")

    async def _put_back(self, submission: QueuedSubmission, error: str) -> None:
        pause = min(_LONGEST_PAUSE, _PAUSE * 2 ** (submission.attempts - 1))
        await self.retry_write(self.queue.put_back, submission, error, pause)
        self.incidents.open(
            "grading",
            f"{submission.receipt} ({submission.week}) could not be graded: {error}; "
            f"next attempt in {pause:.0f} s",
        )

    async def retry_write(self, write: Callable[..., None], *arguments: Any) -> None:
        """Call `write` in a thread; after a database or disk error, retry until it succeeds."""
        while True:
            try:
                await asyncio.to_thread(write, *arguments)
                break
            except (SQLAlchemyError, OSError) as error:
                self.incidents.open("writing", f"a result cannot be stored: {first_line(error)}")
                await asyncio.sleep(WRITE_RETRY_SECONDS)
        self.incidents.close("writing")


def prepare(
    course: Course, week: Week, queued: QueuedSubmission, content: bytes
) -> PreparedSubmission:
    """Unpack a queued submission's zip, and read the files as `autograder grade` does."""
    with closing(WorkFolder()) as work_folder:
        folder = work_folder.path / week.name
        write_files(folder, unpacked(content))
        submission = read_student(course, week, queued.student, folder)
        release = course_for(course, week, queued.student, folder)
    return PreparedSubmission(release, release.week(week.name), submission)
