"""Edits that fix some of the failed tests and break none, for code with several mistakes.

Most failed tests show more than one of the mistakes, but some test families show only one: an edit
that makes these pass has fixed it. Adapters (`repair/adapters.py`) are also tried on top of each
other, because one mistake often hides another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from ...model.report.schema import in_low_precision
from ...repair import Edit
from ..diagnosis.probes import Probe
from ..running.pytest_plugin import Ran
from ..targets.in_process import Target
from .candidate_runner import CandidateRunner
from .traced_runs import Place
from .tuning import (
    FAMILIES_PROBED,
    LEAST_FIXED,
    LEAST_FIXED_ELSEWHERE,
    PARTIAL_EDITS_REPORTED,
    PARTIAL_EDITS_TESTED,
    PLAIN_FAMILIES,
)

# Types and NaN can be fixed wherever they appear.
ANYWHERE = frozenset({"kind of number", "infinity"})
# These kinds of edits can also work around any mistake.
SAYS_LITTLE = frozenset({"order of lines", "statement", "unused", "operand"})
# Edits of these kinds do not fix tests by coincidence.
_SPECIFIC = frozenset({"device", "overflow", "infinity", "empty rows", "gradient", "in place"})


class PartialRepairs:
    """Counts the tests that each edit fixes, then runs the hidden tests on the best edits."""

    def __init__(
        self, exercise: str, failing: Iterable[Ran], probes: list[Probe], versions: CandidateRunner
    ) -> None:
        self._exercise, self._versions = exercise, versions
        self._failed = frozenset(r.report.name for r in failing)
        self._families = _families(probes)
        self._counts: dict[int, int] = {}  # families fixed, by edit

    @property
    def is_promising(self) -> bool:
        """True if an edit seemed to fix some tests."""
        return bool(self._counts)

    def note(self, number: int, count: int) -> None:
        """Record that an edit seems to fix so many answers."""
        self._counts[number] = max(count, self._counts.get(number, 0))

    def count_families(self, number: int, target: Target, results: Mapping[str, bool]) -> None:
        """Record how many test families an edit fixes.

        results: the results of probes that were already probes, by test
        """
        count = 0
        families = self._families[:FAMILIES_PROBED]
        for place, probe in enumerate(families if len(families) > 1 else ()):
            if place == PLAIN_FAMILIES and not count:
                return
            fixed = results.get(probe.test)
            count += probe.difference(target, self._exercise) is None if fixed is None else fixed
        if count:
            self.note(number, count)

    def found(
        self,
        edits: Sequence[Edit],
        weigh: Callable[[Edit], float],
        adapters: Iterable[int],
        suspicious: frozenset[Place],
        likely: Iterable[tuple[int, int]],
    ) -> dict[int, tuple[int, bool]]:
        """Select edits that fix some failed tests and break none, at most one of each kind.

        likely: more candidates, with the number of ways to fail that they seem to fix

        Returns, best first, the number of tests that each edit fixes, and whether an edit of a
        different kind on the same line seems to fix as many.
        """
        fixed = self._fixed_by_adapters(edits, adapters)
        noted = (*self._counts.items(), *likely)
        ranked = sorted((-count, weigh(edits[n]), n) for n, count in noted)
        for number in islice(_first_per_line(ranked, edits), PARTIAL_EDITS_TESTED):
            tests = self._fixed_tests(edits[number])
            if len(tests) >= _required_fixes(edits[number], suspicious):
                fixed[number] = tests

        def rank(number: int) -> tuple[int, bool, float]:
            edit = edits[number]
            elsewhere = suspicious.isdisjoint(edit.places)
            order = edit.line if edit.kind in ANYWHERE else weigh(edit)  # where it began
            return -len(fixed[number]), elsewhere, order

        found, explained, kinds = dict[int, tuple[int, bool]](), frozenset[str](), set[str]()
        for number in sorted(fixed, key=rank):
            edit = edits[number]
            least = min(LEAST_FIXED, _required_fixes(edit, suspicious))
            if len(fixed[number] - explained) >= least and edit.kind not in kinds:
                found[number] = len(fixed[number]), _is_ambiguous(number, noted, edits)
                explained |= fixed[number]
                kinds.add(edit.kind)
        return dict(islice(found.items(), PARTIAL_EDITS_REPORTED))

    def _fixed_tests(self, edit: Edit) -> frozenset[str]:
        """Return the failed tests that pass after an edit; none if a different test fails."""
        if self._versions.over:
            return frozenset()
        ran = self._versions.run(edit)
        failed = frozenset(r.report.name for r in ran if r.report.verdict.failed)
        return self._failed - failed if failed <= self._failed else frozenset()

    def _fixes_a_family(self, edit: Edit) -> bool:
        if self._versions.over:
            return False
        target = self._versions.short(edit)
        return target is not None and any(
            probe.difference(target, self._exercise) is None for probe in self._families
        )

    def _fixed_by_adapters(
        self, edits: Sequence[Edit], adapters: Iterable[int]
    ) -> dict[int, frozenset[str]]:
        """Return the tests that adapters fix, alone or around earlier ones, one of each kind."""
        fixed = dict[int, frozenset[str]]()
        outer: Edit | None = None
        done = frozenset[str]()
        for number in adapters:
            edit = edits[number]
            if any(edits[n].kind == edit.kind for n in fixed):
                continue
            combined = edit if outer is None else outer.joined(edit)
            if combined is None or not self._fixes_a_family(combined):
                continue
            tests = self._fixed_tests(combined) - done
            if len(tests) >= LEAST_FIXED:
                fixed[number] = tests
                outer, done = combined, done | tests
        return fixed


def _required_fixes(edit: Edit, suspicious: frozenset[Place]) -> int:
    """Return how many tests an edit must fix to be reported."""
    if edit.kind in _SPECIFIC:
        return 1
    return LEAST_FIXED_ELSEWHERE if suspicious.isdisjoint(edit.places) else LEAST_FIXED


def _is_ambiguous(number: int, noted: Iterable[tuple[int, int]], edits: Sequence[Edit]) -> bool:
    """Return True if an edit of a different kind seems to fix as much on the same line."""
    counts = dict(noted)
    if number not in counts:
        return False
    edit = edits[number]
    return any(
        edits[n].kind != edit.kind and count >= counts[number]
        for n, count in counts.items()
        if (edits[n].function, edits[n].line) == (edit.function, edit.line)
    )


def _first_per_line(
    ranked: Iterable[tuple[int, float, int]], edits: Sequence[Edit]
) -> Iterator[int]:
    """Yield the first edit of each line and count."""
    seen = set[tuple[str, int, int]]()
    for count, _, number in ranked:
        key = edits[number].function, edits[number].line, count
        if key not in seen:
            seen.add(key)
            yield number


def plainness(probe: Probe) -> tuple[bool, bool, int]:
    """Rank a test, simplest first: no errors, no half precision, no claimed device, small."""
    refused = any(answer[0].raised is not None for _, answer in probe.steps)
    return refused, in_low_precision(probe.test) or "fake" in probe.test, probe.size


def _families(probes: list[Probe]) -> list[Probe]:
    """Return the simplest failed test of each family, simplest family first."""
    plain = sorted(probes, key=plainness, reverse=True)
    families = {p.test.partition("[")[0]: p for p in plain}
    return sorted(families.values(), key=plainness)
