"""What the exercises of one submission inherit from each other: who is lent to whom, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ..model.axes import CPU, FAKE_GPU
from ..model.verdicts import Verdict
from ..worker import wire
from .carrying import Carrying, Program, calls_not_allowed, raised_in
from .dependence import Dependence, dependence, named_in
from .expected import KnownExpectations
from .follow import DECIDED, PROVEN, Inherited, inherited
from .guards import KnownGuards
from .hollow import HOLLOW, Emptied, hollowed
from .lender import Patience, Unanswered
from .lent import Changed
from .neglect import Neglect, neglecting, neglects
from .plugin import Ran, exercise_of
from .runs import Runs
from .standin import StandIns
from .targets import Target

# Ends of a helper's own tests after which nobody waits for it again.
_HOPELESS = {Verdict.TIMEOUT, Verdict.LIMIT, Verdict.BAD_REPLY}
# As many times as long as helpers may take, what is made of their answers may: else right code
# would lose points where the first of a class has the dearest helper and the machine is busy.
_OF_OURS = 3.0
# What can be inherited: of the others nothing says what would have been right.
_CARRIED = (Verdict.WRONG, Verdict.CRASHED)


@dataclass
class Heritage:
    """Asks for a week's submissions what their exercises inherit. `seconds`: for one submission."""

    runs: Runs
    secret: bytes
    seconds: float
    guards: KnownGuards
    expectations: KnownExpectations = field(default_factory=KnownExpectations)
    _hollow: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    _needed: dict[tuple[Any, Path, Neglect], bool] = field(default_factory=dict)

    @cached_property
    def _stand_ins(self) -> StandIns:
        return StandIns(self.runs.written)

    @cached_property
    def _exercises(self) -> tuple[str, ...]:
        return tuple(e.name for e in self.runs.week.exercises)

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
    def _programs(self) -> tuple[Program, ...]:
        """The solution first, then the alternatives: in some of these exercises call others."""
        bank = self.runs.bank
        sources = [("solution", bank.solution)]
        sources += [(f"alternative-{a.name}", a.source) for a in bank.alternatives]
        return tuple(self._program(name, source) for name, source in sources)

    def _program(self, name: str, source: str) -> Program:
        own = dependence(source, self._exercises)
        path, lines = self.runs.written(name, source), tuple(source.split("\n"))
        return Program(path, lines, own, own.asking(self._asked))

    def of(
        self, source: tuple[str, ...], ran: Sequence[Ran], target: Callable[..., Target]
    ) -> dict[str, Inherited]:
        """By exercise, what it inherits. Where all is right nothing is asked or even read."""
        runs = {e: [r for r in ran if r.exercise == e] for e in self._exercises}
        failing = [e for e in self._exercises if _failing(runs[e])]
        if len(failing) < 2:
            return {}
        own = dependence("\n".join(source), self._exercises).asking(self._asked)
        faulty, found = set(failing), dict[str, Inherited]()
        patience = Patience(self.seconds, _OF_OURS * self.seconds)
        for exercise in sorted(failing, key=lambda e: len(own.reached(e))):
            lent = {h for h in faulty & own.reached(exercise) if _lendable(runs[h])}
            if not lent or _nothing_written(runs[exercise]):
                continue
            # a helper that has its own mistake from another one need not be lent beside that one;
            # but where that one hides much, or stops, it may show more
            results = [Inherited()]
            every = lent | {h for h in found.keys() & own.reached(exercise) if _lendable(runs[h])}
            choices = map(frozenset, (lent - found.keys(), lent, every))
            for some in dict.fromkeys(choices):
                if not some:
                    continue
                if _keeps_all(results[-1], runs[exercise]):
                    break
                carrying = self._carrying(exercise, set(some), own, runs, source, target, patience)
                if carrying is not None:
                    results.append(_with_twins(self._inherited(carrying), runs[exercise]))
            result = max(results, key=lambda r: _earned(r, runs[exercise]))
            result = self._with_the_claimed_device(result, exercise, own, runs)
            result = self._with_several_calls(result, exercise, own, runs)
            if result.credit:
                found[exercise] = result
            if _is_whole(result, runs[exercise]):
                faulty.discard(exercise)
        return found

    def _with_the_claimed_device(
        self, found: Inherited, exercise: str, own: Dependence, runs: Mapping[str, list[Ran]]
    ) -> Inherited:
        """Carry what stopped on the claimed device in a helper's line, where its own tests stop.

        A claimed tensor has no data to lend, so most of the exercise must be proven by other tests.
        """
        stopped = dict[str, str]()
        for ran in _on_claimed(runs[exercise]):
            how, name = raised_in(ran), ran.report.name
            if how is None or how.line is None or name in found.credit:
                continue
            for helper in own.reached(exercise):
                there = {(h.type, h.line) for r in _on_claimed(runs[helper]) if (h := raised_in(r))}
                if (how.type, how.line) in there and own.owns(helper, how.line):
                    stopped[name] = helper
        return self._left_out(found, stopped, runs[exercise], PROVEN)

    def _with_several_calls(
        self, found: Inherited, exercise: str, own: Dependence, runs: Mapping[str, list[Ran]]
    ) -> Inherited:
        """Leave out what several calls in a row show, where a helper fails in the same way.

        A helper is lent call by call: what it keeps from one call for the next cannot be lent.
        """
        faulty = {h for h in own.reached(exercise) if self._in_a_row(runs[h])}
        names = [n for n in self._in_a_row(runs[exercise]) if n not in found.credit]
        helpers = [e for e in self._exercises if e in faulty]
        if not helpers:
            return found
        return self._left_out(found, dict.fromkeys(names, helpers[0]), runs[exercise], DECIDED)

    def _in_a_row(self, runs: Iterable[Ran]) -> list[str]:
        """The tests of several calls in a row that came to a wrong end."""
        wrong = {r.report.name for r in runs if r.report.verdict is Verdict.WRONG}
        return [
            name
            for item in self.runs.items
            if "in_a_row" in item.function.__code__.co_names
            and (name := self.runs.plugin.name(item)) in wrong
        ]

    def _left_out(
        self, found: Inherited, stopped: Mapping[str, str], runs: Iterable[Ran], share: float
    ) -> Inherited:
        """Count these tests as the others on average, if those are so much of the exercise.

        stopped: for each of them, the helper in which it fails
        """
        counted = [r.report for r in runs if r.report.verdict.counted]
        rest = [t for t in counted if t.name not in stopped]
        proven = sum(
            t.weight * (1.0 if t.verdict is Verdict.PASS else found.credit.get(t.name, 0.0))
            for t in rest
        )
        if not stopped or proven < share * sum(t.weight for t in counted):
            return found
        helpers = {*found.helpers, *stopped.values()}
        earned = proven / sum(t.weight for t in rest)
        return Inherited(
            tuple(e for e in self._exercises if e in helpers),
            {**found.credit, **dict.fromkeys(stopped, earned)},
        )

    def _inherited(self, carrying: Carrying) -> Inherited:
        result: Inherited = self.runs.within(
            lambda: inherited(carrying, self.expectations, self.guards, self._stand_ins)
        )
        return result

    def _carrying(
        self,
        exercise: str,
        lent: set[str],
        own: Dependence,
        runs: Mapping[str, list[Ran]],
        source: tuple[str, ...],
        target: Callable[..., Target],
        patience: Patience,
    ) -> Carrying | None:
        program = max(self._programs, key=lambda p: len(lent & p.dependence.reached(exercise)))
        lent &= program.dependence.reached(exercise)
        if not lent:
            return None
        bank = self.runs.of_misconceptions(exercise)
        elsewhere = self._charged_elsewhere(exercise, lent, own, runs)
        helpers_work = set[str]().union(*map(self._work, lent))
        failed = [r for r in _failing(runs[exercise]) if FAKE_GPU not in r.report.name]
        wanted = {r.report.name for r in failed if _can_be_carried(r, elsewhere)}
        passing = {r.report.name for r in runs[exercise] if r.report.verdict is Verdict.PASS}
        sources = {m.name: m.source for m in self.runs.bank.of_exercise(exercise)}
        return Carrying(
            plugin=self.runs.plugin,
            exercise=exercise,
            lent=tuple(e for e in self._exercises if e in lent),
            program=program,
            items=[i for i in self.runs.items if self.runs.plugin.name(i) in wanted],
            passing=[i for i in self.runs.items if self.runs.plugin.name(i) in passing],
            source=source,
            target=target,
            lends=target,
            charged_elsewhere=elsewhere,
            paid=frozenset(c for h in lent for c, _ in calls_not_allowed(runs[h])),
            doubtful=frozenset(
                r.report.name
                for r in failed
                if any(c.strip("_") not in helpers_work for c, _ in calls_not_allowed([r]))
            ),
            wrong={
                name: (
                    self.runs.written(name, sources[name]),
                    # a call that is not allowed may be the helper's too: then it tells nothing
                    frozenset(
                        r.report.name for r in failed if r.report.verdict is not Verdict.FORBIDDEN
                    ),
                )
                for name, failed in bank.items()
            },
            rejected=self._rejected(exercise),
            neglects=neglects(
                "\n".join(program.source), sorted(lent & program.own.reached(exercise, lent))
            ),
            needs=partial(self._needs, program),
            stopped=_Stopped(runs[exercise], own, lent),
            passed=sum(r.report.weight for r in runs[exercise] if r.report.verdict is Verdict.PASS),
            weight=sum(
                r.report.weight
                for r in runs[exercise]
                if r.report.verdict.counted and not _is_decided_by_its_twin(r, wanted)
            ),
            secret=self.secret,
            patience=patience,
        )

    def _rejected(self, exercise: str) -> dict[str, frozenset[str]]:
        """Ways of being empty, and the tests that reject the exercise made so, all else right."""
        known = self._hollow.get(exercise)
        if known is None:
            known = self._hollow[exercise] = {
                way: self._failed_by(exercise, emptied) for way, emptied in HOLLOW.items()
            }
        return known

    def _needs(self, program: Program, item: Any, neglect: Neglect) -> bool:
        """Whether a test rejects a right program that neglects a right helper."""
        key = item, program.path, neglect
        if key not in self._needed:
            target = Changed(program.path, neglecting(neglect, self.secret))
            (ran,) = self.runs.plugin.run(target, program.source, [item], {})
            target.close()
            self._needed[key] = ran.report.verdict.failed
        return self._needed[key]

    def _failed_by(self, exercise: str, emptied: Emptied) -> frozenset[str]:
        solution = self._programs[0]
        target = Changed(solution.path, hollowed(exercise, emptied))
        ran = self.runs.run(target, solution.source, exercise)
        return frozenset(r.report.name for r in _failing(ran))

    def _charged_elsewhere(
        self,
        exercise: str,
        lent: Iterable[str],
        own: Dependence,
        runs: Mapping[str, list[Ran]],
    ) -> Callable[[wire.Banned], bool]:
        """Whether a forbidden call belongs to a helper, which lost its own points for it.

        Not if it is a call that does this exercise's own work: those are known from the bank.
        """
        paid = {c for h in lent for c in calls_not_allowed(runs[h])}
        if not paid:
            return lambda banned: False
        own_work = self._work(exercise).difference(*(self._work(h) for h in lent))

        def elsewhere(banned: wire.Banned) -> bool:
            line = banned.line
            return (
                line is not None
                and (banned.call, line) in paid
                and banned.call.strip("_") not in own_work
                and not own.owns(exercise, line)
                and any(own.owns(h, line) for h in own.reached(exercise))
            )

        return elsewhere

    def _work(self, exercise: str) -> set[str]:
        """The calls that are not allowed because they do the exercise, as the bank knows them."""
        runs = self.runs.of_misconceptions(exercise).values()
        return {call.strip("_") for m in runs for call, _ in calls_not_allowed(m)}


