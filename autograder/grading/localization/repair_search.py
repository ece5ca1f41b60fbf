"""Which small changes of a wrong exercise mend it: one, or two for two mistakes.

Every version is first asked what a few failed tests ask (`probes`), one of each way to fail: most
are rejected by the first answer. Beside right answers two others say something. Where an answer is
what a wrong program of the bank gives there, the change has mended one mistake and left one that
has a name. Where one way to fail is mended and the others are as before, another change may mend
those. What is found so is confirmed by the hidden tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product

from ...repair import Change
from ..diagnosis.answer_digests import Digest, digest_of, ended_alike, same_digests
from ..diagnosis.equivalence import Answers
from ..diagnosis.match_bank import diagnose
from ..diagnosis.probes import Difference, Probe
from ..outcomes import Outcome
from ..running.pytest_plugin import Ran
from ..targets.in_process import Answer, Target
from .partial_repairs import InPart, Versions
from .traced_runs import Place

_PLACES = 3
_ALSO = 1.0  # a change that is so much less likely than the first that mends is not tried any more
_ALSO_TRIED = 60  # nor is any more, once so many were tried in vain after it
_IN_VAIN = 320  # versions: where none of so many says anything, hardly ever a later one does
_ALONE = 0.6  # of the time, if two mistakes can be there
_SEVERAL = 0.4  # if there are several for sure
_ALMOST = 0.85  # of it, if one change mended in part
_CONFIRMED = 4  # pairs that the tests are asked about, of each sort
_PARTLY = 6  # changes remembered for each way to fail
# Changes that can put one mistake in the place of another.
_EXCHANGES = frozenset({"name", "statement", "option", "function", "operand", "index", "unused"})


@dataclass(frozen=True)
class Mended:
    """The numbers of the changes that mend, each alone or `together`; `beside`: the name of the
    mistake that is left after them. `counts`: how many failed tests each mends, if none mends all;
    `doubtful`: those on whose lines changes of other kinds may mend as much.
    """

    numbers: tuple[int, ...] = ()
    together: bool = False
    beside: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    doubtful: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Compared:
    """What the bank's wrong programs of an exercise answered where they failed, and right code."""

    failed: Mapping[str, list[Ran]]
    right: Mapping[str, Answers]


