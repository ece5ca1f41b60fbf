"""Child processes that grade one submission at a time, with an engine per week.

A child ends with the service, also if the service is killed. A child that dies takes only the
submission with it that it was grading. After each submission it reports its memory use,
including its children. Above its share it drops the least recently used engines; if that is not
enough, it is restarted.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from ...batch.intake import Submission
from ...batch.pool import Job, cached_engine, end_oldest_engine, end_with_parent, grade_job
from ...model.errors import KitError
from ...model.report.schema import SubmissionReport


class ProcessDied(KitError):
    """A child process ended during a call."""


class ChildProcess:
    """A process that runs one function at a time; started on first use and after it died."""

    def __init__(self, name: str, niceness: int) -> None:
        self.name, self.niceness = name, niceness
        self.deaths = 0
        self._pool: ProcessPoolExecutor | None = None

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in the process; raise ProcessDied if the process ends."""
        pool = self._pool or self._start()
        try:
            return await asyncio.wrap_future(pool.submit(function, *arguments))
        except BrokenProcessPool:
            self.deaths += 1
            self.end()
            raise ProcessDied(f"the process {self.name!r} ended unexpectedly") from None

    def _start(self) -> ProcessPoolExecutor:
        context = get_context("spawn")
        arguments = (self.niceness,)
        self._pool = ProcessPoolExecutor(1, context, initializer=_initialize, initargs=arguments)
        return self._pool

    def end(self) -> None:
        """Kill the process; the next call starts another one."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)


class GradingProcess(ChildProcess):
    """A child process with engines. `max_mib`: its share of the memory."""

    def __init__(self, number: int, max_mib: int, niceness: int) -> None:
        super().__init__(f"grading {number}", niceness)
        self.number, self.max_mib = number, max_mib
        self.weeks: list[str] = []  # with an engine, the most recently used last
        self.mib = 0
        self.busy = ""  # the week that is being graded

    async def grade(self, job: Job, submission: Submission) -> SubmissionReport:
        report: SubmissionReport
        report, mib = await self.call(_grade, job, submission, self.max_mib)
        self._used(job.week, mib)
        return report

    async def warm_up(self, job: Job) -> None:
        """Create a week's engine before a submission needs it."""
        self._used(job.week, await self.call(_warm_up, job, self.max_mib))

    def _used(self, week: str, mib: int) -> None:
        self.weeks = [w for w in self.weeks if w != week] + [week]
        self.mib = mib
        if mib > self.max_mib:
            self.end()

    def end(self) -> None:
        super().end()
        self.weeks, self.mib = [], 0


# In the child process


def _initialize(niceness: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service handles Ctrl-C
    end_with_parent()
    os.nice(niceness)  # requests have priority over grading


def _grade(job: Job, submission: Submission, max_mib: int) -> tuple[SubmissionReport, int]:
    """Return a report, and the memory that this process uses afterwards in MiB."""
    _drop_engines(max_mib, job)
    return grade_job(job, submission), _used_mib()


def _warm_up(job: Job, max_mib: int) -> int:
    _drop_engines(max_mib, job)
    cached_engine(job)
    return _used_mib()


def _drop_engines(max_mib: int, job: Job) -> None:
    """Drop engines until the process's share of memory has room for another one."""
    while _used_mib() > max_mib * 3 // 4 and end_oldest_engine(but=job):
        pass


def _used_mib() -> int:
    """Return the memory of this process and its children; shared pages count once."""
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
