"""Follow-through: an exercise whose only fault is a helper's keeps its points.

Theory of operation. Where a student's `softmax` is wrong, their attention fails its tests however
well it is written. What it should answer *given that softmax* is what the solution's attention
answers with it: so the solution runs here with the student's helper lent to it (lent.py), and the
student's own attention is compared with that, by the very tests that it failed. A property that a
test states directly (rows that sum to 1) is asked of the solution first; where it cannot hold with
this helper, it is not asked of the student.

A helper may be made to lie: one that answers zeros would make an empty attention right. So nothing
is inherited on trust. With the helper in place, wrong versions of the exercise must still fail:
each test must reject the empty ones (hollow.py) that it rejects otherwise, and the tests together
most of a random choice of the bank's misconceptions, or less is earned, or nothing (one that a
single test rejects otherwise speaks of that test alone). A test in which
the solution itself cannot go on with what the helper answers is inherited if the student's code
stopped there in the same way, and most of the exercise was proven by other tests. Each of these,
and the right program once more among them, runs with a process of its own that knows nothing of the
others, in an order nobody can foresee: a helper cannot tell for whom it is asked. A helper that
gives no answer carries nothing. What was found so holds for every helper of the class with the same
answers (guards.py).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from ..files.hashing import feed
from ..model.verdicts import Verdict
from ..worker import wire
from .dependence import Dependence
from .guards import KnownGuards
from .hollow import HOLLOW, hollowed
from .lent import Change, Composed, Lender, Patience, unchanged
from .outcomes import Outcome
from .plugin import GraderPlugin, Ran, Scene
from .targets import RecordedTarget, Target

# Misconceptions tried with a helper, and on how many tests each.
_CHOSEN, _TRIED = 8, 3
# The share of them still told from right ones from which all is earned, and below which nothing:
# some mistakes only this helper can show, and a helper that hides most mistakes teaches nothing.
_ALL, _NOTHING = 0.75, 0.5
# The share of an exercise that other tests have proven before it may stop where its helper fails.
_PROVEN = 0.5
# On fewer versions that a test lets pass, chance decides.
_FEW = 3


class Kind(Enum):
    """What a version of the exercise is, and so what must become of it."""

    RIGHT = "passes"
    HOLLOW = "fails each test"
    WRONG = "fails most tests"


@dataclass(frozen=True)
class Program:
    """A right program of the bank, ready to be imported."""

    path: Path
    source: tuple[str, ...]
    dependence: Dependence


@dataclass(frozen=True)
class Inherited:
    """Of an exercise: whose mistakes it carries, and what share of which failed test it earns."""

    helpers: tuple[str, ...] = ()
    credit: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Carrying:
    """One exercise of one submission, and all that is needed to ask what it inherits."""

    exercise: str
    lent: tuple[str, ...]
    program: Program
    items: Sequence[Any]
    source: tuple[str, ...]
    target: Callable[[], Target]
    charged_elsewhere: Callable[[wire.Banned], bool]
    paid: frozenset[str]  # calls that the lent helpers are charged for
    wrong: Mapping[str, tuple[Path, frozenset[str]]]  # misconceptions, and the tests they fail
    rejected: Mapping[str, frozenset[str]]  # ways of being empty, and the tests that reject them
    stopped: Callable[[str, str], bool]  # whether the student's code stopped so in a test
    passed: float  # weight of the tests that passed
    weight: float  # of all tests that count
    secret: bytes
    patience: Patience

    def is_paid(self, banned: wire.Banned) -> bool:
        """Whether a call is a lent helper's, where that runs in the same process as ours."""
        return banned.call in self.paid

    def lender(self) -> Lender:
        """A process of the student's that lends its helpers."""
        return Lender(self.target(), self.patience)

    def with_helpers(self, lender: Lender) -> Composed:
        """The right program with the helpers of that process."""
        return Composed(self.program.path, self.lent, lender)

    def composed(self, path: Path, change: Change = unchanged) -> Composed:
        """A program with the helpers of a process of its own."""
        return Composed(path, self.lent, self.lender(), change)


def inherited(plugin: GraderPlugin, carrying: Carrying, guards: KnownGuards) -> Inherited:
    """What the exercise earns of its failed tests, given the helpers that it calls."""
    lenders = carrying.lender(), carrying.lender()
    reference, precise = (RecordedTarget(carrying.with_helpers(lenders[0]), {}) for _ in range(2))
    right, student = carrying.with_helpers(lenders[1]), carrying.target()
    try:
        held, stopped = [], []
        for item in carrying.items:
            if carrying.patience.over:
                break
            source, paid = carrying.program.source, carrying.is_paid
            scene = Scene(right, reference, precise, source, None, paid)
            ran, unmet = _run(plugin, carrying, scene, item)
            if ran.stopped and carrying.stopped(ran.report.name, ran.stopped):
                stopped.append(ran.report)
            if ran.report.verdict is Verdict.WRONG:
                return Inherited()  # the same program twice: the helper answers as it likes
            if ran.report.verdict is not Verdict.PASS:
                continue
            scene = Scene(
                student, reference, precise, carrying.source, unmet, carrying.charged_elsewhere
            )
            if _run(plugin, carrying, scene, item)[0].report.verdict is Verdict.PASS:
                held.append((item, unmet))
        credit = dict[str, float]()
        if held:
            key = _key(plugin, carrying, lenders, held)
            order = random.Random(key)
            credit |= guards.of(
                key, lambda: _guarded(plugin, carrying, reference, precise, held, order)
            )
        weights = {plugin.name(i): _weight(plugin, i) for i, _ in held}
        proven = carrying.passed + sum(weights[n] for n in credit)
        if proven >= _PROVEN * carrying.weight:
            credit |= dict.fromkeys((r.name for r in stopped), min(credit.values(), default=1.0))
        return Inherited(carrying.lent, credit) if credit else Inherited()
    finally:
        for target in (reference, right, student):
            target.close()