@dataclass
class Search:
    """One search. `asked`: the probes of failed tests; of each way to fail the first ones.

    told: where values say that the one mistake is: elsewhere nothing is tried then
    began: the line where tests agree that values first leave the right ones
    hot: where values first leave the right ones, or code stops; a change there may mend in part
    wraps: of `written` those that have no line, tried only for what they mend in part
    """

    exercise: str
    written: list[Change]
    weigh: Callable[[Change], float]
    failing: list[Ran]
    asked: list[Probe]
    ways: int
    versions: Versions
    bank: Compared | None
    told: frozenset[Place] = frozenset()
    hot: frozenset[Place] = frozenset()
    wraps: tuple[int, ...] = ()
    began: frozenset[Place] = frozenset()
    _left: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    _mends_of: dict[str, bool] = field(default_factory=dict)  # a version, as far as it was asked
    _partly: dict[frozenset[int], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own = (Difference(r.report.name, len(r.answers) - 1, r.answers[-1]) for r in self._ended())
        self._own = {d.test: (d.number, digest_of(d.answer)) for d in own}
        self._known = _Known(self.bank, {p.test for p in self.asked}) if self.bank else None
        self._in_part = InPart(self.exercise, self.failing, self.asked, self.versions)

    def _ended(self) -> Iterator[Ran]:
        return (r for r in self.failing if r.answers)

    def mended(self) -> Mended:
        alone = self._alone()
        if alone:
            return Mended(tuple(alone))
        found = self._beside() or self._together()
        if found.numbers:
            return found
        wraps = () if self.told else self.wraps
        likely = ((n, len(ways)) for ways, some in self._partly.items() for n in some[:2])
        mended = self._in_part.mended(self.written, self.weigh, wraps, self.hot, likely)
        doubtful = frozenset(n for n, (_, rivals) in mended.items() if rivals)
        return Mended(tuple(mended), counts=tuple(c for c, _ in mended.values()), doubtful=doubtful)

    def _beside(self) -> Mended | None:
        """A change after which one mistake that has a name is left."""
        for number, names in islice(self._left, _CONFIRMED):
            if not self.versions.over and (name := self._is_left(number)) in names:
                return Mended((number,), beside=(name,))
        return None

    def _alone(self) -> list[int]:
        """The likeliest changes that mend alone, one for each line."""
        lines, found, enough = set[Place](), list[int](), math.inf
        tried, most = 0, math.inf
        weighed = ((self.weigh(c), n) for n, c in enumerate(self.written) if n not in self.wraps)
        for weight, number in sorted(weighed):
            change = self.written[number]
            if self.versions.spent_share > self._share or len(found) >= _PLACES or weight > enough:
                break
            is_told = not self.told.isdisjoint(change.places)
            if (change.function, change.line) in lines:
                continue
            if not is_told and (tried > most or not self._tries(tried, change)):
                continue
            tried += 1
            if self._mends(number):
                enough, most = min(enough, weight + _ALSO), tried + _ALSO_TRIED
                lines.add((change.function, change.line))
                found.append(number)
                if is_told:  # by its values and by what mends it
                    return [number]
        return found

    def _tries(self, tried: int, change: Change) -> bool:
        """Whether a change is tried that stands elsewhere than values say that the mistake is."""
        if self._is_one_of_two or not self.began.isdisjoint(change.places):
            return True
        return not self.told and tried < _IN_VAIN

    @property
    def _share(self) -> float:
        """Of the time, what is for changes that mend alone: less if there is something else."""
        if self._are_several:
            return _SEVERAL
        if self._is_one_of_two:
            return _ALONE
        return _ALMOST if self._in_part.looks_so or self.wraps else 1.0

    @property
    def _are_several(self) -> bool:
        """Whether code stops at one line in some failed tests, at others or at none in the rest."""
        lines = {r.report.line for r in self.failing}
        return len(lines - {0, None}) > 1 and len(lines) > 2

    @property
    def _is_one_of_two(self) -> bool:
        """Whether two mistakes may be there."""
        return bool(self._left) or len(self._partly) > 1

    def _mends(self, number: int) -> bool:
        change = self.written[number]
        if self.asked:
            target = self.versions.short(change)
            if target is None:
                return False
            if not self._looks_right(number, target):
                if not self.told and not self.hot.isdisjoint(change.places):
                    self._in_part.look(number, target, self._mends_of)
                return False
        return self.versions.passes(change)

    def _looks_right(self, number: int, target: Target) -> bool:
        """Whether all answers are right; what else they say is noted."""
        names: frozenset[str] | None = None  # of what gives all answers that are not right
        mended, changed, astray = set[int](), False, False
        self._mends_of.clear()
        for place, probe in enumerate(self.asked):
            if place == self.ways and not (mended or changed):
                return False  # all ways to fail are as before
            seen = probe.difference(target, self.exercise)
            self._mends_of[probe.test] = seen is None
            if seen is None:
                mended.add(place)
                continue
            digest = digest_of(seen.answer)
            before = self._own.get(seen.test)
            changed = changed or not ended_alike(before, (seen.number, digest))
            if place < self.ways:
                astray = astray or before is None or before[1][0] != digest[0]
            known = self._named_by(seen, digest, probe)
            names = known if names is None else names & known
            if not names and (astray or place >= self.ways or self.ways == 1):
                self._sooner(place)
                break
        if names is None:
            return True
        if names:
            self._left.append((number, names))
        if mended:
            self._in_part.note(number, len(mended))
        ways = frozenset(m for m in mended if m < self.ways)
        if ways and not astray:
            self._note(number, ways)
        return False

    def _named_by(self, seen: Difference, digest: Digest, probe: Probe) -> frozenset[str]:
        """The wrong programs that gave this answer, if its form is the student's or the right one.

        An answer of a third form is what the change did.
        """
        if self._known is None:
            return frozenset()
        before = self._own.get(seen.test)
        own = before is not None and before[1][0] == digest[0]
        if not own and digest_of(probe.steps[seen.number][1])[0] != digest[0]:
            return frozenset()
        return self._known.like(seen, digest)

    def _note(self, number: int, ways: frozenset[int]) -> None:
        """That a change mends some ways to fail and leaves the others as they were."""
        if len(ways) == self.ways:
            return
        some = self._partly.setdefault(ways, [])
        if len(some) < _PARTLY:
            some.append(number)

    def _sooner(self, place: int) -> None:
        """A probe that rejected one version will reject the next one sooner."""
        if place > self.ways:
            self.asked.insert(self.ways, self.asked.pop(place))

    def _is_left(self, number: int) -> str:
        """The name of the one mistake that explains all that fails after a change."""
        assert self.bank is not None
        ran = self.versions.run(self.written[number])
        failed = {r.report.name for r in ran if r.report.verdict.failed}
        before = {r.report.name for r in self.failing}
        if not failed or not failed <= before:
            return ""
        every = sum(r.report.verdict.counted for r in ran)
        if failed == before and (len(failed) < every or self.written[number].kind in _EXCHANGES):
            return ""  # nothing is mended: one mistake became another
        named = diagnose(ran, self.bank.failed, self.bank.right)
        whole = len(named) == 1 and named[0].explains == named[0].of and not named[0].mostly
        return named[0].name if whole else ""

    def _together(self) -> Mended:
        """Two changes, each of which mends what the other does not."""
        every = frozenset(range(self.ways))
        pairs = (
            (a, b)
            for one, other in product(self._partly, repeat=2)
            if min(one) < min(other) and one | other == every
            for a, b in product(self._partly[one], self._partly[other])
        )
        joined = ((p, self.written[p[0]].joined(self.written[p[1]])) for p in pairs)
        for pair, change in islice((j for j in joined if j[1] is not None), _CONFIRMED):
            if change is not None and not self.versions.over and self.versions.passes(change):
                return Mended(pair, together=True)
        return Mended()


class _Known:
    """What the bank's wrong programs answered last in some tests, ready to be compared."""

    def __init__(self, bank: Compared, tests: set[str]) -> None:
        self._ended: dict[tuple[str, int], list[tuple[str, Answer | Outcome]]] = {}
        self._digests: dict[tuple[str, int], list[tuple[str, Digest]]] = {}
        for name, runs in bank.failed.items():
            for run in runs:
                if run.report.name in tests and run.answers:
                    key = run.report.name, len(run.answers) - 1
                    self._ended.setdefault(key, []).append((name, run.answers[-1]))

    def like(self, seen: Difference, digest: Digest) -> frozenset[str]:
        """The wrong programs that gave this answer there."""
        key = seen.test, seen.number
        if key not in self._digests:
            self._digests[key] = [(n, digest_of(a)) for n, a in self._ended.get(key, ())]
        return frozenset(n for n, other in self._digests[key] if same_digests(digest, other))


def ways_to_fail(failing: Iterable[Ran]) -> dict[str, int]:
    """By test, the number of the way in which it fails: how it ended, where, and what is wrong."""
    seen: dict[tuple[object, ...], int] = {}
    return {
        r.report.name: seen.setdefault((r.report.verdict, r.flaw, r.report.line), len(seen))
        for r in failing
    }
