"""Results of public checks, and the messages between a command and the checking process.

The command writes a `CheckOrder` to the checking process as one line of JSON, and the process
answers with `CheckEvent` lines.
"""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path
from typing import Literal

import msgspec

from ...model.source.import_failure import ImportFailure

TIMED_OUT = 3  # exit code of a checking process that stopped itself

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
State = Literal["pass", "fail", "open", "waiting", "skipped"]


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
    facts: tuple[str, ...] = ()  # shapes, dtypes and devices of the values on it
    output: str = ""  # printed by the code
    waits_for: str = ""  # the unwritten exercise
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


def untried_checks(outcomes: tuple[CheckOutcome, ...]) -> frozenset[str]:
    """Return the checks that stopped at the same error as an earlier one."""
    stops: set[tuple[str, str, int]] = set()
    found = set()
    for outcome in outcomes:
        why = outcome.failure
        if why is None or why.kind not in ("raised", "missing", "forbidden"):
            continue
        if why.kind == "raised" and not why.line:
            continue
        place = (why.kind, why.error, why.line)
        if place in stops:
            found.add(outcome.test)
        stops.add(place)
    return frozenset(found)


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

    folder: Path
    heading: str
    module: str
    exercises: tuple[ExerciseResult, ...]
    problem: str = ""  # the reason if no check could run
    broken: Failure | None = None  # the module cannot be imported; `code` is two lines
    electives_counted: int | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()  # accidents that no check sees, such as a file that is not saved

    @property
    def passed(self) -> bool:
        return not self.problem and all(e.state == "pass" for e in self.exercises)

    @property
    def open_points(self) -> float:
        """Points to go; of the electives only as many as can still count."""
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
    name: str, points: float, outcomes: list[CheckOutcome], forbidden: CheckOutcome | None = None
) -> ExerciseResult:
    """Combine the outcomes of an exercise's checks.

    Its first failure is preferably one of written code, not of a part that is still a stub. A
    `forbidden` call fails the whole exercise, as in grading.
    """
    if forbidden:
        return ExerciseResult(name, points, "fail", 0, len(outcomes), forbidden)
    ran = [o for o in outcomes if not o.skipped]
    if outcomes and not ran:
        return ExerciseResult(name, points, "skipped", 0, 0, outcomes[0])
    failed = [o for o in ran if o.failure]
    first = min(failed, key=lambda o: o.failure.kind in _LATER if o.failure else 0, default=None)
    state: State = "pass" if ran else "open"
    if first and first.failure:
        state = "fail"
        if first.failure.kind == "waiting":
            state = "waiting"
        elif first.failure.kind == "open" and len(failed) == len(ran):
            state = "open"
    return ExerciseResult(name, points, state, len(ran) - len(failed), len(ran), first)


_LATER = ("open", "waiting")


class CheckOrder(msgspec.Struct, frozen=True):
    """The exercises to check, without the checks in `done`.

    number: counts the orders of one checking process; its events repeat it.
    """

    exercises: tuple[str, ...]
    done: tuple[str, ...] = ()
    seconds: float = 20.0
    number: int = 0


class CheckEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Progress of an order.

    begins, exercise, outcome: a check starts, or ended with this outcome.
    problem: the file of checks cannot be read.
    importing: the student's module is about to be imported (True), or has been (False).
    stopped: the failure of that import; no check runs.
    places: lines to look at for the failing checks of `exercise`.
    finished: the last event of an order that ran to its end.
    ended: exit code of the process forked for the order, whatever it reported itself.
    """

    begins: str = ""
    exercise: str = ""
    outcome: CheckOutcome | None = None
    problem: str = ""
    finished: bool = False
    ended: int | None = None
    importing: bool | None = None
    stopped: ImportFailure | None = None
    places: tuple[SuspectLine, ...] = ()
    order: int = 0


def signal_name(code: int) -> str:
    """Return the name of the signal that ended a process, or "" for an ordinary exit code."""
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name if code < 0 else ""
    return f"signal {-code}"
