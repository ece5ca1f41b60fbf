"""Define the results of public checks, and the messages to and from the checking process.

A command writes a `CheckOrder` to the checking process as one line of JSON. The process replies
with one line of JSON for each `CheckEvent`.
"""

import contextlib
import signal
from typing import Literal

import msgspec

from ...model.report.findings import CAUSES
from ...model.source.import_failure import ImportFailure
from ..folder.week import WeekExercise, WeekFolder

FailureKind = Literal[
    "wrong",
    "raised",
    "open",
    "waiting",
    "timeout",
    "ended",
    "missing",
    "broken",
    "forbidden",
    "asks",
]
# unknown: never checked; changed: edited since the last check
State = Literal["pass", "fail", "open", "waiting", "skipped", "unknown", "changed"]

PATIENCE = 8.0  # the limit on elapsed time, as a multiple of the limit on processor time


class SuspectLine(msgspec.Struct, frozen=True):
    """A line where a single edit of kind `kind` makes all checks of the exercise pass."""

    line: int
    kind: str


class Failure(msgspec.Struct, frozen=True):
    """The reason why a check did not pass."""

    kind: FailureKind
    message: str = ""
    error: str = ""  # the exception's type
    line: int = 0  # in the student's module, counted from 1; 0 if unknown
    code: str = ""  # the text of that line
    facts: tuple[str, ...] = ()  # shapes, dtypes and devices of the values on that line
    output: str = ""  # the text that the code printed
    waits_for: str = ""  # the unwritten exercise that the checked code calls
    places: tuple[SuspectLine, ...] = ()  # lines where the mistake may be


class CheckOutcome(msgspec.Struct, frozen=True):
    """The outcome of one public check."""

    test: str
    exercise: str
    claim: str
    failure: Failure | None = None
    skipped: str = ""  # why the check cannot run here, such as a package that is not installed

    @property
    def state(self) -> State:
        if self.skipped:
            return "skipped"
        if self.failure is None:
            return "pass"
        return self.failure.kind if self.failure.kind in ("open", "waiting") else "fail"


class ExerciseResult(msgspec.Struct, frozen=True):
    """The result of an exercise.

    first: the outcome to show: a forbidden call, else the first failed check, else the first check
           of unwritten code; if all were skipped, a skipped check; None if all checks passed
    """

    name: str
    points: float
    state: State
    passed: int
    total: int
    first: CheckOutcome | None = None
    elective: bool = False
    outcomes: tuple[CheckOutcome, ...] = ()
    uses: tuple[str, ...] = ()  # failing exercises that this exercise calls


class CheckResult(msgspec.Struct, frozen=True):
    """The results of the checked exercises of a week."""

    folder: WeekFolder
    exercises: tuple[ExerciseResult, ...] = ()
    broken: Failure | None = None  # why the import failed; `code` is the source line and a caret
    notes: tuple[str, ...] = ()  # mistakes that checks do not detect, such as an unsaved file

    @property
    def module(self) -> str:
        return self.folder.week.module

    @property
    def passed(self) -> bool:
        return not self.broken and all(e.state == "pass" for e in self.exercises)

    @property
    def unfinished(self) -> list[str]:
        """The exercises that neither pass nor are impossible to check on this machine."""
        return [e.name for e in self.exercises if e.state not in ("pass", "skipped")]

    @property
    def open_points(self) -> float:
        """The points still to earn. Electives beyond the number that counts are ignored."""
        left = [e for e in self.exercises if e.state != "pass"]
        electives = sorted((e.points for e in left if e.elective), reverse=True)
        if (counted := self.folder.week.electives_counted) is not None:
            passed = sum(e.elective and e.state == "pass" for e in self.exercises)
            electives = electives[: max(0, counted - passed)]
        return sum(e.points for e in left if not e.elective) + sum(electives)


def claim_in_words(test: str, exercise: str) -> str:
    """Convert a test's name to words, such as `test_softmax_known_row` to "known row"."""
    words = test.split("[")[0].removeprefix("test_").removeprefix(exercise).strip("_")
    return words.replace("_", " ") or exercise


def sum_up(
    exercise: WeekExercise, outcomes: list[CheckOutcome], forbidden: CheckOutcome | None = None
) -> ExerciseResult:
    """Combine the outcomes of an exercise's checks.

    The result's `first` is a failure of written code if there is one. A `forbidden` call fails the
    whole exercise, as in grading.
    """
    ran = [o for o in outcomes if not o.skipped]
    failed = [o for o in ran if o.state != "pass"]
    first = min(failed, key=lambda o: o.state != "fail", default=None)
    state: State = first.state if first else "pass"
    if state == "open" and len(failed) < len(ran):
        state = "fail"  # a check passed, so some code of the exercise is written
    passed, total = len(ran) - len(failed), len(ran)
    if not ran:
        state, first = ("skipped", outcomes[0]) if outcomes else ("unknown", None)
    if forbidden:
        state, first, passed, total = "fail", forbidden, 0, len(outcomes)
    name, worth, elective = exercise.name, exercise.points, exercise.elective
    return ExerciseResult(name, worth, state, passed, total, first, elective, tuple(outcomes))


class CheckOrder(msgspec.Struct, frozen=True):
    """The exercises to check. `done`: checks to skip. `seconds`: the time limit of each check."""

    exercises: tuple[str, ...]
    done: tuple[str, ...] = ()
    seconds: float = 20.0


class CheckEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Progress of an order. An event without values announces the import of the module."""

    begins: str = ""  # the check that starts
    exercise: str = ""  # the exercise of that check
    outcome: CheckOutcome | None = None  # replaces an earlier outcome of the same check
    problem: str = ""  # why the file of checks cannot be read
    stopped: ImportFailure | None = None  # why the module cannot be imported; no check runs
    finished: bool = False  # True if this is the last event of a completed order


def timeout_message(seconds: float, computing: bool) -> str:
    """Return the message for code that was stopped after a timeout.

    computing: True if the code used up its processor time, False if it only waited too long.
    """
    text = CAUSES["computing" if computing else "idle"]
    return text.format(seconds=seconds, longest=PATIENCE * seconds)


def signal_name(code: int) -> str:
    """Return the name of the signal that ended a process, or "" if the process exited normally."""
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name if code < 0 else ""
    return f"signal {-code}"
