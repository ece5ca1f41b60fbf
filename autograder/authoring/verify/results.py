"""The result of verifying a week or a part of it, and the combination of such results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec


class Row(msgspec.Struct, frozen=True):
    """One misconception: the tests that reject it, and the misconceptions it is diagnosed as."""

    name: str
    exercise: str
    rejected_by: tuple[str, ...]
    diagnosed_as: tuple[str, ...]


class Verification(msgspec.Struct):
    """The result for a week or a part of it; `gaps` is empty if verification succeeded.

    not_run: tests that this machine cannot run
    lacking: optional libraries that are not installed, so their exercises are not verified
    """

    week: str
    alternatives: int = 0
    tests: int = 0
    rows: list[Row] = []
    gaps: list[str] = []
    not_run: set[str] = set()
    lacking: tuple[str, ...] = ()

    def add(self, part: Verification) -> None:
        """Merge the result of another part into this one."""
        self.alternatives = max(self.alternatives, part.alternatives)
        self.tests += part.tests
        self.rows += part.rows
        self.gaps += part.gaps
        self.not_run |= part.not_run
        self.lacking = tuple(sorted({*self.lacking, *part.lacking}))


def combine_draws(results: Sequence[Verification]) -> Verification:
    """Combine the results of one week for several draws of the hidden inputs, in order.

    The rows are those of the first draw. A gap that appears for only some draws is listed with
    their number, because the graders then pass or fail by chance.
    """
    first, draws = results[0], len(results)
    gaps = Counter(gap for result in results for gap in dict.fromkeys(result.gaps))
    not_run = set[str]().union(*(r.not_run for r in results))
    combined = msgspec.structs.replace(first, gaps=[], not_run=not_run)
    for gap, times in gaps.items():
        number = next(n for n, r in enumerate(results, start=1) if gap in r.gaps)
        some = f" (in {times} of {draws} draws, first in draw {number})"
        combined.gaps.append(gap if times == draws else gap + some)
    return combined
