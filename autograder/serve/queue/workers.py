"""Processes that grade, one try at a time each, with an engine for every week that they met.

A lane's process ends with the service, however that ends. One that dies takes down the try that it
was grading and no other. After each try it says how much memory it holds with all that it started;
beyond its share the engine that was not used for the longest time goes, and at last the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from typing import Any

import msgspec

from ...batch.intake import Submission
from ...batch.pool import Job, cached_engine, end_oldest_engine, grade_job, settle_in
from ...model.report.schema import SubmissionReport

# Called with the receipt and the exercise when a check has run.
Heard = Callable[[str, str], None]


class LaneDied(Exception):
    """The process ended while it graded."""


class Graded(msgspec.Struct, frozen=True):
    """A report, and what the process holds after it, in MiB."""

    report: SubmissionReport
    mib: int


class Helper:
    """A process that does one thing at a time; made at its first use and again after it died."""

    def __init__(self, name: str, niceness: int) -> None:
        self.name, self.niceness = name, niceness
        self.deaths = 0
        self._pool: ProcessPoolExecutor | None = None

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function returns or raises there; raises LaneDied if the process ends."""
        pool = self._pool or self._start()
        try:
            return await asyncio.wrap_future(pool.submit(function, *arguments))
        except BrokenProcessPool:
            self.deaths += 1
            self.end()
            raise LaneDied(f"the process {self.name!r} ended unexpectedly") from None

    def _start(self, *more: Any) -> ProcessPoolExecutor:
        context = get_context("spawn")
        cores = context.SimpleQueue()
        cores.put(frozenset())  # any
        arguments = (cores, self.niceness, *more)
        self._pool = ProcessPoolExecutor(1, context, initializer=_begin, initargs=arguments)
        return self._pool

    def end(self) -> None:
        """End the process, whatever it does; the next call starts another."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)


class Lane(Helper):
    """A process that grades."""

    def __init__(self, number: int, most_mib: int, heard: Heard, niceness: int) -> None:
        super().__init__(f"grading {number}", niceness)
        self.number, self.most_mib, self._heard = number, most_mib, heard
        self.weeks: list[str] = []  # with a warm engine, the last used last
        self.mib = 0
        self.busy = ""  # the week that it grades now
        self._channel: SimpleQueue[Any] | None = None

    async def grade(self, job: Job, submission: Submission, receipt: str) -> SubmissionReport:
        """The report of one submission; raises LaneDied."""
        done: Graded = await self.call(_grade, job, submission, receipt, self.most_mib)
        self._was_used(job.week, done.mib)
        return done.report

    async def warm(self, job: Job) -> None:
        """Make the engine of a week before somebody needs it."""
        self._was_used(job.week, await self.call(_warm, job, self.most_mib))

    def _was_used(self, week: str, mib: int) -> None:
        self.weeks = [w for w in self.weeks if w != week] + [week]
        self.mib = mib
        if mib > self.most_mib:
            self.end()

    def _start(self, *more: Any) -> ProcessPoolExecutor:
        self._channel = get_context("spawn").SimpleQueue()
        threading.Thread(
            target=self._listen, args=(self._channel,), name="progress", daemon=True
        ).start()
        return super()._start(self._channel)

    def _listen(self, channel: SimpleQueue[Any]) -> None:
        """Pass on what the process tells, until its end."""
        with contextlib.suppress(EOFError, OSError, ValueError, TypeError):
            while (said := channel.get()) is not None:
                self._heard(*said)

    def end(self) -> None:
        super().end()
        self.weeks, self.mib = [], 0
        channel, self._channel = self._channel, None
        if channel is not None:
            with contextlib.suppress(OSError, ValueError):
                channel.put(None)


# In the process

_told: SimpleQueue[Any] | None = None


def _begin(
    cores: SimpleQueue[frozenset[int]], niceness: int, channel: SimpleQueue[Any] | None = None
) -> None:
    global _told
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the service's to answer
    settle_in(cores)
    os.nice(niceness)  # whoever answers students goes first
    _told = channel


def _grade(job: Job, submission: Submission, receipt: str, most_mib: int) -> Graded:
    _make_room(most_mib, job)

    def heard(exercise: str, _: bool) -> None:
        if _told is not None:
            _told.put((receipt, exercise))

    report = grade_job(job, submission, heard)
    return Graded(report, _held_mib())


def _warm(job: Job, most_mib: int) -> int:
    _make_room(most_mib, job)
    cached_engine(job)
    return _held_mib()


def _make_room(most_mib: int, job: Job) -> None:
    """Let engines go until what is left of the share can hold another one."""
    while _held_mib() > most_mib * 3 // 4 and end_oldest_engine(but=job):
        pass


def _held_mib() -> int:
    """What this process and its children hold, shared memory counted once for all who share it."""
    import psutil

    total = 0
    me = psutil.Process()
    for process in (me, *me.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            try:
                total += process.memory_full_info().pss
            except psutil.AccessDenied:
                total += process.memory_info().rss
    return total >> 20
