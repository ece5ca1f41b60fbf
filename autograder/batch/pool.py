"""Grade submissions in a pool of local processes, each with a warm engine.

A process of the pool ends when its parent ends, even if the parent is killed. If a process of the
pool dies, the pool breaks without naming the job that was responsible. The remaining jobs then run
in a new pool, and finally one at a time, so that a submission never gets a fault that another
caused.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process
from multiprocessing.queues import SimpleQueue
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import msgspec

from ..files.workfolder import sweep
from ..model.course import load
from ..model.errors import KitError
from ..model.report.schema import SubmissionReport
from ..model.report.verdicts import Ending
from .fingerprint import trusted_fingerprints
from .intake import Submission

Finished = Callable[[str, SubmissionReport], None]
# Jobs submitted in advance for each process, so that processes never wait.
_AHEAD = 3


class Job(msgspec.Struct, frozen=True):
    """The parameters that a worker process needs to grade the submissions of a batch."""

    root: str
    week: str
    devices: tuple[str, ...]
    secret: bytes
    sandbox: str
    max_score: float
    depends: bytes = b""  # see `fingerprint`


def run_here(
    job: Job, work: Mapping[str, Submission], jobs: int | None, finished: Finished
) -> None:
    """Grade submissions in this process if one is enough, otherwise in a pool."""
    sweep()  # remove left-over work folders even if there is nothing to grade
    count = max(1, min(jobs or os.cpu_count() or 1, len(work)))
    if count == 1:
        for key, submission in work.items():
            finished(key, grade_job(job, submission))
    elif work:
        _Batch(job, work, finished).run(count)


class _Batch:
    """Submissions by key, graded in one pool after another; `_left` have no report yet."""

    def __init__(self, job: Job, work: Mapping[str, Submission], finished: Finished) -> None:
        self._job, self._work, self._finished = job, work, finished
        self._left = dict.fromkeys(work)

    def run(self, count: int) -> None:
        """Grade in a pool, in a second one if it breaks, and then one submission at a time."""
        for _ in range(2):
            pool = process_pool(count)
            try:
                broken = self._drain(pool, count * _AHEAD)
            finally:
                pool.shutdown(cancel_futures=True)
            if not broken:
                return
        while self._left:
            with process_pool(1) as pool:
                self._run_alone(pool)

    def _drain(self, pool: Executor, ahead: int) -> bool:
        """Grade the submissions that are left; return True if the pool broke."""
        waiting = deque(self._left)
        out: dict[Future[SubmissionReport], tuple[str, str]] = {}
        broken = False
        while out or (waiting and not broken):
            try:
                while waiting and not broken and len(out) < ahead:
                    submission = self._work[waiting[0]]
                    future = pool.submit(grade_job, self._job, submission)
                    out[future] = waiting.popleft(), submission.name
            except BrokenProcessPool:
                broken = True
            done, _ = wait(out, return_when=FIRST_COMPLETED)
            for future in done:
                key, name = out.pop(future)
                try:
                    report = future.result()
                except BrokenProcessPool:
                    broken = True
                    continue
                except Exception as error:
                    report = fault(name, self._job.max_score, f"{type(error).__name__}: {error}")
                self._settle(key, report)
        return broken

    def _run_alone(self, pool: Executor) -> None:
        """Grade one submission at a time; the one that breaks the pool gets the fault."""
        for key in list(self._left):
            submission = self._work[key]
            try:
                report = pool.submit(grade_job, self._job, submission).result()
            except BrokenProcessPool:
                why = "the grading process died repeatedly"
                report = fault(submission.name, self._job.max_score, why)
            self._settle(key, report)
            if report.verdict is Ending.GRADER_FAULT:
                return  # continue with a new process

    def _settle(self, key: str, report: SubmissionReport) -> None:
        del self._left[key]
        self._finished(key, report)


def process_pool(count: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes, each pinned to a core if all cores are used."""
    context = get_context("spawn")
    cores = context.SimpleQueue()
    for core in process_cores(count):
        cores.put(core)
    without = [name for name, module in sys.modules.items() if module is None]
    return ProcessPoolExecutor(count, context, initializer=settle_in, initargs=(cores, without))


