"""The report of a batch, and its JSON form, which other tools read."""

from __future__ import annotations

import msgspec

from ...version import __version__
from ...worker.protocol.dtypes import LOW_PRECISION
from ..visible import visible_json
from .verdicts import Ending, Verdict

SCHEMA = 2
READABLE = (1, SCHEMA)


def base_of(test: str) -> str:
    """Return a test's name without its axes: `...::test_rows` for `...::test_rows[cuda]`."""
    return test.partition("[")[0]


def axes_of(test: str) -> str:
    """Return the axes of a test, such as `cuda-float16`, or ""."""
    return test.partition("[")[2].removesuffix("]")


def in_low_precision(test: str) -> bool:
    """Return True if the axes of a test name a float type of less than 32 bits."""
    return not LOW_PRECISION.isdisjoint(axes_of(test).split("-"))


class TestReport(msgspec.Struct, frozen=True):
    """One hidden test on one axis.

    message: for the student. claim: the requirement that the test checks
    carried: the share of the weight that a failed test earns because a helper is wrong
    line: the line of the student's module at which the test stopped, or 0
    """

    name: str
    verdict: Verdict
    weight: float
    message: str = ""
    public: bool = False
    claim: str = ""
    line: int = 0
    carried: float = 0.0

    @property
    def base(self) -> str:
        """The test's name without its axes."""
        return base_of(self.name)

    @property
    def earned_share(self) -> float:
        """The share of its weight that the test earns."""
        return 1.0 if self.verdict is Verdict.PASS else self.carried


class Diagnosis(msgspec.Struct, frozen=True):
    """A misconception that the outputs show: its name, its description and a hint.

    explains, of: number of failed tests that it explains, and of all failed tests; 0 if unknown
    mostly: the student's outputs differ from the misconception's in some of its own tests
    """

    name: str
    title: str
    hint: str
    explains: int = 0
    of: int = 0
    mostly: bool = False

    @property
    def is_minor(self) -> bool:
        """True if it leaves most failures unexplained, so that it must not be the headline."""
        return 2 * self.explains < self.of

    @property
    def opening(self) -> str:
        """The beginning of the sentence that ends with the title."""
        if self.is_minor:
            return "Among other things, it looks as if your code"
        return f"{'In most checks it' if self.mostly else 'It'} looks as if your code"


class Deduction(msgspec.Struct, frozen=True):
    """The points that a mistake cost.

    counted_in: the exercise that was charged for the same misconception instead
    """

    name: str
    points: float
    counted_in: str = ""


class Suspect(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line whose edit makes failing tests pass. `kind` names the kind of edit.

    alone: False if a second edit is needed as well
    explains: how many failing tests the edit fixes, if not all
    """

    file: str
    line: int
    function: str
    kind: str
    alone: bool = True
    explains: int = 0


class ExerciseReport(msgspec.Struct, frozen=True):
    """The result of one exercise.

    inherits: the exercises whose mistakes it inherits
    beside: the helpers that were replaced by correct ones while the exercise was graded
    deductions: the costs of named mistakes, if they decide the score
    suspects: the lines of the mistake
    """

    name: str
    score: float
    max_score: float
    diagnosis: tuple[str, ...] = ()
    tests: tuple[TestReport, ...] = ()
    explained: tuple[Diagnosis, ...] = ()
    inherits: tuple[str, ...] = ()
    deductions: tuple[Deduction, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def unwritten(self) -> bool:
        """True if every test that ran found only the stub."""
        ran = [t for t in self.tests if t.verdict is not Verdict.NOT_RUN]
        return bool(ran) and all(t.verdict is Verdict.UNWRITTEN for t in ran)


class SubmissionReport(msgspec.Struct, frozen=True):
    """The result of one submission.

    message: why it was not graded, followed by the source line and a caret if a line is the reason
    attempts: suspicious actions, for the instructor; they do not change the score
    unexplained: errors of the grading system in optional steps, such as diagnosis
    """

    name: str
    verdict: Ending
    score: float
    max_score: float
    seconds: float
    message: str = ""
    exercises: tuple[ExerciseReport, ...] = ()
    attempts: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The message without the source line."""
        return self.message.partition("\n")[0]


class Report(msgspec.Struct, frozen=True):
    """The results of a batch of one week. `sandbox`: the backend that isolated submissions."""

    week: str
    devices: tuple[str, ...]
    submissions: tuple[SubmissionReport, ...]
    sandbox: str = ""
    schema: int = SCHEMA
    kit: str = __version__


def to_json(report: Report) -> bytes:
    text = msgspec.json.format(msgspec.json.encode(report), indent=1).decode()
    return visible_json(text).encode()


def from_json(data: bytes | str) -> Report:
    """Decode a report of this or an earlier schema; raise msgspec.DecodeError otherwise."""
    try:
        report = msgspec.json.decode(data, type=Report)
        if report.schema not in READABLE:
            raise msgspec.DecodeError(
                f"schema {report.schema} is newer than this kit, which reads {SCHEMA} and earlier"
            )
        return report if report.schema == SCHEMA else _from_schema_1(report)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(f"not a report: {error}") from None


def _from_schema_1(report: Report) -> Report:
    """Set the verdict `unwritten`, which schema 1 expressed only in messages."""

    def test(old: TestReport) -> TestReport:
        unwritten = old.verdict is Verdict.CRASHED and "is not filled in yet" in old.message
        return msgspec.structs.replace(old, verdict=Verdict.UNWRITTEN) if unwritten else old

    def exercise(old: ExerciseReport) -> ExerciseReport:
        return msgspec.structs.replace(old, tests=tuple(map(test, old.tests)))

    submissions = tuple(
        msgspec.structs.replace(s, exercises=tuple(map(exercise, s.exercises)))
        for s in report.submissions
    )
    return msgspec.structs.replace(report, submissions=submissions, schema=SCHEMA)