def _weight(plugin: GraderPlugin, item: Any) -> float:
    return plugin.report_of(item).weight


def _run(
    plugin: GraderPlugin, carrying: Carrying, scene: Scene, item: Any
) -> tuple[Ran, frozenset[int]]:
    with carrying.patience.working():
        return plugin.run_in(scene, item)


def _guarded(
    plugin: GraderPlugin,
    carrying: Carrying,
    reference: RecordedTarget,
    precise: RecordedTarget,
    held: list[tuple[Any, frozenset[int]]],
    order: random.Random,
) -> dict[str, float] | None:
    """The tests that may be inherited with this helper, and what share of each.

    None if there was no time to find out.
    """
    names = {plugin.name(item): (item, unmet) for item, unmet in held}
    told: list[dict[str, bool]] = []  # of each wrong version, whether a test rejects it
    lost: set[str] = set()
    for kind, target, tests in _variants(carrying, list(names), order):
        if kind is Kind.WRONG:
            told.append({})
        try:
            for name in tests:
                if carrying.patience.over:
                    return None
                item, unmet = names[name]
                source, paid = carrying.program.source, carrying.is_paid
                scene = Scene(target, reference, precise, source, unmet, paid)
                ran, _ = _run(plugin, carrying, scene, item)
                if kind is Kind.WRONG:
                    told[-1][name] = ran.report.verdict.failed
                elif (ran.report.verdict is Verdict.PASS) is (kind is Kind.HOLLOW):
                    lost.add(name)
        finally:
            target.close()
    for name in names:
        tried = [of_one[name] for of_one in told if name in of_one]
        if len(tried) >= _FEW and not any(tried):
            lost.add(name)
    return _credit(names.keys() - lost, told)


def _credit(tests: Set[str], told: Sequence[Mapping[str, bool]]) -> dict[str, float]:
    """What share is earned of which tests, if they tell wrong versions so from right ones.

    A version that only one test rejects, whatever the helper, speaks for or against that one: it
    would earn all others anyway. Of the others all count: a helper that hides them from most of
    their tests leaves little to tell.
    """
    of_several = [v for v in told if len(v) > 1] or [v for v in told if v.keys() & tests]
    share = _share([{t: seen for t, seen in v.items() if t in tests} for v in of_several])
    alone = {
        t: _share([v for v in told if v.keys() == {t}]) for v in told for t in v if len(v) == 1
    }
    credit = {t: min(share, alone.get(t, share)) for t in sorted(tests)}
    return {t: earned for t, earned in credit.items() if earned}


def _share(told: Iterable[Mapping[str, bool]]) -> float:
    """The share that is earned if wrong versions are told so from right ones."""
    seen = [any(of_one.values()) for of_one in told]
    share = sum(seen) / len(seen) if seen else 0.0
    return 1.0 if share >= _ALL else share if share >= _NOTHING else 0.0


def _variants(
    carrying: Carrying, names: list[str], order: random.Random
) -> Iterator[tuple[Kind, Target, list[str]]]:
    """Wrong, empty and right versions to be tried, each with the tests it is tried on."""
    path = carrying.program.path
    kinds: list[tuple[Kind, Callable[[], Target], list[str]]] = [
        (Kind.RIGHT, partial(carrying.composed, path), names)
    ]
    for way, rejected in carrying.rejected.items():
        empty = partial(carrying.composed, path, hollowed(carrying.exercise, HOLLOW[way]))
        kinds.append((Kind.HOLLOW, empty, [n for n in names if n in rejected]))
    failing = {m: [n for n in names if n in failed] for m, (_, failed) in carrying.wrong.items()}
    useful = sorted(m for m, tests in failing.items() if tests)
    for name in order.sample(useful, min(len(useful), _CHOSEN)):
        tests = order.sample(failing[name], min(len(failing[name]), _TRIED))
        kinds.append((Kind.WRONG, partial(carrying.composed, carrying.wrong[name][0]), tests))
    order.shuffle(kinds)
    for kind, make, tests in kinds:
        if tests:
            yield kind, make(), tests


def _key(
    plugin: GraderPlugin,
    carrying: Carrying,
    lenders: Iterable[Lender],
    held: Iterable[tuple[Any, frozenset[int]]],
) -> bytes:
    """A hash of all that the guard depends on; nobody could foresee it who lacks the secret.

    Beside the helper's answers to right code in the tests that held, these are the tests, what is
    not asked in them, which right program asked, and which calls count as the helper's.
    """
    digest = hashlib.blake2b(key=carrying.secret[:64], digest_size=20)
    program = carrying.program.path.parent.name
    facts = [carrying.exercise, program, *carrying.lent, "", *sorted(carrying.paid)]
    for fact in facts:
        feed(digest, fact.encode("utf-8", "surrogatepass"))
    for item, unmet in held:
        name = plugin.name(item)
        feed(digest, name.encode())
        feed(digest, repr(sorted(unmet)).encode())
        for lender in lenders:
            feed(digest, lender.transcript.of(name))
    return digest.digest()


def calls_not_allowed(runs: Iterable[Ran]) -> set[tuple[str, int | None]]:
    """The calls that are not allowed in the answers of these runs, by name and line."""
    replies = (a for r in runs for a in r.answers if not isinstance(a, Outcome))
    return {(b.call, b.line) for reply, _ in replies for b in reply.banned}


__all__ = ["Carrying", "Inherited", "Program", "calls_not_allowed", "inherited"]
