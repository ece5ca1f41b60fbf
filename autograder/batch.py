"""Grading many submissions of a week: a pool of processes, a store of results.

Each process keeps one warm engine. Submissions travel as bytes and come back as reports, so that
the same function serves a local pool and a cluster. A process of the pool ends when the one that
started it does, however that was killed. A report is stored as soon as it is there: what a killed
batch had finished, the next one finds.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process
from pathlib import Path

import msgspec

from . import scoring
from .course import Course, Week, load
from .errors import KitError
from .intake import Submission
from .report import Report, SubmissionReport
from .secret import course_secret
from .store import ResultStore, fingerprint

Done = Callable[[SubmissionReport], None]


class Job(msgspec.Struct, frozen=True):
    """What a worker process must know to grade one submission."""

    root: str
    week: str
    devices: tuple[str, ...]
    secret: bytes
    sandbox: str
    submission: Submission
    max_score: float


def grade_batch(
    course: Course,
    week: Week,
    submissions: Sequence[Submission],
    *,
    devices: tuple[str, ...],
    jobs: int | None = None,
    sandbox: str = "auto",
    on_done: Done = lambda _: None,
) -> Report:
    """Grade submissions; what the store knows is taken from there. Order is kept."""
    from .sandbox import choose

    name = "none" if sandbox == "none" else choose(None if sandbox == "auto" else sandbox).name
    try:
        secret = course_secret(course)
        store = ResultStore(
            course.state / "results" / week.name, fingerprint(course, week, devices, secret, name)
        )
    except OSError as error:
        where = error.filename or course.root / ".autograder"
        raise KitError(f"{where}: results cannot be kept: {error.strerror}") from None
    reports: dict[int, SubmissionReport] = {}
    waiting: dict[str, list[int]] = {}
    for number, submission in enumerate(submissions):
        if submission.problem:
            _settle(number, refused(submission, week), reports, on_done)
            continue
        key = store.key(submission.files)
        known = store.get(key)
        if known is not None:
            renamed = msgspec.structs.replace(known, name=submission.name)
            _settle(number, renamed, reports, on_done)
        else:
            waiting.setdefault(key, []).append(number)

    def finished(key: str, report: SubmissionReport) -> None:
        if report.verdict == "graded":
            _store(store, key, report)
        for number in waiting[key]:
            renamed = msgspec.structs.replace(report, name=submissions[number].name)
            _settle(number, renamed, reports, on_done)

    work = {
        key: Job(
            str(course.root),
            week.name,
            devices,
            secret,
            name,
            submissions[numbers[0]],
            scoring.full_points(week),
        )
        for key, numbers in waiting.items()
    }
    count = max(1, min(jobs or os.cpu_count() or 1, len(work)))
    if count == 1:
        for key, job in work.items():
            finished(key, grade_job(job))
    elif work:
        _run_pool(work, count, finished)
    ordered = tuple(reports[n] for n in range(len(submissions)))
    return Report(week.name, devices, ordered, name)


def _store(store: ResultStore, key: str, report: SubmissionReport) -> None:
    try:
        store.put(key, report)
    except OSError as error:
        raise KitError(
            f"{store.folder}: a result cannot be kept: {error.strerror}. What was graded before is "
            "safe; mend this and run the command again"
        ) from None


def _settle(
    number: int, report: SubmissionReport, reports: dict[int, SubmissionReport], on_done: Done
) -> None:
    reports[number] = report
    on_done(report)


def _run_pool(
    work: dict[str, Job], count: int, finished: Callable[[str, SubmissionReport], None]
) -> None:
    """Run jobs in a pool; a pool that broke is made anew once, then each job is run alone.

    A process that dies takes its pool with it and does not say over which job it died. Alone, it
    does: so no submission gets a fault for what happened over another.
    """
    left = dict(work)
    for _ in range(2):
        pool = _pool(count)
        try:
            broken = _drain(pool, left, finished)
        finally:
            pool.shutdown(cancel_futures=True)
        if not broken:
            return
    while left:
        with _pool(1) as pool:
            _run_alone(pool, left, finished)


def _pool(count: int) -> ProcessPoolExecutor:
    context = get_context("spawn")
    return ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """A pool's process would wait for work for ever when the one that gives it was killed."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def _run_alone(
    pool: Executor, left: dict[str, Job], finished: Callable[[str, SubmissionReport], None]
) -> None:
    """Run jobs one after the other until one breaks the pool; that one is at fault."""
    for key, job in list(left.items()):
        try:
            report = pool.submit(grade_job, job).result()
        except BrokenProcessPool:
            report = _fault(job, "the grading process died again and again over it")
        del left[key]
        finished(key, report)
        if report.verdict == "grader_fault":
            return  # with a fresh process, whatever it was


def _drain(
    pool: Executor, left: dict[str, Job], finished: Callable[[str, SubmissionReport], None]
) -> bool:
    futures: dict[Future[SubmissionReport], str] = {
        pool.submit(grade_job, job): key for key, job in left.items()
    }
    broken = False
    for future in as_completed(futures):
        key = futures[future]
        try:
            report = future.result()
        except BrokenProcessPool:
            broken = True
            continue
        except Exception as error:
            report = _fault(left[key], f"{type(error).__name__}: {error}")
        del left[key]
        finished(key, report)
    return broken


_engines: dict[bytes, object] = {}


def grade_job(job: Job) -> SubmissionReport:
    """Grade one submission in this process, whose engine is kept for the next."""
    from .grading.engine import Engine
    from .sandbox import SandboxError, choose

    key = msgspec.msgpack.encode((job.root, job.week, job.devices, job.sandbox))
    try:
        engine = _engines.get(key)
        if engine is None:
            course = load(Path(job.root))
            box = None if job.sandbox == "none" else choose(job.sandbox)
            engine = Engine(course, course.week(job.week), job.devices, job.secret, box)
            _engines[key] = engine
            atexit.register(engine.close)
        assert isinstance(engine, Engine)
        return engine.grade(job.submission.name, job.submission.files)
    except (KitError, SandboxError) as error:
        return _fault(job, str(error))
    except Exception as error:  # of one submission, never of the batch
        return _fault(job, f"{type(error).__name__}: {error}")


def refused(submission: Submission, week: Week) -> SubmissionReport:
    """The report of something that cannot be graded."""
    return SubmissionReport(
        name=submission.name,
        verdict="refused",
        score=0.0,
        max_score=scoring.full_points(week),
        seconds=0.0,
        message=submission.problem,
        exercises=tuple(scoring.nothing(e) for e in week.exercises),
    )


def _fault(job: Job, why: str) -> SubmissionReport:
    return SubmissionReport(
        name=job.submission.name,
        verdict="grader_fault",
        score=0.0,
        max_score=job.max_score,
        seconds=0.0,
        message=f"The grading system failed, not the submission: {why}",
    )
