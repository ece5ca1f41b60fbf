"""Select edits that fix some of the failed tests and break none, for code with several mistakes.

Most failed tests show more than one of the mistakes, but some test families show only one. An edit
that makes such a family pass has fixed that mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...model.report.schema import in_low_precision
from ...repair import Edit
from ..diagnosis.probes import Probe
from .traced_runs import Place
from .tuning import (
    LEAST_FIXED,
    LEAST_FIXED_ELSEWHERE,
    PARTIAL_EDITS_TESTED,
)

# A wrong dtype or NaN can be fixed on any line where it appears.
ANYWHERE = frozenset({"kind of number", "infinity"})
# Edits of these kinds can work around a mistake of any kind.
SAYS_LITTLE = frozenset({"order of lines", "statement", "unused", "operand"})
# Edits of these kinds rarely fix a test by coincidence.
_SPECIFIC = frozenset({"device", "overflow", "infinity", "empty rows", "gradient", "in place"})


class Fix(NamedTuple):
    """An edit that fixes all failed tests, or some of them.

    explains: the number of tests that it fixes, or 0 for all
    doubtful: an edit of a different kind on its line may fix as many tests
    """

    edit: Edit
    explains: int = 0
    doubtful: bool = False


def partial_fixes(
    edits: Sequence[Edit],
    weigh: Callable[[Edit], float],
    seem_fixed: Mapping[int, int],
    tests_fixed: Callable[[Edit], frozenset[str]],
    suspicious: frozenset[Place],
) -> list[Fix]:
    """Select edits that fix some failed tests and break none, at most one of each kind.

    seem_fixed: the number of probes that each edit fixes, by the edit's index
    tests_fixed: run the hidden tests; return those that an edit fixes, or none if it breaks one
    suspicious: places where values deviate or code crashes; elsewhere an edit must fix more tests
    """

    def least(edit: Edit) -> int:
        if edit.kind in _SPECIFIC:
            return 1
        return LEAST_FIXED_ELSEWHERE if suspicious.isdisjoint(edit.places) else LEAST_FIXED

    def rank(number: int) -> tuple[int, bool, float]:
        edit = edits[number]
        elsewhere = suspicious.isdisjoint(edit.places)
        order = edit.line if edit.kind in ANYWHERE else weigh(edit)  # the earliest line
        return -len(fixed[number]), elsewhere, order

    ranked = sorted(seem_fixed, key=lambda n: (-seem_fixed[n], weigh(edits[n]), n))
    # The first edit of each line and count.
    first = {(_line(edits[n]), seem_fixed[n]): n for n in reversed(ranked)}
    chosen = [n for n in ranked if n in first.values()][:PARTIAL_EDITS_TESTED]
    fixed = {n: tests for n in chosen if len(tests := tests_fixed(edits[n])) >= least(edits[n])}
    found, explained, kinds = list[Fix](), frozenset[str](), set[str]()
    for number in sorted(fixed, key=rank):
        edit = edits[number]
        new = len(fixed[number] - explained)
        if new >= min(LEAST_FIXED, least(edit)) and edit.kind not in kinds:
            doubtful = any(
                edits[n].kind != edit.kind and count >= seem_fixed[number]
                for n, count in seem_fixed.items()
                if _line(edits[n]) == _line(edit)
            )
            found.append(Fix(edit, len(fixed[number]), doubtful))
            explained |= fixed[number]
            kinds.add(edit.kind)
    return found


def _line(edit: Edit) -> Place:
    return edit.function, edit.line


def plainness(probe: Probe) -> tuple[bool, bool, int]:
    """Rank a test, simplest first: no errors, no half precision, no claimed device, small."""
    refused = any(answer[0].raised is not None for _, answer in probe.steps)
    return refused, in_low_precision(probe.test) or "fake" in probe.test, probe.size


def simplest_of_families(probes: Iterable[Probe]) -> list[Probe]:
    """Return the simplest failed test of each family, simplest family first."""
    plain = sorted(probes, key=plainness, reverse=True)
    families = {p.test.partition("[")[0]: p for p in plain}
    return sorted(families.values(), key=plainness)