def process_cores(count: int) -> list[frozenset[int]]:
    """Return the cores of each process: one core each if all are used, otherwise any core.

    A grader, its template and its submission never run at the same time; on one core they share its
    caches and wake up faster.
    """
    if not hasattr(os, "sched_getaffinity"):  # not Linux
        return [frozenset()] * count
    free = sorted(os.sched_getaffinity(0))
    if count < len(free):
        return [frozenset(free)] * count
    return [frozenset({free[number % len(free)]}) for number in range(count)]


def settle_in(cores: SimpleQueue[frozenset[int]], without: Iterable[str] = ()) -> None:
    """Initialize a process of the pool: pin it to the next cores, and exit when the parent exits.

    Otherwise a process that waits for jobs would outlive a parent that was killed.

    without: modules that must not be imported here, because the parent blocks them
    """
    modules: dict[str, object] = sys.modules  # type: ignore[assignment]  # None where import fails
    for name in without:
        modules.setdefault(name, None)
    own = cores.get()
    if own:
        os.sched_setaffinity(0, own)
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


# Key -> (fingerprint, engine, finalizer), the most recently used engine last.
_engines: dict[bytes, tuple[bytes, Any, Any]] = {}


def cached_engine(job: Job) -> Any:
    """Return this process's engine for a job; create it if necessary."""
    from ..grading.warmup import warm_engine
    from ..sandbox import BACKENDS

    key = _engine_key(job)
    made_from, engine, end = _engines.pop(key, (b"", None, None))
    if engine is None or made_from != job.depends:
        if end is not None:  # a grader changed while this process was running
            end()
        course = load(Path(job.root))
        # the parent process has tested this sandbox
        box = None if job.sandbox == "none" else BACKENDS[job.sandbox]()
        week = course.week(job.week)
        cached_for = trusted_fingerprints(course, week, job.devices, job.secret, job.sandbox)
        engine = warm_engine(course, week, job.devices, job.secret, box, cached_for)
        engine.locate_mistakes(course.registry.suspects)
        # processes of a pool exit without running `atexit` functions
        end = Finalize(None, engine.close, exitpriority=0)
    _engines[key] = job.depends, engine, end
    return engine


def end_oldest_engine(but: Job) -> bool:
    """Close the least recently used engine other than that of `but`; return False without one."""
    others = [key for key in _engines if key != _engine_key(but)]
    if others:
        _, _, end = _engines.pop(others[0])
        end()
    return bool(others)


def _engine_key(job: Job) -> bytes:
    return msgspec.msgpack.encode((job.root, job.week, job.devices, job.sandbox))


def grade_job(
    job: Job, submission: Submission, heard: Callable[[str, bool], None] | None = None
) -> SubmissionReport:
    """Grade one submission in this process and cache the engine.

    heard: called with the exercise of each finished hidden test and whether the test passed
    """
    from ..sandbox import SandboxError

    try:
        engine = cached_engine(job)
        engine.on_test = heard
        report: SubmissionReport = engine.grade(submission.name, submission.files)
        return report
    except (KitError, SandboxError) as error:
        return fault(submission.name, job.max_score, str(error))
    except Exception as error:  # an error in one submission must not end the batch
        return fault(submission.name, job.max_score, f"{type(error).__name__}: {error}")


def fault(name: str, max_score: float, why: str) -> SubmissionReport:
    """Return the report of a submission that could not be graded because of a system error."""
    return SubmissionReport(
        name=name,
        verdict=Ending.GRADER_FAULT,
        score=0.0,
        max_score=max_score,
        seconds=0.0,
        message=f"The grading system failed, not the submission: {why}",
    )
