"""Results of public checks, and the messages between a command and the checking process.

The command writes a `CheckOrder` to the checking process as one line of JSON, and the process
answers with `CheckEvent` lines.
"""

from __future__ import annotations

import contextlib
import signal
from typing import Literal

import msgspec

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

PATIENCE = 5.0  # limit of elapsed time, as a multiple of the limit of processor time


class SuspectLine(msgspec.Struct, frozen=True):
    """A line where a single change of this kind makes the checks pass."""

    line: int
    kind: str


class Failure(msgspec.Struct, frozen=True):
    """The reason why a check did not pass."""

    kind: FailureKind
    message: str = ""
    error: str = ""  # the exception's type
    line: int = 0  # in the student's module
    code: str = ""  # that line
    facts: tuple[str, ...] = ()  # shapes, dtypes and devices of the values on that line
    output: str = ""  # printed by the code
    waits_for: str = ""  # the unwritten exercise that this one calls
    places: tuple[SuspectLine, ...] = ()  # lines to look at


class CheckOutcome(msgspec.Struct, frozen=True):
    """The outcome of one public check."""

    test: str
    exercise: str
    claim: str
    failure: Failure | None = None
    skipped: str = ""  # why it cannot run here, such as a package that is not installed

    @property
    def state(self) -> State:
        if self.skipped:
            return "skipped"
        if self.failure is None:
            return "pass"
        return self.failure.kind if self.failure.kind in ("open", "waiting") else "fail"


class ExerciseResult(msgspec.Struct, frozen=True):
    """An exercise: how many checks passed, the first that did not, and every outcome."""

    name: str
    points: float
    state: State
    passed: int
    total: int
    first: CheckOutcome | None = None
    elective: bool = False
    outcomes: tuple[CheckOutcome, ...] = ()
    uses: tuple[str, ...] = ()  # failing exercises that it calls


class CheckResult(msgspec.Struct, frozen=True):
    """The results of the chosen exercises of a week."""

    folder: WeekFolder | None
    exercises: tuple[ExerciseResult, ...] = ()
    problem: str = ""  # the reason if no check could run
    broken: Failure | None = None  # why the module cannot be imported; `code` is two lines
    notes: tuple[str, ...] = ()  # accidents that checks do not detect, such as an unsaved file

    @property
    def heading(self) -> str:
        return self.folder.heading if self.folder else "Nothing was checked"

    @property
    def module(self) -> str:
        return self.folder.week.module if self.folder else ""

    @property
    def electives_counted(self) -> int | None:
        return self.folder.week.electives_counted if self.folder else None

    @property
    def passed(self) -> bool:
        problem = self.problem or self.broken
        return not problem and all(e.state == "pass" for e in self.exercises)

    @property
    def open_points(self) -> float:
        """Return the points to go, counting only as many electives as can still earn points."""
        left = [e for e in self.exercises if e.state != "pass"]
        electives = sorted((e.points for e in left if e.elective), reverse=True)
        if self.electives_counted is not None:
            passed = sum(e.elective and e.state == "pass" for e in self.exercises)
            electives = electives[: max(0, self.electives_counted - passed)]
        return sum(e.points for e in left if not e.elective) + sum(electives)


def claim_in_words(test: str, exercise: str) -> str:
    """Turn a test's name into words: `test_softmax_known_row` of softmax is "known row"."""
    words = test.split("[")[0].removeprefix("test_").removeprefix(exercise).strip("_")
    return words.replace("_", " ") or exercise


def sum_up(
    exercise: WeekExercise, outcomes: list[CheckOutcome], forbidden: CheckOutcome | None = None
) -> ExerciseResult:
    """Combine the outcomes of an exercise's checks.

    Failures of written code take precedence over failures of unwritten parts. A `forbidden` call
    fails the whole exercise, as in grading.
    """
    ran = [o for o in outcomes if not o.skipped]
    failed = [o for o in ran if o.state != "pass"]
    first = min(failed, key=lambda o: o.state != "fail", default=None)
    state: State = first.state if first else "pass" if ran else "open"
    if state == "open" and len(failed) < len(ran):
        state = "fail"  # some of its code is written
    passed, total = len(ran) - len(failed), len(ran)
    if outcomes and not ran:
        state, first = "skipped", outcomes[0]
    if forbidden:
        state, first, passed, total = "fail", forbidden, 0, len(outcomes)
    every, elective = tuple(outcomes), exercise.elective
    return ExerciseResult(
        exercise.name, exercise.points, state, passed, total, first, elective, every
    )


class CheckOrder(msgspec.Struct, frozen=True):
    """The exercises to check. `done`: checks to skip; `seconds`: limit for each check."""

    exercises: tuple[str, ...]
    done: tuple[str, ...] = ()
    seconds: float = 20.0


class CheckEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Progress of an order; an empty event: the student's module is about to be imported.

    begins, exercise: a check starts.
    outcome: a check ended; a second outcome of a check replaces the first.
    problem: the file of checks cannot be read.
    stopped: the failure of the module's import; no check runs.
    finished: the last event of an order that ran to its end.
    """

    begins: str = ""
    exercise: str = ""
    outcome: CheckOutcome | None = None
    problem: str = ""
    stopped: ImportFailure | None = None
    finished: bool = False


def timeout_message(seconds: float, computing: bool) -> str:
    """Return the message for code that exceeded its processor time or waited too long."""
    if computing:
        return (
            f"It was stopped after {seconds:g} seconds of processor time. "
            "Is there a loop that never ends?"
        )
    return (
        f"It was stopped after {PATIENCE * seconds:.0f} seconds, although it had processor time "
        "left. Does it wait for something, such as `time.sleep` or a lock?"
    )


def signal_name(code: int) -> str:
    """Return the name of the signal that ended a process, or "" for an ordinary exit code."""
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name if code < 0 else ""
    return f"signal {-code}"
