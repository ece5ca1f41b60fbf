"""Error carried forward: an exercise keeps its points if its only fault is in a helper.

Theory of operation. If a student's `softmax` is wrong, their attention fails its tests however well
it is written. So an exercise that fails is run again with correct helpers in place of the wrong
ones (lending.py), as a teacher would do who marks by hand. A failed test that passes now is
inherited: the mistake was the helper's. A test that still fails shows a mistake of the exercise's
own. The rules:

* The student's own calls decide which helpers an exercise has, not the solution's. A helper that
  needs the exercise, in the student's program or in the solution, is never replaced: otherwise two
  unfinished exercises could be made of each other.
* A source rule that is broken in a helper's lines is the helper's. The caller runs with a correct
  function in its place; the helper runs apart from the rest, to see whether it is an attempt.
* Only a genuine attempt is replaced: the student's helper earned points, or a misconception
  explains its outputs (`Standings.is_attempt`). A constant, a wrong type or code that only crashes
  is not an attempt, and neither is a helper that is unwritten or does not end. For a caller that
  needs no such helper in the solution or an alternative, the attempt must be nearly right: the
  helper could otherwise do the work of any exercise that is made of it.
* Credit requires use. A test that fails first and passes now earns credit only if a helper
  answered in it; whatever else differs between two runs of one program is no merit of it.
* A student's helper may take arguments that the correct one has no parameter for, or refuses. A
  test that fails where that happened names no mistake. It is inherited if its answer as submitted
  resembles the right one, as in a genuine attempt, and made no call that is not allowed.
* The exercise earns what it earns with correct helpers, or what it earned as it was submitted if
  that is more and more of its tests pass that way (standings.py). It never earns one test one way
  and another test the other way: a helper that ignores `causal` would hide half of the mistakes of
  its caller.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ..model.verdicts import Verdict
from .dependence import dependence, named_in
from .lending import Answered, Right, RightHelpers, TimeLeft
from .plugin import Ran, exercise_of
from .runs import Runs
from .targets import Target
from .worked import resembling

# Ends of a helper's own tests after which nobody waits for it again.
_HOPELESS = {Verdict.TIMEOUT, Verdict.LIMIT, Verdict.BAD_REPLY}
# What is run again with correct helpers: not what does not end.
_TRIED = (Verdict.PASS, Verdict.WRONG, Verdict.CRASHED, Verdict.FORBIDDEN, Verdict.LIMIT)
_UNWRITTEN = (Verdict.UNWRITTEN, Verdict.NOT_RUN)


@dataclass(frozen=True)
class Inherited:
    """What an exercise inherits: whose mistakes it carries, and what share of which failed test.

    again: the tests that fail with correct helpers, and how they end there
    lent: those helpers
    """

    helpers: tuple[str, ...] = ()
    credit: Mapping[str, float] = field(default_factory=dict)
    again: Mapping[str, Ran] = field(default_factory=dict)
    lent: tuple[str, ...] = ()


class CalledHelpers(NamedTuple):
    """The helpers of an exercise, in the student's program; `usual`: those of right programs."""

    own: frozenset[str]
    usual: frozenset[str]

    def wrong(self, attempts: Mapping[str, bool]) -> set[str]:
        """Return those of the attempts that a correct helper may stand in for.

        attempts: the helpers with mistakes of their own, and whether they are nearly right
        """
        return {h for h, near in attempts.items() if h in self.own and (near or h in self.usual)}


