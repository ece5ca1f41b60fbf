"""The guard of follow-through: nothing is inherited on trust, and what was found is kept.

Theory of operation. With a student's helper in place, wrong versions of the exercise must still
fail: each test must reject the empty ones (hollow.py) that it rejects otherwise, and the tests
together most of a random choice of the bank's misconceptions, or less is earned, or nothing (one
that a single test rejects otherwise speaks of that test alone). What a helper is known to answer
always (asked.py) is not asked again: two processes that know nothing of each other have answered
all that right code asks, and alike. What only wrong versions ask, one more process is asked for all
of them. Of a helper that does not always answer alike, each version, the right one among them, gets
its answers from a process of its own, in an order nobody can foresee: it cannot tell for whom it is
asked.

Where these few tests tell too few of the wrong versions, the others that reject them are asked too:
what is earned should not depend on which tests were drawn. And where a stand-in hides some of
them, a test earns by those that it rejects itself, if these are a few: who makes another mistake
would pass it. A student's helper could be made to hide just what the exercise lacks; a stand-in is
ours.

So must right code that neglects a helper (neglect.py): does not call it, or hands over something
else. That is asked of every submission's helper: two that answer right code alike may differ there.

A wrong version runs through its tests only as far as what is earned depends on it: what one test
rejects, another need not, unless that other test has rejected none so far. Nor does an empty one
run through a test that let another one pass, or in which it is the same as another: where no
argument has the shape of a result, its echo is zeros.

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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ..model.verdicts import Verdict
from .asked import HelperQuestions
from .carrying import Carrying, Held, RightSides
from .hollow import HOLLOW, EchoHeard, hollowed
from .kept import KeptRuns
from .lender import Lender
from .lent import Change, unchanged
from .neglect import neglecting
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
class TriedVersion:
    """A version of the exercise, the tests that it is tried on, and others that reject it too."""

    kind: Kind
    path: Path
    tests: list[str]
    change: Change = unchanged
    heard: EchoHeard | None = None  # of an empty version that may be another one in other words
    others: tuple[str, ...] = ()


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
        versions = self._versions(list(names), order)
        told = WrongTold(names, [v for v in versions if v.kind is Kind.WRONG])
        lender = self.carrying.lender(self.questions) if self.questions.agreed else None
        try:
            lost = self._lost(versions, names, told, lender)
            if lost is None:
                return None
            # what only these told of wrong versions, others may tell
            if lost and self._lost(told.versions, names, told, lender) is None:
                return None
            if told.widen() and self._lost(told.versions, names, told, lender) is None:
                return None
        finally:
            if lender is not None:
                lender.close()
        return told.credit(each=self.carrying.stands_in)

    def neglected(self, held: Iterable[Held], order: random.Random) -> frozenset[str]:
        """The tests in which right code may neglect a helper, if it is this one.

        Where a few tests, drawn for each way, all reject that, the helper is taken to care for it.
        """
        found = set[str]()
        tests = [(self.carrying.plugin.name(item), (item, unmet)) for item, unmet in held]
        for way in self.carrying.neglects:
            change, rejected = neglecting(way, self.carrying.secret), 0
            target = None
            try:
                for name, test in order.sample(tests, len(tests)):
                    if name in found or not self.carrying.needs(test[0], way):
                        continue
                    if target is None:  # a process of its own: what it is asked nobody knows yet
                        lender = self.carrying.lender(self.questions)
                        target = self.carrying.composed(self.carrying.program.path, lender, change)
                    end = self._verdict(target, test)
                    if end is Verdict.PASS:
                        found.add(name)
                    else:
                        rejected += 1
                    if end is None or (rejected == _TRIED and not found):
                        break
            finally:
                if target is not None:
                    target.close()
        return frozenset(found)

    def _lost(
        self,
        versions: Iterable[TriedVersion],
        names: Mapping[str, Held],
        told: WrongTold,
        lender: Lender | None,
    ) -> set[str] | None:
        """The tests that let an empty version pass, or none that is right; what tests tell of wrong
        versions is noted. None if there is no time."""
        lost, same = set[str](), set[str]()  # in which two empty versions are one
        for version in versions:
            if version.kind is Kind.RIGHT and self.questions.agreed:
                continue  # two processes have answered all that it would ask, and alike
            with self._asking(version, lender) as target:
                for test in version.tests:
                    if version.kind is Kind.WRONG and not told.is_open(version, test):
                        continue
                    if version.kind is not Kind.WRONG and test in lost:
                        continue
                    if version.heard is not None:
                        if test in same:
                            continue
                        version.heard.seen = False
                    end = self._verdict(target, names[test])
                    if end is None:
                        return None
                    if version.kind is Kind.WRONG:
                        told.note(version, test, end.failed)
                    elif (end is Verdict.PASS) is (version.kind is Kind.HOLLOW):
                        lost.add(test)
                        told.lose({test})
                    if version.heard is not None and not version.heard.seen:
                        same.add(test)
        return lost

    @contextmanager
    def _asking(self, version: TriedVersion, lender: Lender | None) -> Iterator[Target]:
        """A version that asks a helper by this lender, or by one of its own."""
        own = lender or self.carrying.lender(self.questions)
        target = self.carrying.composed(version.path, own, version.change)
        try:
            yield target
        finally:
            if lender is None:
                target.close()

    def _verdict(self, target: Target, test: Held) -> Verdict | None:
        """How a test ends with a version; None if there is no time."""
        if self.carrying.patience.over:
            return None
        ran, _ = self.carrying.run_right(test[0], target, self.sides, test[1])
        return ran.report.verdict

    def _versions(self, names: list[str], order: random.Random) -> list[TriedVersion]:
        """Wrong, empty and right versions to be tried, in the order in which they are."""
        carrying = self.carrying
        path = carrying.program.path
        versions = [TriedVersion(Kind.RIGHT, path, names)]
        heard = EchoHeard()
        for way, rejected in carrying.rejected.items():
            tests = [n for n in names if n in rejected]
            # who answers what it was asked before gives both the same answers
            both = heard if way in ("zeros", "echo") and self.questions.agreed else None
            emptied = both.noting(HOLLOW[way]) if both else HOLLOW[way]
            empty = hollowed(carrying.exercise, emptied)
            versions.append(TriedVersion(Kind.HOLLOW, path, tests, empty, both))
        wrong = carrying.wrong
        failing = {m: [n for n in names if n in failed] for m, (_, failed) in wrong.items()}
        useful = sorted(m for m, tests in failing.items() if tests)
        for name in order.sample(useful, min(len(useful), _CHOSEN)):
            tests = order.sample(failing[name], min(len(failing[name]), _TRIED))
            others = tuple(t for t in failing[name] if t not in tests)
            versions.append(TriedVersion(Kind.WRONG, wrong[name][0], tests, others=others))
        order.shuffle(versions)
        return [v for v in versions if v.tests]


class WrongTold:
    """What tests tell of wrong versions, as far as anything earned depends on it."""

    def __init__(self, tests: Iterable[str], versions: Sequence[TriedVersion]) -> None:
        self.versions = versions
        self._tests = set(tests)  # that may be inherited
        self._ends: dict[tuple[int, str], bool] = {}  # whether a test rejects a version
        self._tries = Counter(t for v in versions for t in v.tests)

    def note(self, version: TriedVersion, test: str, rejected: bool) -> None:
        self._ends[id(version), test] = rejected

    def lose(self, tests: Set[str]) -> None:
        """These cannot be inherited."""
        self._tests -= tests

    def widen(self) -> bool:
        """Try what is not told so far on all tests that reject it; False if nothing is open."""
        several = self._several
        hidden = [v for v in several if v.others and not self._is_told(v)]
        if not hidden or self._is_enough(several):
            return False
        for version in hidden:
            version.tests.extend(t for t in version.others if t not in version.tests)
        return True

    def is_open(self, version: TriedVersion, test: str) -> bool:
        """Whether it matters how this test ends with this version."""
        if test not in self._tests or (id(version), test) in self._ends:
            return False
        if test in self._silent:
            return True
        if self._is_told(version):
            return False
        several = self._several
        if several and len(version.tests) > 1:
            return not self._is_enough(several)
        alone = [v for v in self.versions if v.tests == version.tests]
        return not (self._is_enough(alone) and (several or self._is_enough(self.versions)))

    def _is_enough(self, versions: Sequence[TriedVersion]) -> bool:
        """Whether so many of these are told that it makes no difference how the others end."""
        return self._told_of(versions) >= _ALL * len(versions)

    @property
    def _several(self) -> list[TriedVersion]:
        return [v for v in self.versions if len(v.tests) > 1]

    def _told_of(self, versions: Iterable[TriedVersion]) -> int:
        return sum(map(self._is_told, versions))

    def _is_told(self, version: TriedVersion) -> bool:
        return any(self._ends.get((id(version), t)) for t in version.tests if t in self._tests)

    @property
    def _silent(self) -> set[str]:
        """The tests that reject none of the versions, so far, and would not by chance."""
        telling = {t for (_, t), rejected in self._ends.items() if rejected}
        return {t for t in self._tests - telling if self._tries[t] >= _FEW}

    def credit(self, *, each: bool = False) -> Credit:
        """What share of which tests is earned; `each` by the versions that it rejects itself."""
        ends = [{t: self._ends.get((id(v), t), False) for t in v.tests} for v in self.versions]
        own = self._own_shares() if each else {}
        return _credit(self._tests - self._silent, ends, own)

    def _own_shares(self) -> dict[str, float]:
        """By test that rejects a few versions otherwise, the share of these that are told."""
        own = {t: [v for v in self._several if t in (*v.tests, *v.others)] for t in self._tests}
        return {t: self._told_of(vs) / len(vs) for t, vs in own.items() if len(vs) >= _FEW}


def _credit(
    tests: Set[str], told: Sequence[Mapping[str, bool]], own: Mapping[str, float]
) -> Credit:
    """What share is earned of which tests, if they tell wrong versions so from right ones.

    A version that only one test rejects, whatever the helper, speaks for or against that one: it
    would earn all others anyway. Of the others all count: a helper that hides them from most of
    their tests leaves little to tell. own: of those that a test rejects, the share that is told:
    where not too little is told of all, that counts if it is more.
    """
    of_several = [v for v in told if len(v) > 1] or [v for v in told if v.keys() & tests]
    share = _share([{t: seen for t, seen in v.items() if t in tests} for v in of_several])
    alone = {
        t: _share([v for v in told if v.keys() == {t}]) for v in told for t in v if len(v) == 1
    }
    credit = dict[str, float]()
    for test in sorted(tests):
        earned = max(share, _of_all(own.get(test, 0.0))) if share else 0.0
        credit[test] = min(earned, alone.get(test, earned))
    return {t: earned for t, earned in credit.items() if earned}


def _share(told: Iterable[Mapping[str, bool]]) -> float:
    """The share that is earned if wrong versions are told so from right ones."""
    seen = [any(of_one.values()) for of_one in told]
    return _of_all(sum(seen) / len(seen)) if seen else 0.0


def _of_all(share: float) -> float:
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