class _Stopped:
    """Whether the student's exercise stopped in a test as the solution does with the helpers."""

    def __init__(self, runs: Iterable[Ran], own: Dependence, lent: Iterable[str]) -> None:
        self._raised = {r.report.name: raised_in(r) for r in _failing(runs)}
        self._own, self._lent = own, tuple(lent)

    def __call__(self, test: str, how: str) -> bool:
        raised = self._raised.get(test)
        if raised is None:
            return False
        if how != Unanswered.__name__:
            return raised.type == how
        return raised.line is not None and any(self._own.owns(h, raised.line) for h in self._lent)


def _with_twins(found: Inherited, runs: Iterable[Ran]) -> Inherited:
    """Carry a test on the claimed device as far as the same test on the CPU.

    A claimed tensor has no data to lend. If the same thing is said of both, it has one cause.
    """
    failed = {r.report.name: r.report for r in _failing(runs)}
    credit = dict(found.credit)
    for name, report in failed.items():
        twin = name.replace(FAKE_GPU, CPU)
        if twin != name and twin in credit and failed[twin].message == report.message:
            credit[name] = credit[twin]
    return Inherited(found.helpers, credit)


def _is_decided_by_its_twin(ran: Ran, wanted: Set[str]) -> bool:
    """Whether a test failed on the claimed device, and is asked on the CPU."""
    name = ran.report.name
    return ran.report.verdict.failed and FAKE_GPU in name and name.replace(FAKE_GPU, CPU) in wanted


