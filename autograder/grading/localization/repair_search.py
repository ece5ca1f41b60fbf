"""Search for an edit of a wrong exercise that makes its hidden tests pass.

Each edited version first answers the requests of a few failed tests (probes), starting with one
test of each way to fail; the first answer rejects most versions. The hidden tests confirm the rest.
If no edit fixes everything, `partial_repairs` selects edits that fix some of the failed tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...repair import Edit
from ..diagnosis.probes import Probe
from ..running.pytest_plugin import Ran
from ..targets.in_process import Target
from .candidate_runner import CandidateRunner
from .partial_repairs import Fix, partial_fixes, plainness, simplest_of_families
from .traced_runs import Place
from .tuning import (
    ATTEMPTS_AFTER_FIX,
    ATTEMPTS_WITHOUT_FIX,
    FAMILIES_PROBED,
    LINES_REPORTED,
    SINGLE_EDIT_SHARE,
    SINGLE_EDIT_SHARE_SEVERAL,
    WEIGHT_WINDOW,
)


class OrderedProbes(NamedTuple):
    """The probes of failed tests in the order in which versions answer them.

    ways: the first `ways` probes have one test for each way to fail
    families: the first `families` probes also have one test for each of some test families
    """

    probes: list[Probe]
    ways: int
    families: int


@dataclass
class Search:
    """A search through the `edits` of an exercise.

    weigh: an edit's weight; lighter edits are tried first
    located: the only mistake's place, if traced values show it; edits elsewhere are skipped
    suspicious: places where values deviate or code crashes; an edit there may fix some tests
    """

    exercise: str
    edits: list[Edit]
    weigh: Callable[[Edit], float]
    failing: list[Ran]
    asked: OrderedProbes
    versions: CandidateRunner
    located: frozenset[Place] = frozenset()
    suspicious: frozenset[Place] = frozenset()
    _seem_fixed: dict[int, int] = field(default_factory=dict)  # passed probes, by edit index

    def fixes(self) -> list[Fix]:
        """Return the edits that fix all failed tests, or else those that fix the most of them."""
        complete = self._complete_fixes()
        if complete:
            return complete
        return partial_fixes(
            self.edits, self.weigh, self._seem_fixed, self._tests_fixed, self.suspicious
        )

    def _complete_fixes(self) -> list[Fix]:
        """Return the lightest edits that fix all failed tests, one for each line."""
        lines, found, heaviest = set[Place](), list[Fix](), math.inf
        tried, last = 0, ATTEMPTS_WITHOUT_FIX
        for weight, number in sorted((self.weigh(e), n) for n, e in enumerate(self.edits)):
            edit = self.edits[number]
            out_of_time = self.versions.spent_share > self._time_share()
            if out_of_time or len(found) >= LINES_REPORTED or weight > heaviest:
                break
            is_located = not self.located.isdisjoint(edit.places)
            suspicious = not found and not self.suspicious.isdisjoint(edit.places)
            skipped = not is_located if self.located else tried >= last and not suspicious
            if skipped or (edit.function, edit.line) in lines:
                continue
            tried += 1
            if self._fixes_all(number):
                heaviest = min(heaviest, weight + WEIGHT_WINDOW)
                last = tried + ATTEMPTS_AFTER_FIX
                lines.add((edit.function, edit.line))
                found.append(Fix(edit))
                if is_located:  # traced values and hidden tests agree on the line
                    break
        return found

    def _time_share(self) -> float:
        """Return the share of the time budget for edits that fix all failed tests."""
        lines = {r.report.line for r in self.failing}
        if len(lines - {0, None}) > 1 and len(lines) > 2:  # code raises in several places
            return SINGLE_EDIT_SHARE_SEVERAL
        return SINGLE_EDIT_SHARE if self._seem_fixed else 1.0

    def _fixes_all(self, number: int) -> bool:
        edit = self.edits[number]
        if self.asked.probes:
            target = self.versions.short(edit)
            if target is None:
                return False
            passed = self._passed_probes(edit, target)
            if passed < len(self.asked.probes):
                if passed:
                    self._seem_fixed[number] = passed
                return False
        return self.versions.passes(edit)

    def _passed_probes(self, edit: Edit, target: Target) -> int:
        """Return how many probes pass; give up early on versions that seem to fix nothing."""
        probes, ways, families = self.asked
        if not self.located and not self.suspicious.isdisjoint(edit.places):
            ways = families
        passed = 0
        for place, probe in enumerate(probes):
            if place == ways and not passed:
                break
            if probe.difference(target, self.exercise) is None:
                passed += 1
            elif place + 1 >= families:
                break
        return passed

    def _tests_fixed(self, edit: Edit) -> frozenset[str]:
        """Return the failed tests that pass after an edit, or none if it breaks another test."""
        if self.versions.over:
            return frozenset()
        ran = self.versions.run(edit)
        before = frozenset(r.report.name for r in self.failing)
        after = frozenset(r.report.name for r in ran if r.report.verdict.failed)
        return before - after if after <= before else frozenset()


def ordered_probes(failing: Iterable[Ran], probes: Mapping[str, Probe]) -> OrderedProbes:
    """Order the probes of failed tests: one of each way to fail, of some families, the rest.

    A way to fail is a verdict, a flaw and a line.
    """
    ways = {r.report.name: (r.report.verdict, r.flaw, r.report.line) for r in failing}
    plain = sorted((probes[test] for test in ways if test in probes), key=plainness)
    by_way = {ways[p.test]: p for p in reversed(plain)}
    first = [*reversed(by_way.values())]
    families = [p for p in simplest_of_families(plain)[:FAMILIES_PROBED] if p not in first]
    rest = [p for p in plain if p not in first and p not in families]
    return OrderedProbes([*first, *families, *rest], len(first), len(first) + len(families))
