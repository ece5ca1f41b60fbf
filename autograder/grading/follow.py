"""Follow-through: an exercise whose only fault is a helper's keeps its points.

Theory of operation. Where a student's `softmax` is wrong, their attention fails its tests however
well it is written. So an exercise that fails is tried once more with right helpers in the place of
the wrong ones (lending.py), as a teacher would do who marks it by hand: a failed test that passes
now is inherited, and one that fails now shows a mistake of the exercise's own, which is named and
priced by what it shows there. Of the student's own helper nothing is asked: whatever it answers, an
exercise earns what it would earn beside a right one, or what it earns as it was handed in, if that
is more and more of its tests pass so (standings.py): whoever agreed with themselves on another way
has a whole that works. It does not earn one test by the one and one by the other: a helper that
ignores `causal` would hide half of the mistakes of its caller.

A helper is lent only to what calls it in right code too: else two exercises that are not written
could be made of each other. Nothing is lent for one that is not written, or does not end: that is
no mistake which others could inherit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..model.verdicts import Verdict
from .dependence import dependence, named_in
from .lending import Right, RightHelpers, TimeLeft
from .plugin import Ran, exercise_of
from .runs import Runs
from .targets import Target

# Ends of a helper's own tests after which nobody waits for it again.
_HOPELESS = {Verdict.TIMEOUT, Verdict.LIMIT, Verdict.BAD_REPLY}
# What is tried beside right helpers: not what does not end.
_TRIED = (Verdict.PASS, Verdict.WRONG, Verdict.CRASHED, Verdict.FORBIDDEN, Verdict.LIMIT)
_UNWRITTEN = (Verdict.UNWRITTEN, Verdict.NOT_RUN)


@dataclass(frozen=True)
class Inherited:
    """Of an exercise: whose mistakes it carries, and what share of which failed test it earns.

    again: the tests that fail beside right helpers, and what they show there
    lent: those helpers
    """

    helpers: tuple[str, ...] = ()
    credit: Mapping[str, float] = field(default_factory=dict)
    again: Mapping[str, Ran] = field(default_factory=dict)
    lent: tuple[str, ...] = ()


@dataclass
class FollowThrough:
    """Asks for a week's submissions what their exercises inherit. `seconds`: for one submission."""

    runs: Runs
    seconds: float
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
    def _reached(self) -> dict[str, frozenset[str]]:
        """The exercises that each calls, or its tests do, in the solution or in an alternative.

        Of two that call each other in two programs neither is lent to the other.
        """
        bank = self.runs.bank
        sources = (bank.solution, *(a.source for a in bank.alternatives))
        programs = [dependence(s, self._exercises).asking(self._asked) for s in sources]
        found = {e: frozenset().union(*(p.reached(e) for p in programs)) for e in self._exercises}
        return {e: frozenset(h for h in found[e] if e not in found[h]) for e in found}

    def begin(self) -> None:
        """Another submission, with all its time before it."""
        self._left = TimeLeft(self.seconds)

    def helpers(self, names: Iterable[str]) -> RightHelpers:
        """Right ones of these names."""
        return RightHelpers(self._right, names, self._left)

    def of(
        self,
        files: Mapping[str, bytes],
        ran: Sequence[Ran],
        target: Callable[[RightHelpers], Target],
    ) -> dict[str, Inherited]:
        """By exercise, what it inherits. Where all is right nothing is asked or even read.

        target: where the submission answers, with helpers lent to it
        """
        runs = {e: [r for r in ran if r.exercise == e] for e in self._exercises}
        failing = [e for e in self._exercises if _failing(runs[e])]
        if len(failing) < 2:
            return {}
        faulty, found = set(failing), dict[str, Inherited]()
        for exercise in sorted(failing, key=lambda e: len(self._reached[e])):
            lent = {h for h in faulty & self._reached[exercise] if _can_be_lent(runs[h])}
            helpers = self.helpers(e for e in self._exercises if e in lent)
            if not helpers.lent or _nothing_written(runs[exercise]):
                continue
            beside = found[exercise] = self._beside(helpers, runs[exercise], files, target)
            if all(r.report.name in beside.credit for r in _failing(runs[exercise])):
                faulty.discard(exercise)
        return found

    def _beside(
        self,
        helpers: RightHelpers,
        runs: Iterable[Ran],
        files: Mapping[str, bytes],
        target: Callable[[RightHelpers], Target],
    ) -> Inherited:
        """How the tests of an exercise end beside right helpers."""
        alone = {r.report.name: r for r in runs if r.report.verdict in _TRIED}
        exercise = next(iter(alone.values())).exercise if alone else ""
        credit, again = dict[str, float](), dict[str, Ran]()

        def hear(ran: Ran) -> None:
            name = ran.report.name
            before = alone[name].report.verdict
            whole = helpers.answered_all()  # or it may have failed for want of an answer
            if ran.report.verdict.failed and (whole or before is Verdict.PASS):
                again[name] = ran
            elif ran.report.verdict is Verdict.PASS and before.failed:
                credit[name] = 1.0

        student = target(helpers)
        try:
            self.runs.run_some(student, files, exercise, alone.keys(), hear)
        finally:
            student.close()
        return Inherited(helpers.names if credit else (), credit, again, helpers.names)


def _failing(runs: Iterable[Ran]) -> list[Ran]:
    return [r for r in runs if r.report.verdict.failed]


def _can_be_lent(runs: list[Ran]) -> bool:
    """Return whether a helper of the student's is there and comes to an end."""
    return not _HOPELESS & {r.report.verdict for r in runs} and not _nothing_written(runs)


def _nothing_written(runs: Iterable[Ran]) -> bool:
    return all(r.report.verdict in _UNWRITTEN for r in runs)
