"""Grade submissions in local processes that each keep a warm engine.

A grading process exits when its parent exits, even if the parent is killed. If a grading process
dies, a new process replaces it and grades the same submission again, up to `_ATTEMPTS` times in
total. Other submissions are not affected.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process, resource_tracker
from multiprocessing.util import Finalize
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec

from ..files import sweep
from ..model.course import REGISTRY, Course, parse
from ..model.errors import KitError
from ..model.report import scoring
from ..model.report.schema import SubmissionReport
from .intake import Submission
from .store import trusted_fingerprint

Work = Mapping[str, Submission]
Finished = Callable[[str, SubmissionReport], None]
# Retry, because a process can die for reasons unrelated to the submission, such as low memory.
_ATTEMPTS = 3


class Job(msgspec.Struct, frozen=True):
    """The parameters of a batch, from which a grading process creates its engine."""

    root: str
    week: str
    devices: tuple[str, ...]
    secret: bytes
    sandbox: str
    depends: bytes  # from `store.fingerprint`

    def course(self) -> Course:
        """Load course.yaml without checking that the course's other files exist."""
        root = Path(self.root)
        return Course(root, parse((root / REGISTRY).read_text(encoding="utf-8")))


def run_here(job: Job, work: Work, jobs: int | None, finished: Finished) -> None:
    """Grade in up to `jobs` processes (default: one per core), or in this one if one is enough."""
    sweep()  # remove left-over work folders even if no submission needs grading
    count = max(1, min(jobs or os.cpu_count() or 1, len(work)))
    if count > 1:
        _run_in_processes(job, work, count, finished)
        return
    for key, submission in work.items():
        finished(key, grade_job(job, submission))


def _run_in_processes(job: Job, work: Work, count: int, finished: Finished) -> None:
    idle = SimpleQueue[ProcessPoolExecutor]()  # pools of one process each
    for _ in range(count):
        idle.put(process_pool(1))

    def grade(submission: Submission) -> SubmissionReport:
        pool = idle.get()
        try:
            for _ in range(_ATTEMPTS):
                try:
                    return pool.submit(grade_job, job, submission).result()
                except BrokenProcessPool:
                    pool = process_pool(1)
            return scoring.fault(submission.name, "the grading process died repeatedly")
        except Exception as error:  # for example, a report that cannot be pickled
            return scoring.fault(submission.name, f"{type(error).__name__}: {error}")
        finally:
            idle.put(pool)

    threads = ThreadPoolExecutor(count)
    try:
        keys = {threads.submit(grade, submission): key for key, submission in work.items()}
        for future in as_completed(keys):
            finished(keys[future], future.result())
    finally:
        wait = sys.exc_info()[0] is None  # after Ctrl-C, do not wait for running submissions
        threads.shutdown(wait, cancel_futures=True)
        while not idle.empty():
            idle.get().shutdown(wait)


class _Pool(ProcessPoolExecutor):
    """A pool of processes in which Ctrl-C has no effect, not even while they start.

    In the main thread, submit jobs before other threads start: they would receive the signal.
    """

    def submit(self, *arguments: Any, **named: Any) -> Any:
        resource_tracker.ensure_running()  # its start unblocks SIGINT
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(*arguments, **named)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def process_pool(count: int, niceness: int = 0) -> ProcessPoolExecutor:
    """Return a pool of `count` spawned processes that exit when this process exits."""
    return _Pool(count, get_context("spawn"), initializer=_initialize, initargs=(niceness,))


def _initialize(niceness: int) -> None:
    """Ignore Ctrl-C, and exit this process when its parent exits, even if the parent is killed.

    Without the thread, a process that is waiting for jobs would never exit.
    """
    os.nice(niceness)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


# Key -> (fingerprint, engine, finalizer)
_engines: dict[bytes, tuple[bytes, Any, Any]] = {}


def cached_engine(job: Job) -> Any:
    """Return this process's engine for a job; create an engine if none is up to date."""
    from ..grading.warmup import warm_engine
    from ..sandbox import BACKENDS

    key = _engine_key(job)
    if key in _engines and _engines[key][0] != job.depends:
        discard_engine(job)  # the engine is outdated
    if key not in _engines:
        course = job.course()
        # `sandbox.choose` has already tested this sandbox
        box = None if job.sandbox == "none" else BACKENDS[job.sandbox]()
        week = course.week(job.week)
        cached_for = trusted_fingerprint(course, week, job.devices, job.secret)
        engine = warm_engine(course, week, job.devices, job.secret, box, cached_for)
        engine.locate_mistakes(course.registry.suspects)
        engine.find_counterexamples(course.registry.counterexamples)
        # pool processes skip `atexit` functions on exit, but run multiprocessing's finalizers
        _engines[key] = job.depends, engine, Finalize(None, engine.close, exitpriority=0)
    return _engines[key][1]


def discard_engine(job: Job) -> None:
    """Close this process's engine for a job, if there is one."""
    if cached := _engines.pop(_engine_key(job), None):
        cached[2]()


def _engine_key(job: Job) -> bytes:
    return msgspec.msgpack.encode((job.root, job.week, job.devices, job.sandbox))


def grade_job(job: Job, submission: Submission) -> SubmissionReport:
    """Grade a submission with this process's cached engine; report exceptions as system errors."""
    try:
        report: SubmissionReport = cached_engine(job).grade(submission.name, submission.files)
        return report
    except KitError as error:
        return scoring.fault(submission.name, str(error))
    except Exception as error:  # an error in one submission must not end the batch
        return scoring.fault(submission.name, f"{type(error).__name__}: {error}")
