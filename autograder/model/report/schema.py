"""The report of a batch, its verdicts, and its JSON form, which other tools read.

Every decision that depends on a verdict is an attribute of its member, so a new verdict states all
of them in one line.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from ...version import __version__
from ...worker.protocol.dtypes import LOW_PRECISION
from ..message_text import visible_json


class Verdict(StrEnum):
    """How one hidden test ended.

    words: the verdict as students read it
    failed: whether the test counts and did not pass
    stopped: whether the code was stopped at some line, before it returned a result
    """

    words: str
    failed: bool
    stopped: bool

    PASS = "pass", "Passed", False, False
    UNWRITTEN = "unwritten", "Not written yet", True, False
    WRONG = "wrong", "Wrong result", True, False
    FORBIDDEN = "forbidden", "Forbidden call", True, True
    CRASHED = "crashed", "Stopped with an error", True, True
    TIMEOUT = "timeout", "Took too long", True, True
    LIMIT = "limit", "Used more memory than allowed", True, True
    BAD_REPLY = "bad_reply", "Returned something that could not be read", True, False
    REFUSED = "refused", "Not accepted", True, False
    NOT_RUN = "not_run", "Not run", False, False
    GRADER_FAULT = "grader_fault", "An error of the grading system, not yours", False, False

    def __new__(cls, value: str, words: str, failed: bool, stopped: bool) -> Verdict:
        member = str.__new__(cls, value)
        member._value_ = value
        member.words, member.failed, member.stopped = words, failed, stopped
        return member

    @property
    def counted(self) -> bool:
        """True if the test's weight counts: it ran, and the grading system was not at fault."""
        return self is Verdict.PASS or self.failed

    @property
    def attempted(self) -> bool:
        """True if the test ran code that the student wrote."""
        return self is Verdict.PASS or (self.reported and self is not Verdict.UNWRITTEN)

    @property
    def reported(self) -> bool:
        """True if feedback mentions the test: it failed, or the grading system was at fault."""
        return self.failed or self is Verdict.GRADER_FAULT

    @property
    def has_answer(self) -> bool:
        """True if the test failed, but its last call returned something."""
        return self in (Verdict.WRONG, Verdict.FORBIDDEN)

    @property
    def exceeds_a_bound(self) -> bool:
        """True if the code exceeded a limit or broke the protocol: it may not terminate."""
        return self in (Verdict.TIMEOUT, Verdict.LIMIT, Verdict.BAD_REPLY)

    @property
    def can_change(self) -> bool:
        """True if the test may end differently with correct helpers, in bounded time."""
        return self in (Verdict.PASS, Verdict.CRASHED, Verdict.LIMIT) or self.has_answer

    @property
    def follows_from_answers(self) -> bool:
        """True if equal answers always lead to this verdict, so that it can be stored for them."""
        return self in (Verdict.PASS, Verdict.WRONG)


class Ending(StrEnum):
    """How the grading of a whole submission ended."""

    GRADED = "graded"
    REFUSED = "refused"
    GRADER_FAULT = "grader_fault"


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
