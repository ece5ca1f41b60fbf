"""Search for an edit of a wrong exercise that makes its hidden tests pass.

Each edited version first replays the calls of a few failed tests (probes), starting with one test
for each way to fail. Most versions are rejected at the first answer, and only versions that pass
all probes run all hidden tests. Edits of lines with errors or deviating values come first
(`Search.weight`).

If no edit fixes all tests, `partial_fixes` selects edits that fix some failed tests and break none.
If there are several mistakes, most failed tests fail because of more than one of them, but some
test families fail because of a single mistake. An edit that fixes such a family fixes the mistake.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ...model.report.schema import base_of, in_low_precision
from ...repair import Edit
from ..running.pytest_plugin import Ran
from ..targets.in_process import Target
from .candidate_runner import CandidateRunner, Probe
from .traced_runs import Place
from .traces import NO_HINTS, ValueHints

# Tuned on the bank and on `benchmarks/`. Verdicts and points never depend on these constants.
_LINES_REPORTED = 3  # a student can check three lines; more would not help
_WEIGHT_WINDOW = 1.0  # a fix this much heavier than the lightest one is probably a coincidence
_ATTEMPTS_AFTER_FIX = 60  # edits to try after a fix; later ones rarely add a fix
_ATTEMPTS_WITHOUT_FIX = 440  # edits to try; later ones rarely fix a test
_SINGLE_EDIT_SHARE = 0.85  # share of the time budget; partial fixes may need the rest
_SINGLE_EDIT_SHARE_SEVERAL = 0.4  # share of the time budget if code raises in several places

# Partial fixes.
_PARTIAL_EDITS_TESTED = 3  # each one runs all hidden tests, which is slow
_FAMILIES_PROBED = 4  # test families that are probed early
_LEAST_FIXED = 2  # tests that an edit must fix, because one may pass by coincidence
_LEAST_FIXED_ELSEWHERE = 3  # tests that an edit must fix if its line is not suspicious

# Bonuses added to the weight of an edit (`repair/candidates.py`). Lighter edits are tried first.
_STOPPED_BONUS = -0.8  # a failed test raises on this line
_AGREED_BONUS = -2.6  # several tests agree that values first deviate on this line
_NAMED_BONUS = -1.6  # this line computes the wrong value of a named misconception
_DEVIATING_BONUS = -1.2  # a value deviates on this line, perhaps because of an earlier line


# Edits of these kinds can fix a wrong dtype or a NaN on any line where the value appears.
ANYWHERE = frozenset({"kind of number", "infinity"})
# Edits of these kinds can work around a mistake of any kind.
SAYS_LITTLE = frozenset({"order of lines", "statement", "unused", "operand"})
# Edits of these kinds rarely fix a test by coincidence.
SPECIFIC = frozenset({"device", "overflow", "infinity", "empty rows", "gradient", "in place"})


class Fix(NamedTuple):
    """An edit that fixes all failed tests, or some of them.

    tests: the tests that the edit fixes if it does not fix all failed tests
    doubtful: whether an edit of a different kind on the same line may fix as many tests
    """

    edit: Edit
    tests: frozenset[str] = frozenset()
    doubtful: bool = False


def plainness(probe: Probe) -> tuple[bool, bool, int]:
    """Return a sort key that puts simple tests first.

    Tests are simple if they expect no exception, use neither half precision nor a fake device, and
    send little data.
    """
    refused = any(answer[0].raised is not None for _, answer in probe.steps)
    return refused, in_low_precision(probe.test) or "fake" in probe.test, probe.size


class OrderedProbes(NamedTuple):
    """The probes of failed tests in the order in which they are replayed.

    ways: number of leading probes, one for each way to fail
    families: number of leading probes including the simplest of up to four test families
    """

    probes: list[Probe]
    ways: int
    families: int


@dataclass
class Search:
    """A search through the `edits` of an exercise.

    failing: the failed tests
    asked: the probes of the failed tests
    versions: the runner for edited versions
    hints: the places where values deviate
    located: the place of the only mistake if traced values show it; edits elsewhere are skipped
    suspicious: the places where values deviate or code crashes
    """

    exercise: str
    edits: list[Edit]
    failing: list[Ran]
    asked: OrderedProbes
    versions: CandidateRunner
    hints: ValueHints = NO_HINTS
    located: frozenset[Place] = frozenset()
    suspicious: frozenset[Place] = field(init=False)
    _seem_fixed: dict[int, int] = field(default_factory=dict)  # passed probes, by edit index

    def __post_init__(self) -> None:
        crashed = {r.report.line for r in self.failing if r.report.verdict.raised}
        stopped = (p for e in self.edits for p in e.places if p[1] in crashed)
        self.suspicious = self.hints.odd.union(stopped, self._named)

    @cached_property
    def _named(self) -> frozenset[Place]:
        return frozenset(place for _, place in self.hints.named)

    @cached_property
    def _stopped_lines(self) -> set[int]:
        return {r.report.line for r in self.failing if r.report.line}

    def weight(self, edit: Edit) -> float:
        """Return the weight of an edit; the search tries lighter edits first."""
        weight = edit.weight + (_STOPPED_BONUS if edit.line in self._stopped_lines else 0.0)
        if edit.places & self._named:
            return weight + _NAMED_BONUS
        if edit.places & self.hints.certain:  # a located misconception takes precedence
            return weight + (_DEVIATING_BONUS if self._named else _AGREED_BONUS)
        return weight + (_DEVIATING_BONUS if edit.places & self.hints.odd else 0.0)

    def fixes(self) -> list[Fix]:
        """Return the edits that fix all failed tests or, if there are none, partial fixes."""
        return self._complete_fixes() or self.partial_fixes()

    def _complete_fixes(self) -> list[Fix]:
        """Return the lightest edits that each fix all failed tests, at most one per line."""
        lines, found, heaviest = set[Place](), list[Fix](), math.inf
        tried, last = 0, _ATTEMPTS_WITHOUT_FIX
        for weight, number in sorted((self.weight(e), n) for n, e in enumerate(self.edits)):
            edit = self.edits[number]
            out_of_time = self.versions.spent_share > self._time_share()
            if out_of_time or len(found) >= _LINES_REPORTED or weight > heaviest:
                break
            is_located = not self.located.isdisjoint(edit.places)
            suspicious = not found and not self.suspicious.isdisjoint(edit.places)
            skipped = not is_located if self.located else tried >= last and not suspicious
            if skipped or edit.place in lines:
                continue
            tried += 1
            if self._fixes_all(number):
                heaviest = min(heaviest, weight + _WEIGHT_WINDOW)
                last = tried + _ATTEMPTS_AFTER_FIX
                lines.add(edit.place)
                found.append(Fix(edit))
                if is_located:  # traced values and hidden tests agree on the line
                    break
        return found

    def _time_share(self) -> float:
        """Return the share of the time budget for finding edits that fix all failed tests."""
        lines = {r.report.line for r in self.failing}
        if len(lines - {0, None}) > 1 and len(lines) > 2:  # code raises in several places
            return _SINGLE_EDIT_SHARE_SEVERAL
        return _SINGLE_EDIT_SHARE if self._seem_fixed else 1.0

    def partial_fixes(self) -> list[Fix]:
        """Return edits that fix some failed tests and break none, at most one of each kind."""
        edits, seem_fixed = self.edits, self._seem_fixed

        def least(edit: Edit) -> int:
            if edit.kind in SPECIFIC:
                return 1
            return _LEAST_FIXED_ELSEWHERE if is_elsewhere(edit) else _LEAST_FIXED

        def is_elsewhere(edit: Edit) -> bool:
            return self.suspicious.isdisjoint(edit.places)

        def rank(number: int) -> tuple[int, bool, float]:
            edit = edits[number]
            order = edit.line if edit.kind in ANYWHERE else self.weight(edit)  # the earliest line
            return -len(fixed[number]), is_elsewhere(edit), order

        ranked = sorted(seem_fixed, key=lambda n: (-seem_fixed[n], self.weight(edits[n]), n))
        # Keep only the best edit for each line and number of passed probes.
        first = {(edits[n].place, seem_fixed[n]): n for n in reversed(ranked)}
        chosen = [n for n in ranked if n in first.values()][:_PARTIAL_EDITS_TESTED]
        tests = {n: self._tests_fixed(edits[n]) for n in chosen}
        fixed = {n: some for n, some in tests.items() if len(some) >= least(edits[n])}
        found, explained, kinds = list[Fix](), frozenset[str](), set[str]()
        for number in sorted(fixed, key=rank):
            edit = edits[number]
            new = len(fixed[number] - explained)
            if new >= min(_LEAST_FIXED, least(edit)) and edit.kind not in kinds:
                doubtful = any(
                    edits[n].kind != edit.kind and count >= seem_fixed[number]
                    for n, count in seem_fixed.items()
                    if edits[n].place == edit.place
                )
                found.append(Fix(edit, fixed[number], doubtful))
                explained |= fixed[number]
                kinds.add(edit.kind)
        return found

    def _fixes_all(self, number: int) -> bool:
        edit = self.edits[number]
        if self.asked.probes:
            passed = self._passed_probes(edit, self.versions.short(edit))
            if passed < len(self.asked.probes):
                if passed:
                    self._seem_fixed[number] = passed
                return False
        return self.versions.passes(edit)

    def _passed_probes(self, edit: Edit, target: Target) -> int:
        """Return how many probes pass with an edit; stop early if too few of them pass."""
        probes, ways, families = self.asked
        if not self.located and not self.suspicious.isdisjoint(edit.places):
            ways = families
        passed = 0
        for place, probe in enumerate(probes):
            if place == ways and not passed:
                break
            if probe.passes(target, self.exercise):
                passed += 1
            elif place + 1 >= families:
                break
        return passed

    def _tests_fixed(self, edit: Edit) -> frozenset[str]:
        """Return the failed tests that an edit fixes; none if it breaks a test or time is up."""
        if self.versions.spent_share > 1.0:
            return frozenset()
        ran = self.versions.run(edit)
        before = frozenset(r.report.name for r in self.failing)
        after = frozenset(r.report.name for r in ran if r.report.verdict.failed)
        return before - after if after <= before else frozenset()


def ordered_probes(failing: Iterable[Ran], probes: Mapping[str, Probe]) -> OrderedProbes:
    """Order the probes: one for each way to fail, one each for a few families, then the rest.

    A family consists of the tests of one function. Two tests fail in the same way if their
    verdict, flaw and line are equal.
    """
    ways = {r.report.name: (r.report.verdict, r.flaw, r.report.line) for r in failing}
    plain = sorted((probes[test] for test in ways if test in probes), key=plainness)
    by_way = {ways[p.test]: p for p in reversed(plain)}
    first = [*reversed(by_way.values())]
    simplest = {base_of(p.test): p for p in sorted(plain, key=plainness, reverse=True)}
    early = sorted(simplest.values(), key=plainness)[:_FAMILIES_PROBED]
    families = [p for p in early if p not in first]
    rest = [p for p in plain if p not in first and p not in families]
    return OrderedProbes([*first, *families, *rest], len(first), len(first) + len(families))
