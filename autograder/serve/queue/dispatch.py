"""Send submissions from the queue to grading processes or a cluster, and store the results.

A submission whose grading fails because of a system error is retried with exponential back-off;
after several attempts it is `stuck` until an instructor retries it. Writes that the database or the
disk refuses are retried until they succeed, so no result is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from ...batch.pool import Job
from ...model.errors import KitError
from ...model.report.schema import SubmissionReport
from ...model.report.verdicts import Ending
from ..shared_state import SharedState
from ..tables import error_text, first_line
from .cluster_dispatch import MAX_BATCH, ClusterBatches
from .grading_process import GradingProcess
from .jobs import PreparedSubmission, job_for, prepare
from .queued_submission import STUCK, QueuedSubmission
from .wait_estimate import estimate_wait

_MAX_ATTEMPTS = 4
_PAUSE, _LONGEST_PAUSE = 5.0, 300.0  # seconds between attempts
WRITE_RETRY_SECONDS = 2.0
_POLL_SECONDS = 1.0  # maximum time between two looks at the queue

Result = TypeVar("Result")


class _GradingFailed(KitError):
    """A system error, described for the instructor."""


class Dispatcher:
    """Keep the grading processes busy.

    on_finished: called in a thread with each submission and its report
    """

    def __init__(
        self,
        state: SharedState,
        processes: Sequence[GradingProcess],
        on_finished: Callable[[QueuedSubmission, SubmissionReport], None],
    ) -> None:
        self._state, self.processes, self._on_finished = state, processes, on_finished
        self.courses, self.queue = state.courses, state.queue
        self.incidents, self.updates = state.incidents, state.updates
        settings = state.settings
        self._how = settings.devices, settings.sandbox
        self._cluster = ClusterBatches(settings.cluster, *self._how) if settings.cluster else None
        self.wake = asyncio.Event()
        self._idle = list(processes)
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Grade submissions of the queue until cancelled."""
        while True:
            self.wake.clear()
            submission = await self._claim() if self._idle else None
            if submission is None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.wake.wait(), _POLL_SECONDS)
                continue
            week = submission.week
            # prefer a process that has the week's engine, then the one with the fewest engines
            process = min(self._idle, key=lambda p: (week not in p.weeks, len(p.weeks)))
            if self._cluster is None:
                self._start(process, week, self._grade(process, submission))
            else:
                self._start(process, week, self._grade_batch(self._cluster, submission))

    def _start(self, process: GradingProcess, label: str, work: Coroutine[Any, Any, None]) -> None:
        self._idle.remove(process)
        task = asyncio.create_task(self._occupy(process, label, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _occupy(self, process: GradingProcess, label: str, work: Awaitable[None]) -> None:
        process.busy = label
        try:
            await work
        finally:
            process.busy = ""
            self._idle.append(process)
            self.wake.set()

    async def close(self) -> None:
        """End all processes; unfinished submissions are graded after the next start."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for process in self.processes:
            process.end()
        if self._cluster is not None:
            await asyncio.to_thread(self._cluster.close)

    async def warm_up(self) -> None:
        """Create the engine of the week that is due next, in every process."""
        weeks = await asyncio.to_thread(self.courses.open_weeks)
        if not weeks or self._cluster is not None:
            return
        course = await asyncio.to_thread(lambda: self.courses.now)
        job = await asyncio.to_thread(job_for, course, weeks[0], *self._how)
        for process in [process for process in self._idle if not process.weeks]:
            self._start(process, f"{job.week} (warming up)", self._warm_up(process, job))

    async def _warm_up(self, process: GradingProcess, job: Job) -> None:
        try:
            await process.warm_up(job)
        except Exception as error:  # reported again when a submission of the week is graded
            self.incidents.open("warm", f"no engine for {job.week}: {error_text(error)}")

    async def _claim(self, weeks: Sequence[str] | None = None) -> QueuedSubmission | None:
        try:
            submission = await asyncio.to_thread(self.queue.claim, weeks)
        except SQLAlchemyError as error:
            self.incidents.open("database", f"the database does not answer: {first_line(error)}")
            return None
        self.incidents.close("database")
        return submission

    # In a grading process

    async def _grade(self, process: GradingProcess, submission: QueuedSubmission) -> None:
        self.updates.notify(submission.receipt)
        started = time.monotonic()
        try:
            report = await self._report(process, submission)
        except Exception as error:  # of one submission, never of the service
            await self._put_back(submission, error_text(error))
        else:
            await self._finish(submission, report, time.monotonic() - started)
        self.updates.notify(submission.receipt)

    async def _report(
        self, process: GradingProcess, submission: QueuedSubmission
    ) -> SubmissionReport:
        prepared = await asyncio.to_thread(self._prepare, submission)
        if prepared.report is not None:
            return prepared.report
        limit = 10 * prepared.course.limits(prepared.week).submission_seconds + 120
        try:
            grading = process.grade(prepared.job, prepared.submission)
            report = await asyncio.wait_for(grading, limit)
        except TimeoutError:
            process.end()
            raise _GradingFailed(f"grading was stopped after {limit:.0f} s") from None
        if report.verdict is Ending.GRADER_FAULT:
            raise _GradingFailed(report.message)
        return await asyncio.to_thread(prepared.store_result, report)

    def _prepare(self, submission: QueuedSubmission) -> PreparedSubmission:
        week = self.courses.week(submission.week)
        if week is None:
            raise _GradingFailed(f"{submission.week} is no longer in course.yaml")
        content = self.queue.content(submission.digest)
        return prepare(self.courses.now, week, submission, content, *self._how)

    # On a cluster

    async def _grade_batch(self, cluster: ClusterBatches, first: QueuedSubmission) -> None:
        """Grade the waiting submissions of a week in one batch; store each result at once."""
        started = time.monotonic()
        ungraded = {first.receipt: first}
        loop = asyncio.get_running_loop()

        def done(receipt: str, report: SubmissionReport) -> None:
            seconds = time.monotonic() - started
            came_back = self._came_back(ungraded.pop(receipt), report, seconds)
            asyncio.run_coroutine_threadsafe(came_back, loop)

        try:
            while len(ungraded) < MAX_BATCH and (more := await self._claim([first.week])):
                ungraded[more.receipt] = more
            prepared: dict[str, PreparedSubmission] = {}
            for receipt, submission in list(ungraded.items()):
                self.updates.notify(receipt)
                prepared[receipt] = await asyncio.to_thread(self._prepare, submission)
            await asyncio.to_thread(cluster.grade, prepared, done)
        except Exception as error:  # of one batch, never of the service
            for submission in list(ungraded.values()):
                await self._put_back(submission, error_text(error))

    async def _came_back(
        self, submission: QueuedSubmission, report: SubmissionReport, seconds: float
    ) -> None:
        if report.verdict is Ending.GRADER_FAULT:
            await self._put_back(submission, report.message)
        else:
            await self._finish(submission, report, seconds)
        self.updates.notify(submission.receipt)

    # Results

    async def _finish(
        self, submission: QueuedSubmission, report: SubmissionReport, seconds: float
    ) -> None:
        await self.retry_write(self.queue.finish, submission, report, seconds)
        await asyncio.to_thread(self._on_finished, submission, report)
        self.incidents.close("grading")

    async def _put_back(self, submission: QueuedSubmission, error: str) -> None:
        pause = min(_LONGEST_PAUSE, _PAUSE * 2 ** (submission.attempts - 1))
        state = await self.retry_write(self.queue.put_back, submission, error, pause, _MAX_ATTEMPTS)
        next_step = "choose Grade again" if state == STUCK else f"next attempt in {pause:.0f} s"
        self.incidents.open(
            "grading",
            f"{submission.receipt} ({submission.week}) could not be graded: {error}; {next_step}",
        )

    async def retry_write(self, write: Callable[..., Result], *arguments: Any) -> Result:
        """Call `write` in a thread until the database accepts it; return its result."""
        while True:
            try:
                result = await asyncio.to_thread(write, *arguments)
            except (SQLAlchemyError, OSError) as error:
                self.incidents.open("writing", f"a result cannot be stored: {first_line(error)}")
                await asyncio.sleep(WRITE_RETRY_SECONDS)
                continue
            self.incidents.close("writing")
            return result

    def estimate(self, submission: QueuedSubmission) -> tuple[int, float]:
        """Return how many submissions are ahead, and the seconds until this one is graded."""
        warm = any(submission.week in process.weeks for process in self.processes)
        warm = warm or self._cluster is not None
        return estimate_wait(self.queue, submission, max(1, len(self.processes)), warm=warm)
