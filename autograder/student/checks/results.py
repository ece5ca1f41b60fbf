"""What a check found: plain data that passes between two Pythons and rests in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

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


class Spot(msgspec.Struct, frozen=True):
    """A line of the student's module at which one change of this kind would do."""

    line: int
    kind: str


class Failure(msgspec.Struct, frozen=True):
    """Why a check did not pass, as far as it can be said from outside the student's head."""

    kind: FailureKind
    message: str = ""
    error: str = ""  # the exception's type
    line: int = 0  # in the student's module
    code: str = ""  # that line
    facts: tuple[str, ...] = ()  # shapes, dtypes and devices on it
    output: str = ""  # what the code printed
    waits_for: str = ""  # the unwritten exercise
    places: tuple[Spot, ...] = ()  # where to look


class CheckOutcome(msgspec.Struct, frozen=True):
    """One public check."""

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


def unseen(outcomes: tuple[CheckOutcome, ...]) -> frozenset[str]:
    """The checks that stopped where an earlier one did, before what they claim was tried."""
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
    """One exercise: how many of its checks passed, the first that did not, and how each went."""

    name: str
    points: float
    state: State
    passed: int
    total: int
    first: CheckOutcome | None = None
    elective: bool = False
    outcomes: tuple[CheckOutcome, ...] = ()
    uses: tuple[str, ...] = ()  # exercises that it calls and whose own checks fail


class CheckResult(msgspec.Struct, frozen=True):
    """How the chosen exercises of a week stand."""

    folder: Path
    heading: str
    module: str
    exercises: tuple[ExerciseResult, ...]
    problem: str = ""  # why nothing could be checked
    broken: Failure | None = None  # the module cannot be imported; its code is two lines
    electives_counted: int | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()  # accidents that the checks do not see, such as a file not saved

    @property
    def passed(self) -> bool:
        return not self.problem and all(e.state == "pass" for e in self.exercises)

    @property
    def open_points(self) -> float:
        """Points of what does not pass yet; of electives only as many as still can count."""
        left = [e for e in self.exercises if e.state != "pass"]
        electives = sorted((e.points for e in left if e.elective), reverse=True)
        if self.electives_counted is not None:
            passed = sum(e.elective and e.state == "pass" for e in self.exercises)
            electives = electives[: max(0, self.electives_counted - passed)]
        return sum(e.points for e in left if not e.elective) + sum(electives)


def claim_in_words(test: str, exercise: str) -> str:
    """`test_softmax_known_row` of softmax claims "known row"."""
    words = test.split("[")[0].removeprefix("test_").removeprefix(exercise).strip("_")
    return words.replace("_", " ") or exercise


def sum_up(
    name: str, points: float, outcomes: list[CheckOutcome], forbidden: CheckOutcome | None = None
) -> ExerciseResult:
    """An exercise that was begun shows its first real failure, not the part still to be written.

    With a call that is `forbidden` nothing counts, as in the grading.
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
