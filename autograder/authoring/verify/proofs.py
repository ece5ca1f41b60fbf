"""Verify one part of a week in a process pool, and reuse the result until its inputs change.

A result without gaps is stored under .autograder/proofs with a hash of its inputs: the kit's code,
library versions, the week's settings, and the week's files. Of the week's files, the hash for an
exercise covers only the exercise's tests and misconceptions, shared grader files and all correct
programs. Results with gaps are not stored.
"""

import contextlib
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import msgspec

from ...batch import store
from ...files import hash_of, read_state, write_state
from ...grading.warmup import rare_collection, warm_engine
from ...model.course import Course, Week, load
from ...model.course.bank import Bank
from ...sandbox import BACKENDS
from .hidden_tests import WHOLE, verify_part
from .week_parts import Verification

PUBLIC, LESSON = "-public", "-lesson"
# The costs of the parts that are not exercises, in the unit of `cost`.
_COSTS = {WHOLE: 5, PUBLIC: 25, LESSON: 200}


class ProofJob(msgspec.Struct, frozen=True):
    """A part of a week to verify."""

    root: str
    week: str
    part: str
    devices: tuple[str, ...]
    secret: bytes
    sandbox: str
    only: str = ""  # a misconception of the part; for public checks, an exercise
    # True if stored outputs of the bank and the solution may be used and updated
    uses_answers: bool = False

    @property
    def is_public(self) -> bool:
        """Return True if the part does not depend on hidden tests."""
        return self.part in (PUBLIC, LESSON)

    @property
    def environment(self) -> list[bytes]:
        """Return the devices, the secret and the sandbox, or [] for parts without hidden tests."""
        if self.is_public:
            return []
        return [*(device.encode() for device in self.devices), self.secret, self.sandbox.encode()]


def stored_result(course: Course, job: ProofJob) -> Verification | None:
    """Return a job's stored result, or None if none is stored or the inputs have changed."""
    stored = read_state(_path(course, job), tuple[bytes, Verification])
    return stored[1] if stored and stored[0] == _hash_of_inputs(course, job) else None


def store_result(course: Course, job: ProofJob, result: Verification) -> None:
    """Store a result that has no gaps, unless the job verifies only one misconception."""
    if result.gaps or (job.only and job.part != PUBLIC):
        return
    with contextlib.suppress(OSError):
        write_state(_path(course, job), (_hash_of_inputs(course, job), result))


def _path(course: Course, job: ProofJob) -> Path:
    environment = hash_of(job.environment).hex()[:8] if job.environment else ""
    name = "-".join(filter(None, (job.part or "week", job.only, environment)))
    return course.state / "proofs" / job.week / f"{name}.json"


def _hash_of_inputs(course: Course, job: ProofJob) -> bytes:
    week = course.week(job.week)
    facts = (store.settings(course, week), store.versions(), week.questions)
    encoded = (msgspec.json.encode(f, order="deterministic") for f in facts)
    return hash_of([_kit_hash(), *encoded, *job.environment, *_files(course, week, job)])


def _files(course: Course, week: Week, job: ProofJob) -> Iterator[bytes]:
    """Yield the names and contents of the files and programs on which a job's result depends."""
    solutions, graders = course.solution_folder(week), course.graders(week)
    if job.part == WHOLE or job.is_public:
        secret = (solutions, graders)
        if job.is_public:  # public checks run only on correct programs
            secret = (course.solution(week), solutions / "alternatives")
        assets = [course.root / "assets" / name for name in (week.name, *week.files)]
        folders = [course.root / "exercises" / name for name in week.folders]
        yield week.title.encode()
        yield from _contents(course.exercise_folder(week), *secret, *assets, *folders)
        return
    bank = Bank(course, week)
    misconceptions = [(m.name, m.source) for m in bank.of_exercise(job.part)]
    for name, source in [*bank.correct_programs, *misconceptions]:
        yield from (name.encode(), source.encode())
    for _, path in store.sources_in(graders, *course.test_files(week)):
        if path.stem in (f"test_{job.part}", "conftest") or not path.stem.startswith("test_"):
            yield from (path.name.encode(), path.read_bytes())


def _contents(*places: Path) -> Iterator[bytes]:
    for place in places:
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield from (path.name.encode(), path.read_bytes())


@cache
def _kit_hash() -> bytes:
    root = Path(__file__).parents[2]
    names = (*store.PACKAGES, "authoring", "student", "authors")
    return hash_of(_contents(*(root / name for name in names)))


def cost(course: Course, job: ProofJob) -> int:
    """Estimate a job's duration; the unit is the time to verify one misconception."""
    if job.part in _COSTS:
        return _COSTS[job.part]
    return len(Bank(course, course.week(job.week)).of_exercise(job.part))


# At most one entry: the key of this process's engine, the engine, and its finalizer.
_engine: list[tuple[Any, Any, Finalize]] = []


def run_job(job: ProofJob) -> Verification:
    """Verify the part of a week that a job specifies."""
    from .public_files import verify_lesson, verify_public  # importing nbformat takes seconds

    course = load(Path(job.root))
    week = course.week(job.week)
    if job.part == PUBLIC:
        return verify_public(course, week, job.only)
    if job.part == LESSON:
        return verify_lesson(course, week)
    inputs = store.fingerprint(course, week, job.devices, job.secret, job.sandbox)
    key = (job.root, week.name, inputs, job.uses_answers)
    if not _engine or _engine[0][0] != key:
        close_engine()
        sandbox = BACKENDS[job.sandbox]() if job.sandbox else None  # already tested by `choose`
        options = course, week, job.devices, job.secret
        answers = store.trusted_fingerprint(*options) if job.uses_answers else None
        engine = warm_engine(*options, sandbox, answers)
        closing = ExitStack()
        closing.callback(engine.close)
        closing.enter_context(rare_collection())
        # the processes of a pool run finalizers when they end, but no `atexit` functions
        _engine.append((key, engine, Finalize(None, closing.close, exitpriority=0)))
    return verify_part(_engine[0][1], job.part, job.only)


def close_engine() -> None:
    """Close the engine of this process, if it has one."""
    while _engine:
        _engine.pop()[2]()
