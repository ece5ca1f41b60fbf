"""The one typed report of a batch, and its JSON form (a contract: others' tools read it)."""

from __future__ import annotations

import msgspec

from ...version import __version__
from ...worker.protocol.dtypes import LOW_PRECISION
from ..visible import visible_json
from .verdicts import Ending, Verdict

SCHEMA = 2
READABLE = (1, SCHEMA)


def base_of(test: str) -> str:
    """A test's name without its axes: `test_softmax.py::test_rows` of `...::test_rows[cuda]`."""
    return test.partition("[")[0]


def axes_of(test: str) -> str:
    """What stands in the brackets of a test's name, or nothing."""
    return test.partition("[")[2].removesuffix("]")


def in_low_precision(test: str) -> bool:
    """Return True if a test's name says that it runs in a float type of less than 32 bits."""
    return not LOW_PRECISION.isdisjoint(axes_of(test).split("-"))


class TestReport(msgspec.Struct, frozen=True):
    """One hidden test on one axis. `message` is for the student; `claim` is what the test asks.

    `carried`: the share of its weight that a failed test earns, because the mistake is another
    exercise's and was charged there. `line`: where in the student's module it stopped, 0 if
    that is not known.
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


class Diagnosis(msgspec.Struct, frozen=True):
    """A misconception that the outputs betray: its name, what it looks like, and a hint.

    explains, of: how many of the failed tests it accounts for; 0 of 0 if that is not known, as of
    one of two changes that only together mend a program. mostly: in some of its own tests the
    student's answers are not its own.
    """

    name: str
    title: str
    hint: str
    explains: int = 0
    of: int = 0
    mostly: bool = False

    @property
    def is_minor(self) -> bool:
        """Whether it leaves open most of what fails: no headline then."""
        return 2 * self.explains < self.of

    @property
    def opening(self) -> str:
        """How the sentence begins that ends with its title."""
        if self.is_minor:
            return "Among other things, it looks as if your code"
        return f"{'In most checks it' if self.mostly else 'It'} looks as if your code"


class Deduction(msgspec.Struct, frozen=True):
    """What a mistake cost. `counted_in`: the exercise that lost points for the same belief."""

    name: str
    points: float
    counted_in: str = ""


class Suspect(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place whose change makes every failing test pass; `kind` says what is changed.

    `alone`: not so if that takes a change of another of these places too, or of what is named.
    `explains`: how many failing tests it mends, or ends, if those are not all.
    """

    file: str
    line: int
    function: str
    kind: str
    alone: bool = True
    explains: int = 0


class ExerciseReport(msgspec.Struct, frozen=True):
    """One exercise. `inherits`: the exercises whose mistakes it carries; `beside`: those that
    right ones stood in for while it was tried.

    `deductions`: what its named mistakes cost, where they explain most of what fails; `suspects`:
    where the mistake is.
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
        """Return whether nothing of it was begun: every test that ran found it unwritten."""
        ran = [t for t in self.tests if t.verdict is not Verdict.NOT_RUN]
        return bool(ran) and all(t.verdict is Verdict.UNWRITTEN for t in ran)


class SubmissionReport(msgspec.Struct, frozen=True):
    """`attempts`: what it did that honest work never does; for the instructor, changes no score.

    `message`: why it was not graded: a sentence, with the source line and a caret below it where
    a line of the module is the reason.
    `unexplained`: what of ours failed beyond the verdicts, in names, lines or follow-through.
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
        """The message without the source line below it, for lists."""
        return self.message.partition("\n")[0]


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
    text = msgspec.json.format(msgspec.json.encode(report), indent=1).decode()
    return visible_json(text).encode()


def from_json(data: bytes | str) -> Report:
    """Read a report of this schema or an earlier one; raises msgspec.DecodeError otherwise."""
    try:
        report = msgspec.json.decode(data, type=Report)
        if report.schema not in READABLE:
            raise msgspec.DecodeError(
                f"schema {report.schema} is newer than this kit, which reads {SCHEMA} and earlier"
            )
        return report if report.schema == SCHEMA else _from_schema_1(report)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(f"no report: {error}") from None


def _from_schema_1(report: Report) -> Report:
    """Schema 1 knew "not written" by the words of its message alone."""

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
