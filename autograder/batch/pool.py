"""A pool of processes on this machine, each with one warm engine.

A process of the pool ends when the one that started it does, however that was killed. A process
that dies takes its pool with it and does not say over which job it died: the rest is run in a new
pool, and at last one job at a time, so that no submission gets a fault for what happened over
another.
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
from ..model.course.loader import load
from ..model.errors import KitError
from ..model.report.schema import SubmissionReport
from ..model.report.verdicts import Ending
from .fingerprint import of_our_own
from .intake import Submission

Finished = Callable[[str, SubmissionReport], None]
# Handed out ahead, for each process: it never waits for the next one.
_AHEAD = 3


class Job(msgspec.Struct, frozen=True):
    """What a worker process must know to grade submissions of a batch."""

    root: str
    week: str
    devices: tuple[str, ...]
    secret: bytes
    sandbox: str
    max_score: float
    depends: bytes = b""  # the hash of graders, solutions and all else that a report depends on


def run_here(
    job: Job, work: Mapping[str, Submission], jobs: int | None, finished: Finished
) -> None:
    """Grade submissions in this process if one is enough, else in a pool."""
    sweep()  # also where all is graded already, and nothing makes a folder
    count = max(1, min(jobs or os.cpu_count() or 1, len(work)))
    if count == 1:
        for key, submission in work.items():
            finished(key, grade_job(job, submission))
    elif work:
        _Batch(job, work, finished).run(count)


class _Batch:
    """Submissions by key on their way through pools; `_left` are those without a report."""

    def __init__(self, job: Job, work: Mapping[str, Submission], finished: Finished) -> None:
        self._job, self._work, self._finished = job, work, finished
        self._left = dict.fromkeys(work)

    def run(self, count: int) -> None:
        """Grade in a pool; a pool that broke is made anew once, then submissions go one by one."""
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
        """Grade what is left, some handed out ahead; return whether the pool broke."""
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
        """Grade one after the other until one breaks the pool; that one is at fault."""
        for key in list(self._left):
            submission = self._work[key]
            try:
                report = pool.submit(grade_job, self._job, submission).result()
            except BrokenProcessPool:
                why = "the grading process died again and again over it"
                report = fault(submission.name, self._job.max_score, why)
            self._settle(key, report)
            if report.verdict is Ending.GRADER_FAULT:
                return  # with a fresh process, whatever it was

    def _settle(self, key: str, report: SubmissionReport) -> None:
        del self._left[key]
        self._finished(key, report)


def process_pool(count: int) -> ProcessPoolExecutor:
    """Processes that import afresh, each on its own core if all are busy."""
    context = get_context("spawn")
    cores = context.SimpleQueue()
    for core in process_cores(count):
        cores.put(core)
    without = [name for name, module in sys.modules.items() if module is None]
    return ProcessPoolExecutor(count, context, initializer=settle_in, initargs=(cores, without))


def process_cores(count: int) -> list[frozenset[int]]:
    """For each process the cores to run on: one if all are busy, else any.

    A grader, its template and its submission take turns and never run at once; on one core they
    find its caches warm and are woken at once.
    """
    if not hasattr(os, "sched_getaffinity"):  # not Linux
        return [frozenset()] * count
    free = sorted(os.sched_getaffinity(0))
    if count < len(free):
        return [frozenset(free)] * count
    return [frozenset({free[number % len(free)]}) for number in range(count)]


def settle_in(cores: SimpleQueue[frozenset[int]], without: Iterable[str] = ()) -> None:
    """Run on the next cores of the queue; end with the process that gives the work.

    One that waited for work for ever would be left when that process was killed. `without`: modules
    that are not to be imported here, as they are not in that process.
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


# With what an engine was made from, and what ends it, at the latest with its process.
# The one that was used last stands last.
_engines: dict[bytes, tuple[bytes, Any, Any]] = {}


def kept_engine(job: Job) -> Any:
    """This process's engine for such jobs, made if there is none yet."""
    from ..grading.warmup import warm_engine
    from ..sandbox import BACKENDS

    key = _engine_key(job)
    made_from, engine, end = _engines.pop(key, (b"", None, None))
    if engine is None or made_from != job.depends:
        if end is not None:  # a grader was mended while this process went on
            end()
        course = load(Path(job.root))
        # whoever made the job has tried this sandbox
        box = None if job.sandbox == "none" else BACKENDS[job.sandbox]()
        week = course.week(job.week)
        kept_for = of_our_own(course, week, job.devices, job.secret, job.sandbox)
        engine = warm_engine(course, week, job.devices, job.secret, box, kept_for)
        engine.look_for_lines(course.registry.suspects)
        # a pool's process ends without `atexit`
        end = Finalize(None, engine.close, exitpriority=0)
    _engines[key] = job.depends, engine, end
    return engine


def end_oldest_engine(but: Job) -> bool:
    """End the engine that was not used for the longest time, but not the one for such jobs.

    Return whether there was one.
    """
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
    """Grade one submission in this process, whose engine is kept for the next.

    heard: told the exercise of each hidden test that was run, and whether it holds.
    """
    from ..sandbox import SandboxError

    try:
        engine = kept_engine(job)
        engine.heard = heard
        report: SubmissionReport = engine.grade(submission.name, submission.files)
        return report
    except (KitError, SandboxError) as error:
        return fault(submission.name, job.max_score, str(error))
    except Exception as error:  # of one submission, never of the batch
        return fault(submission.name, job.max_score, f"{type(error).__name__}: {error}")


def fault(name: str, max_score: float, why: str) -> SubmissionReport:
    """The report of a submission that we could not grade."""
    return SubmissionReport(
        name=name,
        verdict=Ending.GRADER_FAULT,
        score=0.0,
        max_score=max_score,
        seconds=0.0,
        message=f"The grading system failed, not the submission: {why}",
    )