def _keeps_all(found: Inherited, runs: Iterable[Ran]) -> bool:
    """Whether all that fails is inherited in full: then nothing more can be proven."""
    return all(found.credit.get(r.report.name) == 1.0 for r in _failing(runs))


def _is_whole(found: Inherited, runs: Iterable[Ran]) -> bool:
    """Whether all that fails is inherited."""
    return all(r.report.name in found.credit for r in _failing(runs))


def _earned(found: Inherited, runs: Iterable[Ran]) -> float:
    return sum(r.report.weight * found.credit.get(r.report.name, 0.0) for r in _failing(runs))


def _failing(runs: Iterable[Ran]) -> list[Ran]:
    return [r for r in runs if r.report.verdict.failed]


def _lendable(runs: list[Ran]) -> bool:
    """Return True if a helper is there and comes to an end."""
    verdicts = {r.report.verdict for r in runs}
    return not verdicts & _HOPELESS and not _nothing_written(runs)


def _on_claimed(runs: Iterable[Ran]) -> list[Ran]:
    """The failing tests that ran on the claimed device."""
    return [r for r in _failing(runs) if FAKE_GPU in r.report.name]


def _nothing_written(runs: Iterable[Ran]) -> bool:
    return all(r.report.verdict in (Verdict.UNWRITTEN, Verdict.NOT_RUN) for r in runs)


def _can_be_carried(ran: Ran, elsewhere: Callable[[wire.Banned], bool]) -> bool:
    if ran.report.verdict is Verdict.FORBIDDEN:
        calls = calls_not_allowed([ran])
        return bool(calls) and all(elsewhere(wire.Banned(c, line)) for c, line in calls)
    return ran.report.verdict in _CARRIED
