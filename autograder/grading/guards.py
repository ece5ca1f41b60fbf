"""The guard of follow-through: nothing is inherited on trust, and what was found is kept.

Theory of operation. With a student's helper in place, wrong versions of the exercise must still
fail: each test must reject the empty ones (hollow.py) that it rejects otherwise, and the tests
together most of a random choice of the bank's misconceptions, or less is earned, or nothing (one
that a single test rejects otherwise speaks of that test alone). Each of these, and the right
program's questions once more among them, gets its answers from a process of its own that knows
nothing of the others, in an order nobody can foresee: a helper cannot tell for whom it is asked.
What it is known to answer always (asked.py) is not asked again.

Whether wrong and empty versions are told from right ones with a helper depends on what right code
makes of that helper's answers: what the student's own exercise is compared with. Where another
submission's helper answers the same to the last bit, that expectation is the same, and so is what
it can tell: the versions are not run again. Whoever would profit from it has an exercise that gives
this very expectation, of which the guard has already found that empty and wrong ones do not.

Which versions are tried, and in which order, is drawn from the secret and these answers, not from
the text of a submission: another remark does not draw again, and who came first makes no
difference.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import partial

from ..model.verdicts import Verdict
from .asked import HelperQuestions
from .carrying import Carrying, Held, RightSides
from .hollow import HOLLOW, hollowed
from .kept import KeptRuns
from .targets import Target

# Misconceptions tried with a helper, and on how many tests each.
_CHOSEN, _TRIED = 8, 3
# The share of them still told from right ones from which all is earned, and below which nothing:
# some mistakes only this helper can show, and a helper that hides most mistakes teaches nothing.
_ALL, _NOTHING = 0.75, 0.5
# On fewer versions that a test lets pass, chance decides.
_FEW = 3
_MOST = 1000
Credit = dict[str, float]


class Kind(Enum):
    """What a version of the exercise is, and so what must become of it."""

    RIGHT = "passes"
    HOLLOW = "fails each test"
    WRONG = "fails most tests"


@dataclass(frozen=True)
class HelperGuard:
    """Whether wrong and empty versions are still told from right ones with these helpers."""

    carrying: Carrying
    sides: RightSides
    questions: HelperQuestions

    def credit(self, held: Iterable[Held], order: random.Random) -> Credit | None:
        """The tests that may be inherited with this helper, and what share of each.

        None if there was no time to find out.
        """
        names = {self.carrying.plugin.name(item): (item, unmet) for item, unmet in held}
        told: list[dict[str, bool]] = []  # of each wrong version, whether a test rejects it
        lost: set[str] = set()
        for kind, make, tests in self._variants(list(names), order):
            if kind is Kind.RIGHT and self.questions.agreed:
                if not self.carrying.elsewhere(self.questions.same):
                    return None if self.carrying.patience.over else {}
                continue
            verdicts = self._verdicts(make, [names[name] for name in tests])
            if verdicts is None:
                return None
            ends = dict(zip(tests, verdicts, strict=True))
            if kind is Kind.WRONG:
                told.append({name: end.failed for name, end in ends.items()})
            else:
                empty = kind is Kind.HOLLOW
                lost.update(n for n, end in ends.items() if (end is Verdict.PASS) is empty)
        for name in names:
            tried = [of_one[name] for of_one in told if name in of_one]
            if len(tried) >= _FEW and not any(tried):
                lost.add(name)
        return _credit(names.keys() - lost, told)

    def _verdicts(self, make: Callable[[], Target], tests: Iterable[Held]) -> list[Verdict] | None:
        """How the tests end with a version; None if there is no time."""
        carrying, verdicts = self.carrying, list[Verdict]()
        target = make()
        try:
            for item, unmet in tests:
                if carrying.patience.over:
                    return None
                ran, _ = carrying.run_right(item, target, self.sides, unmet)
                verdicts.append(ran.report.verdict)
            return verdicts
        finally:
            target.close()

    def _variants(
        self, names: list[str], order: random.Random
    ) -> Iterator[tuple[Kind, Callable[[], Target], list[str]]]:
        """Wrong, empty and right versions to be tried, each with the tests it is tried on."""
        carrying = self.carrying
        path, composed = carrying.program.path, partial(carrying.composed, questions=self.questions)
        kinds: list[tuple[Kind, Callable[[], Target], list[str]]] = [
            (Kind.RIGHT, partial(composed, path), names)
        ]
        for way, rejected in carrying.rejected.items():
            empty = partial(composed, path, change=hollowed(carrying.exercise, HOLLOW[way]))
            kinds.append((Kind.HOLLOW, empty, [n for n in names if n in rejected]))
        wrong = carrying.wrong
        failing = {m: [n for n in names if n in failed] for m, (_, failed) in wrong.items()}
        useful = sorted(m for m, tests in failing.items() if tests)
        for name in order.sample(useful, min(len(useful), _CHOSEN)):
            tests = order.sample(failing[name], min(len(failing[name]), _TRIED))
            kinds.append((Kind.WRONG, partial(composed, wrong[name][0]), tests))
        order.shuffle(kinds)
        for kind, make, tests in kinds:
            if tests:
                yield kind, make, tests


def _credit(tests: Set[str], told: Sequence[Mapping[str, bool]]) -> Credit:
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


class KnownGuards:
    """By a hash of what it depends on, what share of which tests may be inherited.

    asked: how often the versions had to be run. kept: what other processes found.
    """

    def __init__(self, kept: KeptRuns | None = None) -> None:
        self._kept = kept
        self._credit: dict[bytes, Credit] = kept.guards() if kept else {}
        self.asked = 0

    def of(self, key: bytes, ask: Callable[[], Credit | None]) -> Credit:
        """What is known, or else what is found now; None is not kept: there was no time."""
        known = self._credit.get(key)
        if known is not None:
            return known
        self.asked += 1
        credit = ask()
        if credit is not None and len(self._credit) < _MOST:
            self._credit[key] = credit
            if self._kept is not None:
                self._kept.put_guard(key, credit, _MOST)
        return credit or {}
