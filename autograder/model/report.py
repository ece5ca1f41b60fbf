"""The one typed report of a batch, and its JSON form (a contract: others' tools read it)."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..version import __version__

SCHEMA = 1
Verdict = Literal[
    "pass",
    "wrong",
    "forbidden",
    "crashed",
    "timeout",
    "limit",
    "bad_reply",
    "refused",
    "not_run",
    "grader_fault",
]


class TestReport(msgspec.Struct, frozen=True):
    """One hidden test on one axis. `message` is for the student; `claim` is what the test asks."""

    name: str
    verdict: Verdict
    weight: float
    message: str = ""
    public: bool = False
    claim: str = ""


class Diagnosis(msgspec.Struct, frozen=True):
    """A misconception that the outputs betray: its name, what it looks like, and a hint."""

    name: str
    title: str
    hint: str


class ExerciseReport(msgspec.Struct, frozen=True):
    name: str
    score: float
    max_score: float
    diagnosis: tuple[str, ...] = ()
    tests: tuple[TestReport, ...] = ()
    explained: tuple[Diagnosis, ...] = ()


class SubmissionReport(msgspec.Struct, frozen=True):
    name: str
    verdict: Literal["graded", "refused", "grader_fault"]
    score: float
    max_score: float
    seconds: float
    message: str = ""
    exercises: tuple[ExerciseReport, ...] = ()


class Report(msgspec.Struct, frozen=True):
    """A batch of one week. `sandbox` names what kept the submissions apart."""

    week: str
    devices: tuple[str, ...]
    submissions: tuple[SubmissionReport, ...]
    sandbox: str = ""
    schema: int = SCHEMA
    kit: str = __version__


class Shared:
    """Holds equal parts of many reports once: most tests end alike, and a class is large."""

    def __init__(self) -> None:
        self._tests: dict[TestReport, TestReport] = {}
        self._exercises: dict[ExerciseReport, ExerciseReport] = {}

    def __call__(self, report: SubmissionReport) -> SubmissionReport:
        """The same report, made of parts that others have too."""
        exercises = tuple(self._exercise(e) for e in report.exercises)
        return msgspec.structs.replace(report, exercises=exercises)

    def _exercise(self, exercise: ExerciseReport) -> ExerciseReport:
        known = self._exercises.get(exercise)
        if known is None:
            tests = tuple(self._tests.setdefault(t, t) for t in exercise.tests)
            known = msgspec.structs.replace(exercise, tests=tests)
            self._exercises[known] = known
        return known


def to_json(report: Report) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report), indent=1)


def from_json(data: bytes | str) -> Report:
    """Read a report back; raises msgspec.DecodeError where it is none."""
    try:
        return msgspec.json.decode(data, type=Report)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(f"no report: {error}") from None
