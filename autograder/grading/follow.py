"""Follow-through: an exercise whose only fault is a helper's keeps its points.

Theory of operation. Where a student's `softmax` is wrong, their attention fails its tests however
well it is written. What it should answer *given that softmax* is what the solution's attention
answers with it: so the solution runs here with the student's helper lent to it (lent.py), and the
student's own attention is compared with that, by the very tests that it failed. A property that a
test states directly (rows that sum to 1) is asked of the solution first; where it cannot hold with
this helper, it is not asked of the student.

A helper may be made to lie: one that answers zeros would make an empty attention right. So nothing
is inherited on trust: with the helper in place, empty and wrong versions must still fail
(guards.py). A test in which the solution itself cannot go on with what the helper answers is
inherited if the student's code stopped there in the same way, and most of the exercise was proven
by other tests. A helper that gives no answer carries nothing. What right code makes of a helper's
answers, and what the guard found, holds for every helper of the class with the same answers.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..files.hashing import feed
from ..model.verdicts import Verdict
from .carrying import Carrying, Held
from .expected import Expected, KnownExpectations
from .guards import HelperGuard, KnownGuards

# The share of an exercise that other tests have proven before it may stop where its helper fails.
_PROVEN = 0.5


@dataclass(frozen=True)
class Inherited:
    """Of an exercise: whose mistakes it carries, and what share of which failed test it earns."""

    helpers: tuple[str, ...] = ()
    credit: Mapping[str, float] = field(default_factory=dict)


def inherited(
    carrying: Carrying, expectations: KnownExpectations, guards: KnownGuards
) -> Inherited:
    """What the exercise earns of its failed tests, given the helpers that it calls."""
    expected = expectations.of(carrying)
    if expected is None:
        return Inherited()
    sides, student = expected.sides(carrying), carrying.target()
    try:
        held = list[Held]()
        for item in carrying.items:
            if carrying.patience.over:
                break
            unmet = expected.unmet.get(carrying.plugin.name(item))
            if unmet is None:
                continue
            if carrying.run_student(item, student, sides, unmet) is Verdict.PASS:
                held.append((item, unmet))
        credit = dict[str, float]()
        if held:
            key = _key(carrying, expected, held)
            guard, order = HelperGuard(carrying, sides, expected.questions), random.Random(key)
            credit |= guards.of(key, lambda: guard.credit(held, order))
        stopped = {n for n, how in expected.stopped.items() if carrying.stopped(n, how)}
        weights = {carrying.plugin.name(i): carrying.plugin.known(i).report.weight for i, _ in held}
        proven = carrying.passed + sum(weights[n] for n in credit)
        if proven >= _PROVEN * carrying.weight:
            credit |= dict.fromkeys(sorted(stopped), min(credit.values(), default=1.0))
        return Inherited(carrying.lent, credit) if credit else Inherited()
    finally:
        sides.close()
        student.close()


def _key(carrying: Carrying, expected: Expected, held: Iterable[Held]) -> bytes:
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
        name = carrying.plugin.name(item)
        feed(digest, name.encode())
        feed(digest, repr(sorted(unmet)).encode())
        for transcript in expected.transcripts:
            feed(digest, transcript.of(name))
    return digest.digest()
