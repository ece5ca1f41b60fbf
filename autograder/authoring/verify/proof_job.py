"""Verify one part of a week as a job for a process pool; the process keeps its engine."""

from __future__ import annotations

from contextlib import ExitStack
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import msgspec

from ...batch.fingerprint import fingerprint, trusted_fingerprint
from ...grading.warmup import rare_collection, warm_engine
from ...model.course import Course, load
from ...model.course.bank import Bank
from ...sandbox import BACKENDS
from .hidden_tests import WHOLE, verify_part
from .proof_cache import LESSON, PUBLIC
from .results import Verification

# The costs of parts that are not an exercise, in the same unit as `cost`.
_COSTS = {WHOLE: 5, PUBLIC: 25, LESSON: 200}


class ProofJob(msgspec.Struct, frozen=True):
    """A part of a week to verify.

    only: a misconception of the part; for public checks, an exercise
    uses_answers: whether stored answers of the bank and the solution may be read and written
    """

    root: str
    week: str
    part: str
    devices: tuple[str, ...]
    secret: bytes
    sandbox: str
    only: str = ""
    uses_answers: bool = False


def cost(course: Course, job: ProofJob) -> int:
    """Estimate a job's duration; the unit is the time to verify one misconception."""
    if job.part in _COSTS:
        return _COSTS[job.part]
    return len(Bank(course, course.week(job.week)).of_exercise(job.part))


# The engine of this process, the key it was made for, and its finalizer.
_engine: list[tuple[Any, Any, Finalize]] = []


def run_job(job: ProofJob) -> Verification:
    """Verify the part that a job names."""
    course = load(Path(job.root))
    week = course.week(job.week)
    if job.part == PUBLIC:
        from .public_checks import verify_public  # importing nbformat takes seconds

        return verify_public(course, week, job.only)
    if job.part == LESSON:
        from .lesson_run import verify_lesson

        return verify_lesson(course, week)
    inputs = fingerprint(course, week, job.devices, job.secret, job.sandbox)
    key = (job.root, week.name, inputs, job.uses_answers)
    if not _engine or _engine[0][0] != key:
        close_engine()
        sandbox = BACKENDS[job.sandbox]() if job.sandbox else None  # its trial ran earlier
        options = course, week, job.devices, job.secret
        answers = trusted_fingerprint(*options) if job.uses_answers else None
        engine = warm_engine(*options, sandbox, answers)
        closing = ExitStack()
        closing.callback(engine.close)
        closing.enter_context(rare_collection())
        # processes of a pool end without `atexit`
        _engine.append((key, engine, Finalize(None, closing.close, exitpriority=0)))
    return verify_part(_engine[0][1], job.part, job.only)


def close_engine() -> None:
    """Close the engine of this process, if it has one."""
    while _engine:
        _engine.pop()[2]()