@dataclass
class FollowThrough:
    """Runs a week's exercises again with correct helpers. `seconds`: for one submission."""

    runs: Runs
    seconds: float
    call_seconds: float
    _left: TimeLeft = field(default_factory=lambda: TimeLeft(0.0))

    @cached_property
    def _exercises(self) -> tuple[str, ...]:
        return tuple(e.name for e in self.runs.week.exercises)

    @cached_property
    def _right(self) -> Right:
        return Right(self.runs.written("-lent", self.runs.bank.solution))

    @cached_property
    def _asked(self) -> dict[str, frozenset[str]]:
        """The exercises that the tests of each exercise call besides."""
        found: dict[str, frozenset[str]] = {}
        for item in self.runs.items:
            exercise = exercise_of(item)
            known = found.get(exercise, frozenset())
            found[exercise] = known | named_in(item.function, self._exercises) - {exercise}
        return found

    @cached_property
    def _in_solution(self) -> dict[str, frozenset[str]]:
        """The exercises that each one reaches in the solution."""
        return self._reached(self.runs.bank.solution)

    @cached_property
    def _usual(self) -> dict[str, frozenset[str]]:
        """The exercises that each one reaches in the solution or in an alternative."""
        others = [self._reached(a.source) for a in self.runs.bank.alternatives]
        return {e: found.union(*(o[e] for o in others)) for e, found in self._in_solution.items()}

    def _reached(self, source: str) -> dict[str, frozenset[str]]:
        """The exercises that each one, or its tests, reaches in a program."""
        calls = dependence(source, self._exercises).asking(self._asked)
        return {e: calls.reached(e) for e in self._exercises}

    def begin(self, source: str) -> dict[str, CalledHelpers]:
        """Begin another submission: return the helpers of its exercises, which come before the
        exercises that call them."""
        self._left = TimeLeft(self.seconds, self.call_seconds)
        reached, solution = self._reached(source), self._in_solution
        return {
            e: CalledHelpers(
                frozenset(h for h in reached[e] if e not in reached[h] | solution[h]),
                self._usual[e],
            )
            for e in sorted(self._exercises, key=lambda e: len(reached[e]))
        }

    def helpers(self, names: Iterable[str]) -> RightHelpers:
        """Return correct exercises of these names."""
        return RightHelpers(self._right, names, self._left)

    def inherited(
        self,
        runs: Collection[Ran],
        wrong: Collection[str],
        files: Mapping[str, bytes],
        target: Callable[[RightHelpers], Target],
    ) -> Inherited:
        """Return what an exercise inherits from helpers that are wrong.

        runs: how its tests ended. target: where the submission answers, with helpers lent to it
        """
        helpers = self.helpers(e for e in self._exercises if e in wrong)
        if not helpers.lent or _nothing_written(runs):
            return Inherited()
        before = {r.report.name: r for r in runs if r.report.verdict in _TRIED}
        exercise = next(iter(before.values())).exercise if before else ""
        credit, again, doubtful = dict[str, float](), dict[str, Ran](), list[Ran]()

        def hear(ran: Ran) -> None:
            name, answered = ran.report.name, helpers.take_answered()
            first = before[name].report.verdict
            # a refused question may be why it fails
            used = answered.answers and not answered.refusals
            if ran.report.verdict.failed and _is_in_doubt(answered, first, ran):
                doubtful.extend([before[name]] if first is Verdict.WRONG else [])
            elif ran.report.verdict.failed and (used or first is Verdict.PASS):
                again[name] = ran
            elif ran.report.verdict is Verdict.PASS and first.failed and answered.answers:
                credit[name] = 1.0

        student = target(helpers)
        try:
            self.runs.run_some(student, files, exercise, before.keys(), hear, helpers.names)
        finally:
            student.close()
        if doubtful:
            alike = resembling(doubtful, self.runs.right_answers(exercise))
            credit.update(dict.fromkeys(alike, 1.0))
        return Inherited(helpers.names if credit else (), credit, again, helpers.names)


def _is_in_doubt(answered: Answered, first: Verdict, ran: Ran) -> bool:
    """Return True if a test may fail because the student's own helper takes other arguments.

    No call that is not allowed may have helped it to its first answer.
    """
    crashed = Verdict.CRASHED
    refused = answered.raised and first is not crashed and ran.report.verdict is crashed
    return first is not Verdict.FORBIDDEN and bool(answered.dropped or refused)


def is_fault_of_its_own(runs: Iterable[Ran], inherited: Inherited) -> bool:
    """Return True if an exercise fails tests that it does not inherit."""
    return any(r.report.verdict.failed and r.report.name not in inherited.credit for r in runs)


def comes_to_an_end(runs: Collection[Ran]) -> bool:
    """Return True if an exercise is written, and none of its tests ran into a limit."""
    return not _HOPELESS & {r.report.verdict for r in runs} and not _nothing_written(runs)


def _nothing_written(runs: Iterable[Ran]) -> bool:
    return all(r.report.verdict in _UNWRITTEN for r in runs)
