"""Grade submissions in a pool of local processes, each with a warm engine.

A process of the pool ends when its parent ends, even if the parent is killed. If a process of the
pool dies, the pool breaks without identifying the job that was responsible. The jobs in the pool
then run one at a time, each in its own process, so that no submission gets an error that a
different one caused. The remaining jobs run in a new pool.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import msgspec

from ..files import sweep
from ..model.course import load
from ..model.errors import KitError
from ..model.report.schema import Ending, SubmissionReport
from .intake import Submission
from .store import trusted_fingerprint

Finished = Callable[[str, SubmissionReport], None]
# Jobs submitted in advance for each process, so that processes never wait.
_AHEAD = 3
# A process can be killed for reasons that are not its submission's, such as a lack of memory.
_ATTEMPTS_ALONE = 2


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
    sweep()  # remove left-over work folders even if no submission needs grading
    count = max(1, min(jobs or os.cpu_count() or 1, len(work)))
    if count == 1:
        for key, submission in work.items():
            finished(key, grade_job(job, submission))
    elif work:
        _run_in_pools(job, work, count, finished)


def _run_in_pools(job: Job, work: Mapping[str, Submission], count: int, finished: Finished) -> None:
    """Grade in a pool; if it breaks, grade its jobs one at a time, and the rest in a new pool."""
    waiting = deque(work)
    while waiting:
        pool = process_pool(count)
        try:
            suspects = _drain(pool, job, work, waiting, count * _AHEAD, finished)
        finally:
            pool.shutdown(cancel_futures=True)
        for key in suspects:
            finished(key, _grade_alone(job, work[key]))


def _drain(
    pool: Executor,
    job: Job,
    work: Mapping[str, Submission],
    waiting: deque[str],
    ahead: int,
    finished: Finished,
) -> list[str]:
    """Grade the waiting submissions; return the keys that were in the pool when it broke."""
    out: dict[Future[SubmissionReport], tuple[str, str]] = {}
    suspects: list[str] = []
    while out or (waiting and not suspects):
        while waiting and not suspects and len(out) < ahead:
            submission = work[waiting[0]]
            try:
                future = pool.submit(grade_job, job, submission)
            except BrokenProcessPool:  # every job in the pool raises this error
                break
            out[future] = waiting.popleft(), submission.name
        if not out:
            break
        done, _ = wait(out, return_when=FIRST_COMPLETED)
        for future in done:
            key, name = out.pop(future)
            try:
                report = future.result()
            except BrokenProcessPool:
                suspects.append(key)
                continue
            except Exception as error:  # such as a report that cannot be sent between processes
                report = fault(name, job.max_score, f"{type(error).__name__}: {error}")
            finished(key, report)
    return suspects


def _grade_alone(job: Job, submission: Submission) -> SubmissionReport:
    for _ in range(_ATTEMPTS_ALONE):
        with process_pool(1) as pool, contextlib.suppress(BrokenProcessPool):
            return pool.submit(grade_job, job, submission).result()
    return fault(submission.name, job.max_score, "the grading process died repeatedly")


def process_pool(count: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes that end with this process."""
    return ProcessPoolExecutor(count, get_context("spawn"), initializer=end_with_parent)


def end_with_parent() -> None:
    """Exit this process when its parent exits, even if the parent is killed.

    Otherwise a process that waits for jobs would outlive it.
    """
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


# Key -> (fingerprint, engine, finalizer)
_engines: dict[bytes, tuple[bytes, Any, Any]] = {}


def cached_engine(job: Job) -> Any:
    """Return this process's engine for a job; create it if necessary."""
    from ..grading.warmup import warm_engine
    from ..sandbox import BACKENDS

    key = _engine_key(job)
    made_from, engine, end = _engines.pop(key, (b"", None, None))
    if engine is None or made_from != job.depends:
        if end is not None:  # the grader was changed while this process was running
            end()
        course = load(Path(job.root))
        # the parent process has tested this sandbox
        box = None if job.sandbox == "none" else BACKENDS[job.sandbox]()
        week = course.week(job.week)
        cached_for = trusted_fingerprint(course, week, job.devices, job.secret)
        engine = warm_engine(course, week, job.devices, job.secret, box, cached_for)
        engine.locate_mistakes(course.registry.suspects)
        # processes of a pool exit without running `atexit` functions
        end = Finalize(None, engine.close, exitpriority=0)
    _engines[key] = job.depends, engine, end
    return engine


def _engine_key(job: Job) -> bytes:
    return msgspec.msgpack.encode((job.root, job.week, job.devices, job.sandbox))


def grade_job(
    job: Job, submission: Submission, heard: Callable[[str, bool], None] | None = None
) -> SubmissionReport:
    """Grade one submission in this process and cache the engine.

    heard: called after each hidden test with its exercise and True if it passed
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
