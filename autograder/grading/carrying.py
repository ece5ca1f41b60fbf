"""One exercise that calls a wrong one: all that is needed to ask what it inherits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..model.verdicts import Verdict
from ..worker import wire
from .asked import Asks, HelperQuestions
from .dependence import Dependence
from .lender import Lender, Patience
from .lent import Change, Composed, unchanged
from .neglect import Neglect
from .outcomes import Outcome
from .plugin import GraderPlugin, Ran, Scene
from .targets import RecordedTarget, Target

Held = tuple[Any, frozenset[int]]  # a test, and the properties that are not asked in it


@dataclass(frozen=True)
class Program:
    """A right program of the bank, ready to be imported.

    own: which exercise calls which; dependence: with what their tests call besides
    """

    path: Path
    source: tuple[str, ...]
    own: Dependence
    dependence: Dependence


@dataclass(frozen=True)
class RightSides:
    """What a student's exercise is compared with: right code with the student's helpers."""

    reference: RecordedTarget
    precise: RecordedTarget

    def close(self) -> None:
        for target in (self.reference, self.precise):
            target.close()


@dataclass(frozen=True)
class Carrying:
    """One exercise of one submission, and what it calls."""

    plugin: GraderPlugin
    exercise: str
    lent: tuple[str, ...]
    program: Program
    items: Sequence[Any]
    passing: Sequence[Any]  # tests that the exercise passes as it is
    source: tuple[str, ...]
    target: Callable[..., Target]  # where the student's code answers, with more text after it
    lends: Callable[[], Target]  # where the helpers answer
    charged_elsewhere: Callable[[wire.Banned], bool]
    paid: frozenset[str]  # calls that the lent helpers are charged for
    doubtful: frozenset[str]  # tests with a call in a helper that is not known to do its work
    wrong: Mapping[str, tuple[Path, frozenset[str]]]  # misconceptions, and the tests they fail
    rejected: Mapping[str, frozenset[str]]  # ways of being empty, and the tests that reject them
    neglects: Sequence[Neglect]  # ways in which the program can neglect the helpers
    needs: Callable[[Any, Neglect], bool]  # whether a test rejects that with right helpers
    stopped: Callable[[str, str], bool]  # whether the student's code stopped so in a test
    passed: float  # weight of the tests that passed
    weight: float  # of all tests that count
    secret: bytes
    patience: Patience
    stand_in: Path | None = None  # what is lent in place of a student's helpers

    @property
    def stands_in(self) -> bool:
        """Whether the helpers are no student's, but stand-ins for them."""
        return self.stand_in is not None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(self.plugin.name, self.items))

    def weight_of(self, test: str) -> float:
        """What a test that is asked counts within the exercise."""
        return self._weights[test]

    @cached_property
    def _weights(self) -> dict[str, float]:
        plugin = self.plugin
        return {plugin.name(i): plugin.known(i).report.weight for i in self.items}

    def lender(self, questions: HelperQuestions | None = None) -> Lender:
        """A process that lends the helpers."""
        return Lender(self.lends(), self.patience, questions)

    def with_helpers(self, lender: Lender) -> Composed:
        """The right program with the helpers of that process."""
        return Composed(self.program.path, self.lent, lender)

    def composed(self, path: Path, lender: Lender, change: Change = unchanged) -> Composed:
        """A program with the helpers of that process."""
        return Composed(path, self.lent, lender, change)

    def elsewhere(self, compare: Callable[[Asks], bool]) -> bool:
        """What a comparison with the answers of a process of its own says."""
        lender = self.lender()
        try:
            return self.of(lender, compare)
        finally:
            lender.close()

    def of(self, lender: Lender, compare: Callable[[Asks], bool]) -> bool:
        """What a comparison with the answers of that process says."""
        lender.begin("", self.exercise)
        with self.patience.working():
            return compare(lender.again)

    def run_right(
        self, item: Any, target: Target, sides: RightSides, excused: frozenset[int] | None
    ) -> tuple[Ran, frozenset[int]]:
        """A test with the right program, or a version of it, in the student's place.

        A call that is not allowed is a lent helper's, which runs in the same process as ours.
        """
        return self._run(
            item, sides, target, self.program.source, excused, lambda b: b.call in self.paid
        )

    def run_student(
        self, item: Any, target: Target, sides: RightSides, excused: frozenset[int]
    ) -> Verdict:
        """How a test ends with the student's own exercise."""
        ran, _ = self._run(item, sides, target, self.source, excused, self.charged_elsewhere)
        return ran.report.verdict

    def _run(
        self,
        item: Any,
        sides: RightSides,
        target: Target,
        source: tuple[str, ...],
        excused: frozenset[int] | None,
        elsewhere: Callable[[wire.Banned], bool],
    ) -> tuple[Ran, frozenset[int]]:
        scene = Scene(target, sides.reference, sides.precise, source, excused, elsewhere)
        with self.patience.working():
            return self.plugin.run_in(scene, item)


def calls_not_allowed(runs: Iterable[Ran]) -> set[tuple[str, int | None]]:
    """The calls that are not allowed in the answers of these runs, by name and line."""
    replies = (a for r in runs for a in r.answers if not isinstance(a, Outcome))
    return {(b.call, b.line) for reply, _ in replies for b in reply.banned}


def raised_in(ran: Ran) -> wire.Raised | None:
    """What ended a test by an exception of the code in the student's place."""
    last = ran.answers[-1] if ran.answers else None
    if ran.report.verdict is not Verdict.CRASHED or last is None or isinstance(last, Outcome):
        return None
    return last[0].raised
