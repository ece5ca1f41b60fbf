"""What a proof of a week says, and how its parts become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec


class Row(msgspec.Struct, frozen=True):
    """One misconception: which tests reject it, and what it is diagnosed as."""

    name: str
    exercise: str
    rejected_by: tuple[str, ...]
    diagnosed_as: tuple[str, ...]


class Verification(msgspec.Struct):
    """What was proven of a week, or of a part of it, and the gaps."""

    week: str
    alternatives: int = 0
    tests: int = 0
    rows: list[Row] = []
    gaps: list[str] = []
    not_run: set[str] = set()
    lacking: tuple[str, ...] = ()  # extras that are not installed: their exercises prove nothing

    def add(self, part: Verification) -> None:
        """Take in what was proven of another part."""
        self.alternatives = max(self.alternatives, part.alternatives)
        self.tests += part.tests
        self.rows += part.rows
        self.gaps += part.gaps
        self.not_run |= part.not_run
        self.lacking = tuple(sorted({*self.lacking, *part.lacking}))


def of_all_draws(results: Sequence[Verification]) -> Verification:
    """What a week's verifications with several draws, in their order, prove together.

    A misconception is rejected by the tests that reject it in every draw. A gap of some draws
    alone says so: what the others prove there, they prove by luck.
    """
    first, draws = results[0], len(results)
    gaps = Counter(gap for result in results for gap in dict.fromkeys(result.gaps))
    together = Verification(first.week, first.alternatives, first.tests, lacking=first.lacking)
    together.not_run = set().union(*(r.not_run for r in results))
    for gap, times in gaps.items():
        which = next(n for n, r in enumerate(results, start=1) if gap in r.gaps)
        seldom = f" (in {times} of {draws} draws, first in draw {which})"
        together.gaps.append(gap if times == draws else gap + seldom)
    for name in dict.fromkeys(row.name for result in results for row in result.rows):
        rows = [row for result in results for row in result.rows if row.name == name]
        rejected = (t for t in rows[0].rejected_by if all(t in r.rejected_by for r in rows))
        diagnosed = dict.fromkeys(d for r in rows for d in r.diagnosed_as)
        together.rows.append(Row(name, rows[0].exercise, tuple(rejected), tuple(diagnosed)))
    return together
