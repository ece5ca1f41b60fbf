"""The report on a batch of submissions, its verdicts, and its JSON format for other tools.

A new verdict needs a row in `Verdict` with every attribute, an exception in `grading/outcomes.py`
and the code that raises the exception. Other code uses these attributes, or a `match` that ends
with `assert_never`, so that mypy reports where the new verdict is missing.
"""

import re
from enum import StrEnum
from typing import Self

import msgspec
from msgspec.structs import replace

from ...version import __version__
from ...worker.protocol.dtypes import LOW_PRECISION
from ..message_text import visible_json

F, T = False, True


class Verdict(StrEnum):
    """The outcome of one hidden test. The row of each verdict sets all of these attributes:

    failed:               the test counts and did not pass
    at_line:              what the student's code does at the reported line, or "" without a line
    raised:               an exception in the student's code ended the test
    has_answer:           the test failed, but its last call returned a value
    breaks_a_rule:        the code breaks a rule of the exercise, which therefore earns no points
    exceeds_a_bound:      a limit or an invalid reply ended the call, so a rerun may never end
    can_change:           a rerun with correct helpers may give a different verdict in bounded time
    follows_from_answers: equal outputs always give this verdict, so stored verdicts can be reused
    words:                the verdict as students read it
    """

    failed: bool
    at_line: str
    raised: bool
    has_answer: bool
    breaks_a_rule: bool
    exceeds_a_bound: bool
    can_change: bool
    follows_from_answers: bool
    words: str

    # fmt: off
    PASS         = "pass",         F, "", F, F, F, F, T, T, "Passed"
    UNWRITTEN    = "unwritten",    T, "", F, F, F, F, F, F, "Not written yet"
    WRONG        = "wrong",        T, "", F, T, F, F, T, T, "Wrong result"
    FORBIDDEN    = "forbidden",    T, "uses a forbidden call in", F, T, T, F, T, F, "Forbidden call"
    CRASHED      = "crashed",      T, "stops at", T, F, F, F, T, F, "Stopped with an error"
    TIMEOUT      = "timeout",      T, "takes too long at", F, F, F, T, F, F, "Took too long"
    LIMIT        = "limit",        T, "exceeds a limit at", F, F, F, T, T, F, "Used too much memory"
    BAD_REPLY    = "bad_reply",    T, "", F, F, F, T, F, F, "Returned something unreadable"
    REFUSED      = "refused",      T, "", F, F, F, F, F, F, "Not accepted"
    NOT_RUN      = "not_run",      F, "", F, F, F, F, F, F, "Not run"
    GRADER_FAULT = "grader_fault", F, "", F, F, F, F, F, F, "A system error, not your mistake"
    # fmt: on

    def __new__(cls, value: str, *row: bool | str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.__dict__.update(zip(cls.__annotations__, row, strict=True))
        return member

    @property
    def counted(self) -> bool:
        """True if the test's weight counts: the test passed or failed."""
        return self is Verdict.PASS or self.failed

    @property
    def ran(self) -> bool:
        """True unless the test cannot run on this machine."""
        return self.counted or self.reported

    @property
    def attempted(self) -> bool:
        """True unless the test did not run or found only the stub."""
        return self.ran and self is not Verdict.UNWRITTEN

    @property
    def rejects_answers(self) -> bool:
        """True if the test failed because its answers do not meet a requirement."""
        return self.failed and self.follows_from_answers

    @property
    def reported(self) -> bool:
        """True if feedback mentions the test: it failed, or the grading system was at fault."""
        return self.failed or self is Verdict.GRADER_FAULT


class Ending(StrEnum):
    """The outcome of grading a whole submission."""

    GRADED = "graded"
    REFUSED = "refused"
    GRADER_FAULT = "grader_fault"


SCHEMA = 3
_READABLE = (1, 2, SCHEMA)


def base_of(test: str) -> str:
    """Return a test's name without its axes: `::test_rows` for `::test_rows[cuda]`."""
    return test.partition("[")[0]


def axes_of(test: str) -> str:
    """Return the axes in a test's name, such as `cuda-float16`, or "" if it has none."""
    return test.partition("[")[2].removesuffix("]")


def in_low_precision(test: str) -> bool:
    """Return True if the axes of a test name a float type of less than 32 bits."""
    return not LOW_PRECISION.isdisjoint(axes_of(test).split("-"))


NOT_DESCRIBED = "Not described here: fix what is described first."
_NUMBER = re.compile(r"(?<![\w`])[-+]?\d[\d.,e+-]*\b|\[[-\d, ]*\]")
_ENTRIES = (
    r"(?:every entry|[^.]*? entries)(?:, (?:most|with the largest error) at index \[[-\d, ]*\])?"
    r"(?:, in [^.]*? rows(?: \(whole rows\))?)?"
)
_HOW_MUCH = (
    (re.compile(rf" differs in {_ENTRIES}\."), " differs."),
    (re.compile(rf" is NaN in {_ENTRIES}\."), " is NaN."),
    (re.compile(r" have shape \([\d, ]*\), but has \([\d, ]*\)"), " have another shape"),
    (re.compile(r" have dtype \w+, but has \w+"), " have another dtype"),
)


class TestReport(msgspec.Struct, frozen=True):
    """The result of one hidden test on one combination of device and dtype.

    message: the reason for a failure, for the student
    claim: the requirement that the test checks
    line: the line of the module where the code stopped or made a forbidden call, or 0 if none
    carried: the share of the weight that a failed test earns because only a helper is wrong
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

    @property
    def failure_key(self) -> tuple[Verdict, str]:
        """A key that failures share if they differ only in numbers, shapes and dtypes."""
        message = self.message
        for pattern, words in _HOW_MUCH:
            message = pattern.sub(words, message)
        return self.verdict, _NUMBER.sub("#", message)


class Diagnosis(msgspec.Struct, frozen=True):
    """A misconception that the student's outputs show.

    explains: the number of failed tests that the misconception explains; 0 if unknown
    of: the number of all failed tests; 0 if unknown
    mostly: True if the outputs differ from the misconception's outputs in some tests
    """

    name: str
    title: str
    hint: str
    explains: int = 0
    of: int = 0
    mostly: bool = False

    @property
    def is_minor(self) -> bool:
        """True if the misconception explains less than half of the failed tests."""
        return 2 * self.explains < self.of

    @property
    def opening(self) -> str:
        """The beginning of the sentence that the title completes."""
        if self.is_minor:
            return "Among other things, it looks as if your code"
        return f"{'In most checks it' if self.mostly else 'It'} looks as if your code"


class Deduction(msgspec.Struct, frozen=True):
    """The points that a mistake costs.

    counted_in: "" if this deduction is charged; otherwise the exercise that is already charged for
    the same misconception, which may be this exercise
    """

    name: str
    points: float
    counted_in: str = ""


class Suspect(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line that probably contains a mistake, usually because an edit there fixes failed tests.

    kind: the kind of edit or, if no edit was found, a verdict or a constant of `findings`
    alone: True if this line is sufficient, False if the tests need a second edit to pass
    explains: the number of failed tests that the edit fixes, or 0 if it fixes all
    """

    file: str
    line: int
    function: str
    kind: str
    alone: bool = True
    explains: int = 0


class Counterexample(msgspec.Struct, frozen=True):
    """A small public input on which a submission is wrong.

    call:     the calls in Python; the last line is the expression whose value is wrong
    expected: the correct value of this expression
    actual:   its value in the submission
    numbers:  how many numbers the calls contain
    line:     the line of the student's module that first computes a wrong value, or 0
    kind:     what is wrong, such as "value", "gradient" or "exception"
    cell:     a complete notebook cell that makes the calls
    wrong_value: a sentence with the first wrong value and the values that led to it, or ""
    """

    call: str
    expected: str
    actual: str
    numbers: int = 0
    line: int = 0
    kind: str = "value"
    cell: str = ""
    wrong_value: str = ""


class ExerciseReport(msgspec.Struct, frozen=True):
    """The result of one exercise.

    inherits: the exercises whose mistakes cause failures of this exercise
    deductions: the costs of named mistakes, if they determine the score
    suspects: the lines that probably contain a mistake
    beside: the helpers that were replaced by correct ones while the exercise was graded
    headline: the failed test whose claim describes the mistake best, unless it is the first one
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
    counterexample: Counterexample | None = None
    headline: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def unwritten(self) -> bool:
        """True if at least one test ran, and every test that ran found only the stub."""
        ran = [t for t in self.tests if t.verdict.ran]
        return bool(ran) and all(t.verdict is Verdict.UNWRITTEN for t in ran)


class SubmissionReport(msgspec.Struct, frozen=True):
    """The result of one submission.

    message: the reason if the submission was not graded; the source line and a caret may follow
    attempts: suspicious actions, reported to the instructor without an effect on the score
    unexplained: errors of the grading system in optional steps, such as diagnosis
    """

    name: str
    verdict: Ending
    score: float
    max_score: float
    seconds: float = 0.0
    message: str = ""
    exercises: tuple[ExerciseReport, ...] = ()
    attempts: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The message without the source line."""
        return self.message.partition("\n")[0]


class Report(msgspec.Struct, frozen=True):
    """The results of a batch of submissions of one week. `sandbox`: the isolation backend used."""

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
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(f"not a report: {error}") from None
    if report.schema not in _READABLE:
        raise msgspec.DecodeError(f"schema {report.schema}: this kit reads schemas 1 to {SCHEMA}")
    return _from_schema_1(report) if report.schema == 1 else report


def _from_schema_1(report: Report) -> Report:
    """Set the verdict `unwritten`, which schema 1 expresses only in messages."""

    def test(old: TestReport) -> TestReport:
        unwritten = old.verdict.raised and "is not filled in yet" in old.message
        return replace(old, verdict=Verdict.UNWRITTEN) if unwritten else old

    def exercise(old: ExerciseReport) -> ExerciseReport:
        return replace(old, tests=tuple(map(test, old.tests)))

    def submission(old: SubmissionReport) -> SubmissionReport:
        return replace(old, exercises=tuple(map(exercise, old.exercises)))

    return replace(report, submissions=tuple(map(submission, report.submissions)))
