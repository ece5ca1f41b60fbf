"""One part of a proof, as a job for a process that may have an engine already."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import msgspec

from ...batch.fingerprint import fingerprint, trusted_fingerprints
from ...grading.warmup import rare_collection, warm_engine
from ...model.course.bank import Bank
from ...model.course.loader import Course, load
from ...sandbox import BACKENDS
from .proof import Verification
from .proof_cache import LESSON, PUBLIC
from .prover import WHOLE, verify_part
from .selection import Aim

# What a part that is of no exercise costs, beside a misconception.
_WEIGHTS = {WHOLE: 5, PUBLIC: 25, LESSON: 200}


class Proof(msgspec.Struct, frozen=True):
    """What is to be proven: a part of a week, as far as `aim` asks for it.

    keeps: what the bank and the solution answered before may be taken from disk, and is left there
    """

    root: str
    week: str
    part: str
    devices: tuple[str, ...]
    secret: bytes
    sandbox: str
    aim: Aim | None = None
    keeps: bool = False


def weight(course: Course, proof: Proof) -> int:
    """About how long it takes."""
    if proof.part in _WEIGHTS:
        return _WEIGHTS[proof.part]
    return len(Bank(course, course.week(proof.week)).of_exercise(proof.part))


# The engine of this process, with what it was made for and what ends it.
_engine: list[tuple[Any, Any, Finalize]] = []


def prove(proof: Proof, tell: Callable[[str], None] = lambda _: None) -> Verification:
    course = load(Path(proof.root))
    week = course.week(proof.week)

    def said(part: str) -> None:
        tell(f"{week.name}: {part}")

    if proof.part == PUBLIC:
        from .public_side import verify_public  # with what reads notebooks, which takes seconds

        said("public checks")
        return verify_public(course, week, proof.aim.exercise if proof.aim else "")
    if proof.part == LESSON:
        from .lesson_run import verify_lesson

        said("the lesson")
        return verify_lesson(course, week)
    depends = fingerprint(course, week, proof.devices, proof.secret, proof.sandbox)
    made_for = (proof.root, week.name, depends, proof.keeps)
    if not _engine or _engine[0][0] != made_for:
        end_engine()
        box = BACKENDS[proof.sandbox]() if proof.sandbox else None  # tried by whoever chose it
        about = course, week, proof.devices, proof.secret, proof.sandbox
        kept_for = trusted_fingerprints(*about) if proof.keeps else None
        engine = warm_engine(*about[:-1], box, kept_for)
        ending = ExitStack()
        ending.callback(engine.close)
        ending.enter_context(rare_collection())
        # a pool's process ends without `atexit`
        _engine.append((made_for, engine, Finalize(None, ending.close, exitpriority=0)))
    return verify_part(_engine[0][1], proof.part, said, proof.aim)


def end_engine() -> None:
    while _engine:
        _engine.pop()[2]()
