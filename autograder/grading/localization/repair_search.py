"""Search for an edit of a wrong exercise that makes its hidden tests pass.

Each edited version first answers the requests of a few failed tests (probes), starting with one
test of each way to fail; the first answer rejects most versions. The hidden tests confirm the rest.
If no edit fixes everything, `partial_repairs` selects edits that fix some of the failed tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ...repair import Edit
from ..diagnosis.answer_digests import digest_of, same_endings
from ..diagnosis.probes import Difference, Probe
from ..running.pytest_plugin import Ran
from ..targets.in_process import Target
from .candidate_runner import CandidateRunner
from .partial_repairs import PartialRepairs
from .traced_runs import Place
from .tuning import (
    ATTEMPTS_AFTER_FIX,
    ATTEMPTS_WITHOUT_FIX,
    LINES_REPORTED,
    PARTIAL_EDITS_PER_WAY,
    SINGLE_EDIT_SHARE,
    SINGLE_EDIT_SHARE_SEVERAL,
    WEIGHT_WINDOW,
)


@dataclass(frozen=True)
class Fixes:
    """The edits that were found, by number.

    counts: how many failed tests each edit fixes; empty if each fixes all of them
    doubtful: edits on whose line an edit of a different kind may fix as many tests
    """

    numbers: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    doubtful: frozenset[int] = frozenset()


@dataclass
class Search:
    """One search among the `edits` of an exercise.

    weigh: an edit's weight; lighter edits are tried first
    probes: the probes of failed tests; the first `ways` of them each fail in a different way
    located: the place of the only mistake according to traced values; edits elsewhere are skipped
    suspicious: places where values deviate or code crashes; an edit there may fix some tests
    adapters: the numbers of `edits` that have no line; they are tried only as partial repairs
    first_deviations: the place where values deviate first, if tests agree on it
    """

    exercise: str
    edits: list[Edit]
    weigh: Callable[[Edit], float]
    failing: list[Ran]
    probes: list[Probe]
    ways: int
    versions: CandidateRunner
    located: frozenset[Place] = frozenset()
    suspicious: frozenset[Place] = frozenset()
    adapters: tuple[int, ...] = ()
    first_deviations: frozenset[Place] = frozenset()
    _passed: dict[str, bool] = field(default_factory=dict)  # probes of the current version
    _partial: dict[frozenset[int], list[int]] = field(default_factory=dict)  # by ways they fix

    def __post_init__(self) -> None:
        answered = [r for r in self.failing if r.answers]
        self._before = {
            r.report.name: (len(r.answers) - 1, digest_of(r.answers[-1])) for r in answered
        }
        self._repairs = PartialRepairs(self.exercise, self.failing, self.probes, self.versions)

    def fixes(self) -> Fixes:
        """Return the edits that fix all failed tests, else the edits that fix the most of them."""
        complete = self._complete_fixes()
        if complete:
            return Fixes(tuple(complete))
        adapters = () if self.located else self.adapters
        likely = ((n, len(ways)) for ways, some in self._partial.items() for n in some[:2])
        found = self._repairs.found(self.edits, self.weigh, adapters, self.suspicious, likely)
        doubtful = frozenset(n for n, (_, ambiguous) in found.items() if ambiguous)
        return Fixes(tuple(found), tuple(count for count, _ in found.values()), doubtful)

    def _complete_fixes(self) -> list[int]:
        """Return the lightest edits that fix everything, one for each line."""
        lines, found, heaviest = set[Place](), list[int](), math.inf
        tried, last = 0, math.inf
        weighed = ((self.weigh(e), n) for n, e in enumerate(self.edits) if n not in self.adapters)
        for weight, number in sorted(weighed):
            edit = self.edits[number]
            out_of_time = self.versions.spent_share > self._time_share()
            if out_of_time or len(found) >= LINES_REPORTED or weight > heaviest:
                break
            is_located = not self.located.isdisjoint(edit.places)
            if (edit.function, edit.line) in lines:
                continue
            if not is_located and (tried > last or not self._is_worth_trying(tried, edit)):
                continue
            tried += 1
            if self._fixes_all(number):
                heaviest = min(heaviest, weight + WEIGHT_WINDOW)
                last = tried + ATTEMPTS_AFTER_FIX
                lines.add((edit.function, edit.line))
                found.append(number)
                if is_located:  # values and tests agree on the line
                    return [number]
        return found

    def _is_worth_trying(self, tried: int, edit: Edit) -> bool:
        """Return True if an edit should be tried although no value points to its line."""
        if len(self._partial) > 1 or not self.first_deviations.isdisjoint(edit.places):
            return True
        return not self.located and tried < ATTEMPTS_WITHOUT_FIX

    def _time_share(self) -> float:
        """Return the share of the time budget for edits that fix everything."""
        lines = {r.report.line for r in self.failing}
        if len(lines - {0, None}) > 1 and len(lines) > 2:  # code stops in several places
            return SINGLE_EDIT_SHARE_SEVERAL
        return SINGLE_EDIT_SHARE if self._repairs.is_promising or self.adapters else 1.0

    def _fixes_all(self, number: int) -> bool:
        edit = self.edits[number]
        if self.probes:
            target = self.versions.short(edit)
            if target is None:
                return False
            if not self._passes_probes(number, target):
                if not self.located and not self.suspicious.isdisjoint(edit.places):
                    self._repairs.count_families(number, target, self._passed)
                return False
        return self.versions.passes(edit)

    def _passes_probes(self, number: int, target: Target) -> bool:
        """Return True if all probed answers are right; note which ways to fail are fixed."""
        fixed, changed, unlike = set[int](), False, False
        self._passed.clear()
        for place, probe in enumerate(self.probes):
            if place == self.ways and not (fixed or changed):
                return False  # every way to fail is as before
            difference = probe.difference(target, self.exercise)
            self._passed[probe.test] = difference is None
            if difference is None:
                fixed.add(place)
                continue
            same, same_form = self._compare_with_before(difference)
            changed = changed or not same
            unlike = unlike or (place < self.ways and not same_form)
            if unlike or place >= self.ways or self.ways == 1:
                self._move_forward(place)
                break
        if len(fixed) == len(self.probes):
            return True
        if fixed:
            self._repairs.note(number, len(fixed))
        ways = frozenset(way for way in fixed if way < self.ways)
        if 0 < len(ways) < self.ways and not unlike:
            numbers = self._partial.setdefault(ways, [])
            if len(numbers) < PARTIAL_EDITS_PER_WAY:
                numbers.append(number)
        return False

    def _compare_with_before(self, difference: Difference) -> tuple[bool, bool]:
        """Return True for an unchanged wrong answer, and for one of the same form."""
        before, digest = self._before.get(difference.test), digest_of(difference.answer)
        same_form = before is not None and before[1][0] == digest[0]
        return same_endings(before, (difference.number, digest)), same_form

    def _move_forward(self, place: int) -> None:
        """Ask a probe earlier that rejected a version: it will probably reject the next one."""
        if place > self.ways:
            self.probes.insert(self.ways, self.probes.pop(place))


def ways_to_fail(failing: Iterable[Ran]) -> dict[str, int]:
    """Number the ways to fail (verdict, flaw, line); return the number of each failed test."""
    seen: dict[tuple[object, ...], int] = {}
    return {
        r.report.name: seen.setdefault((r.report.verdict, r.flaw, r.report.line), len(seen))
        for r in failing
    }
