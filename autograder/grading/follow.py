"""Follow-through: an exercise whose only fault is a helper's keeps its points.

Theory of operation. Where a student's `softmax` is wrong, their attention fails its tests however
well it is written. What it should answer *given that softmax* is what the solution's attention
answers with it: so the solution runs here with the student's helper lent to it (lent.py), and the
student's own attention is compared with that, by the very tests that it failed. A property that a
test states directly (rows that sum to 1) is asked of the solution first; where it cannot hold with
this helper, it is not asked of the student.

A helper may be made to lie: one that answers zeros would make an empty attention right. So nothing
is inherited on trust: with the helper in place, empty and wrong versions must still fail
(guards.py). A test in which the solution itself cannot go on with what the helper answers is tried
with a stand-in for it, on both sides (standin.py), and so is one of which the helper hides much: a
mistake that shows there is no longer hidden, and nothing is earned. Beside a stand-in, too, must
hold what a helper answered with a forbidden call that is not known to do its own work. Where there
is no stand-in, or it shows no mistake, a test is inherited if the student's code stopped there in
the same way, and most of the exercise was proven by other tests. A helper that is not written or
does not end carries nothing. What right code makes of a helper's answers, and what the guard found,
holds for every helper of the class with the same answers.

A test in which the student's code answers just what right code answers with the helper, but which
an empty version passes with it too, says nothing for the student and nothing against them: a
softmax that overflows makes NaN of whatever calls it. Where all else decides nearly the whole
exercise, such a test is left out of the count: it earns what the others earn on average. So is one
of which the guard found too little to give it all.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..files.hashing import feed
from ..model.verdicts import Verdict
from .carrying import Carrying, Held
from .expected import Expected, KnownExpectations
from .guards import Credit, HelperGuard, KnownGuards
from .standin import StandIns

# The share of an exercise that other tests have proven before it may stop where its helper fails.
PROVEN = 0.5
# The share that other tests must decide before one that tells nothing is left out of the count.
DECIDED = 0.75


@dataclass(frozen=True)
class Inherited:
    """Of an exercise: whose mistakes it carries, and what share of which failed test it earns."""

    helpers: tuple[str, ...] = ()
    credit: Mapping[str, float] = field(default_factory=dict)


def inherited(
    carrying: Carrying,
    expectations: KnownExpectations,
    guards: KnownGuards,
    stand_ins: StandIns,
) -> Inherited:
    """What the exercise earns of its failed tests, given the helpers that it calls."""
    found = _given(carrying, expectations, guards)
    if found is None:
        return Inherited()
    credit, stopped = dict(found.credit), found.expected.stopped
    doubtful = carrying.doubtful
    silent = [n for n in found.held if credit.get(n, 0.0) < 1.0 or n in doubtful | found.neglected]
    credit = {n: c for n, c in credit.items() if n not in doubtful}
    shown = frozenset[str]()
    # where the helper, lent call by call, makes no difference, it may all the same between calls
    between = found.refuted and found.refuted & expectations.unchanged(found.expected, carrying)
    substituted = stand_ins.of(carrying, {*stopped, *silent, *between})
    if substituted is not None:
        more = _given(substituted, expectations, guards)
        asked = sum(map(substituted.weight_of, substituted.names))
        if more is not None and (more.held or more.refuted):
            # who calls a stand-in otherwise than the solution stops in every test
            credit = {n: c for n, c in credit.items() if n not in found.neglected}
        if more is not None and sum(map(carrying.weight_of, more.credit)) >= PROVEN * asked:
            credit |= {n: found.credit[n] for n in more.held if n in doubtful & found.credit.keys()}
            credit |= {n: max(c, credit.get(n, 0.0)) for n, c in more.credit.items()}
        if more is not None:  # what the helper hides, the stand-in has shown
            shown = more.shown_wrong
            if more.crashed - shown and _goes_on(carrying, expectations, stand_ins):
                shown |= more.crashed
            credit = {n: c for n, c in credit.items() if c == 1.0 or n not in shown}
        if shown:  # a mistake of its own: then the helper may hide it in the other tests too
            everywhere = stand_ins.of(carrying, carrying.names)
            seen = everywhere and _given(everywhere, expectations, guards)
            credit = {n: c for n, c in credit.items() if seen and n not in seen.shown_wrong}
    if _decided(carrying, credit) >= PROVEN:
        open_ones = sorted(n for n in stopped if n not in credit and n not in shown)
        left = [n for n in open_ones if carrying.stopped(n, stopped[n])]
        credit |= dict.fromkeys(left, min(credit.values(), default=1.0))
    if found.credit and found.expected.questions.agreed:
        whole = {n: c for n, c in credit.items() if c == 1.0 or n not in found.held}
        silent = [n for n in found.held if n not in whole and n not in shown | doubtful]
        left_out = _left_out(carrying, whole, silent)
        credit |= {n: max(c, credit.get(n, 0.0)) for n, c in left_out.items()}
    return Inherited(carrying.lent, credit) if credit else Inherited()


def _goes_on(carrying: Carrying, expectations: KnownExpectations, stand_ins: StandIns) -> bool:
    """Whether the exercise comes to the end of a test beside a stand-in, of those that it passes.

    Then it calls a stand-in as the solution does, and where it stops beside it, it is wrong.
    """
    skipped = [n for n in carrying.neglects if not n.parameter]
    using = [i for i in carrying.passing if any(carrying.needs(i, n) for n in skipped)]
    asked = replace(carrying, items=using)
    substituted = stand_ins.of(asked, asked.names)
    found = substituted and _given(substituted, expectations, None)
    return bool(found and found.held)


@dataclass(frozen=True)
class _Given:
    """What is known with some helpers: the tests that held with them, and what they earn."""

    expected: Expected
    held: list[str]
    credit: Credit
    refuted: frozenset[str]  # tests in which the exercise came to its end, with another result
    crashed: frozenset[str]  # tests that right code passes and in which the exercise stopped
    neglected: frozenset[str] = frozenset()  # held ones that say nothing of how helpers are used

    @property
    def shown_wrong(self) -> frozenset[str]:
        """The tests in which the exercise is wrong beside these helpers.

        Who calls a stand-in otherwise than the solution stops in every test: that says nothing.
        """
        return self.refuted | self.crashed if self.credit else self.refuted


def _given(
    carrying: Carrying, expectations: KnownExpectations, guards: KnownGuards | None
) -> _Given | None:
    """Compare the student's exercise with right code; None if the helpers answer as they like.

    Without guards nothing is earned.
    """
    expected = expectations.of(carrying)
    if expected is None:
        return None
    sides, student = expected.sides(carrying), carrying.target()
    try:
        held, refuted, crashed = list[Held](), set[str](), set[str]()
        for item in carrying.items:
            if carrying.patience.over:
                break
            unmet = expected.unmet.get(carrying.plugin.name(item))
            if unmet is None:
                continue
            verdict = carrying.run_student(item, student, sides, unmet)
            if verdict is Verdict.PASS:
                held.append((item, unmet))
            elif verdict is Verdict.WRONG:
                refuted.add(carrying.plugin.name(item))
            elif verdict is Verdict.CRASHED:
                crashed.add(carrying.plugin.name(item))
        credit, neglected = Credit(), frozenset[str]()
        if held and guards is not None:
            key = _key(carrying, expected, held)
            guard, order = HelperGuard(carrying, sides, expected.questions), random.Random(key)
            credit = guards.of(key, lambda: guard.credit(held, order))
            if credit and not carrying.stands_in:  # a stand-in is made of all its arguments
                neglected = guard.neglected(held, random.Random(key))
        names = [carrying.plugin.name(i) for i, _ in held]
        ends = frozenset(refuted), frozenset(crashed)
        return _Given(expected, names, credit, *ends, neglected)
    finally:
        sides.close()
        student.close()


def _decided(carrying: Carrying, credit: Credit) -> float:
    """The share of the exercise whose tests passed, or are inherited."""
    return (carrying.passed + sum(map(carrying.weight_of, credit))) / carrying.weight


def _left_out(carrying: Carrying, credit: Credit, silent: list[str]) -> Credit:
    """What tests that tell nothing with these helpers earn: as much as the others on average.

    Nothing where the others decide less than nearly all: else a helper could be made to hide most
    of an exercise.
    """
    if not silent or _decided(carrying, credit) < DECIDED:
        return {}
    earned = carrying.passed + sum(carrying.weight_of(n) * c for n, c in credit.items())
    counted = carrying.weight - sum(map(carrying.weight_of, silent))
    return dict.fromkeys(sorted(silent), min(1.0, earned / counted))


def _key(carrying: Carrying, expected: Expected, held: Iterable[Held]) -> bytes:
    """A hash of all that the guard depends on; nobody could foresee it who lacks the secret.

    Beside the helper's answers to right code in the tests that held, these are the tests, what is
    not asked in them, which right program asked, and which calls count as the helper's.
    """
    digest = hashlib.blake2b(key=carrying.secret[:64], digest_size=20)
    program = carrying.program.path.parent.name
    facts = [carrying.exercise, program, *carrying.lent, "", *sorted(carrying.paid)]
    facts.append("a stand-in" if carrying.stands_in else "")
    for fact in facts:
        feed(digest, fact.encode("utf-8", "surrogatepass"))
    for item, unmet in held:
        name = carrying.plugin.name(item)
        feed(digest, name.encode())
        feed(digest, repr(sorted(unmet)).encode())
        for transcript in expected.transcripts:
            feed(digest, transcript.of(name))
    return digest.digest()
