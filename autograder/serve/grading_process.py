"""Grade submissions in child processes or on a Dask cluster.

A child process loads a grading engine for each week. The process exits when the service exits, even
if the service is killed. If the process dies, only the submission that it was grading is affected.
If the process uses more than its share of memory after grading a submission, it is restarted before
the next one. The connection to a cluster stays open, so workers receive the files once.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

import msgspec

from ..batch.cluster import Cluster
from ..batch.grade import grade_batch
from ..batch.intake import Submission
from ..batch.pool import process_pool
from ..model.course import Course, Week
from ..model.errors import KitError
from ..model.report.schema import SubmissionReport
from .shared_state import Settings

Done = Callable[[str, SubmissionReport], Coroutine[Any, Any, None]]  # takes receipt and report


class ChildProcess:
    """A process that runs one function at a time. `submit` starts it if it is not running."""

    def __init__(self, name: str, niceness: int) -> None:
        self.name, self.niceness = name, niceness  # requests have priority over grading
        self.deaths = 0
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run a function in the process and return its future result."""
        if self._pool is None:
            self._pool = process_pool(1, self.niceness)
        return self._pool.submit(function, *arguments)

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a function in the process and return its result; raise KitError if it dies."""
        try:
            return await asyncio.wrap_future(self.submit(function, *arguments))
        except BrokenProcessPool:
            self.deaths += 1
            self.end()
            raise KitError(f"the process {self.name!r} ended unexpectedly") from None

    def end(self) -> None:
        """Kill the process. The next call starts a new process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)


class PreparedSubmission(NamedTuple):
    """A submission, with the release of the course and week that the student received."""

    course: Course
    week: Week
    submission: Submission


class GradingProcess(ChildProcess):
    """A child process that grades submissions.

    max_mib: stop the process if it uses more memory (MiB) after grading a submission
    """

    max_batch = 1  # maximum number of submissions in a call of `grade`

    def __init__(self, number: int, max_mib: int, settings: Settings) -> None:
        super().__init__(f"grading {number}", settings.niceness)
        self.number, self.max_mib, self.settings = number, max_mib, settings
        self.weeks: list[str] = []  # the weeks whose engine the process has loaded
        self.mib = 0
        self.busy = ""  # the week that the process is grading, or ""

    async def grade(self, prepared: Mapping[str, PreparedSubmission], done: Done) -> None:
        """Grade submissions, given by receipt, and pass each report to `done`.

        Raise KitError if the process dies or takes too long.
        """
        for receipt, (course, week, submission) in prepared.items():
            limit = 10 * course.limits(week).submission_seconds + 120
            how = self.settings.devices, self.settings.sandbox
            try:
                grading = self.call(_grade, course, week, submission, *how)
                report, self.mib = await asyncio.wait_for(grading, limit)
            except TimeoutError:
                self.end()
                raise KitError(f"no result after {limit:.0f} s") from None
            if week.name not in self.weeks:
                self.weeks.append(week.name)
            if self.mib > self.max_mib:
                self.end()
            await done(receipt, report)

    def end(self) -> None:
        super().end()
        self.weeks, self.mib = [], 0


# In the child process


def _grade(
    course: Course, week: Week, submission: Submission, devices: tuple[str, ...], sandbox: str
) -> tuple[SubmissionReport, int]:
    """Grade a submission; return the report and the memory (MiB) that is in use afterwards."""
    graded = grade_batch(course, week, [submission], devices=devices, jobs=1, sandbox=sandbox)
    return graded.submissions[0], _used_mib()


def _used_mib() -> int:
    """Return the memory use (MiB) of this process and its children, counting shared pages once."""
    import psutil

    total = 0
    this = psutil.Process()
    for process in (this, *this.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            try:
                total += process.memory_full_info().pss
            except psutil.AccessDenied:
                total += process.memory_info().rss
    return total >> 20


class ClusterGrader(GradingProcess):
    """Grades batches of submissions on a cluster, one batch at a time."""

    max_batch = 64

    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        from ..batch.cluster.client import ClusterSession

        super().__init__(1, 0, settings)
        self._session = ClusterSession(cluster)

    async def grade(self, prepared: Mapping[str, PreparedSubmission], done: Done) -> None:
        by_release: dict[str, dict[str, PreparedSubmission]] = defaultdict(dict)
        for receipt, submission in prepared.items():
            by_release[str(submission.course.root)][receipt] = submission
        for batch in by_release.values():
            await asyncio.to_thread(self._grade_release, batch, done, asyncio.get_running_loop())

    def _grade_release(
        self, batch: Mapping[str, PreparedSubmission], done: Done, loop: asyncio.AbstractEventLoop
    ) -> None:
        def on_done(report: SubmissionReport) -> None:
            student = batch[report.name].submission.name
            named = msgspec.structs.replace(report, name=student)
            asyncio.run_coroutine_threadsafe(done(report.name, named), loop).result()

        course, week, _ = next(iter(batch.values()))
        grade_batch(
            course,
            week,
            [msgspec.structs.replace(p.submission, name=receipt) for receipt, p in batch.items()],
            devices=self.settings.devices,
            sandbox=self.settings.sandbox,
            cluster=self.settings.cluster,
            session=self._session,
            on_done=on_done,
        )

    def end(self) -> None:
        self._session.close()
