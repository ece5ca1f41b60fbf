"""Changes that mend a part of what fails and harm nothing, where none mends all of it.

Where several mistakes are in code, most failed tests show more than one of them. Some test families
show one alone: a change after which these pass has mended it. Wrappers (`repair/adapters.py`) are
tried around each other, since one mistake often hides another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Protocol

from ...model.report.schema import in_low_precision
from ...repair import Change
from ..diagnosis.probes import Probe
from ..running.pytest_plugin import Ran
from ..targets.in_process import Target
from .traced_runs import Place

_TRIED = 3  # changes that all tests are asked about
_LEAST = 2  # tests: what mends one alone may have bent it
_LEAST_ELSEWHERE = 3  # where no value says that anything is wrong
_FAMILIES = 6  # tests that are asked what a change mends in part
_PLAINEST = 3  # of them: what mends none of these is left
_TOLD = 3
# Types and NaN can be mended wherever they are seen.
ANYWHERE = frozenset({"kind of number", "infinity"})
# A mistake can be avoided by these too, whatever it is.
SAYS_LITTLE = frozenset({"order of lines", "statement", "unused", "operand"})
# What changes of these kinds mend, they do not mend by chance.
_SPECIAL = frozenset({"device", "overflow", "infinity", "empty rows", "gradient", "in place"})


class Versions(Protocol):
    """Where versions of a submission run."""

    @property
    def spent_share(self) -> float:
        """Of the time that there is, what was spent."""

    @property
    def over(self) -> bool: ...

    def short(self, made: Change) -> Target | None:
        """The version as far as the exercise needs it; None if it is no Python."""

    def passes(self, made: Change) -> bool:
        """Whether all hidden tests of the exercise hold."""

    def run(self, made: Change) -> list[Ran]:
        """All hidden tests of the exercise."""


class InPart:
    """Notes what each version mends; then asks the hidden tests about the best."""

    def __init__(
        self, exercise: str, failing: Iterable[Ran], asked: list[Probe], versions: Versions
    ) -> None:
        self._exercise, self._versions = exercise, versions
        self._before = frozenset(r.report.name for r in failing)
        self._every = _families(asked)
        self._families = self._every[:_FAMILIES]
        self._counts: dict[int, int] = {}  # by change, of the families

    @property
    def looks_so(self) -> bool:
        """Whether a change seemed to mend something."""
        return bool(self._counts)

    def note(self, number: int, count: int) -> None:
        """Note that after a change so many answers seemed right."""
        self._counts[number] = max(count, self._counts.get(number, 0))

    def look(self, number: int, target: Target, known: Mapping[str, bool]) -> None:
        """Note how many families of tests a change mends that does not mend all.

        known: of some tests, whether it mends them
        """
        count = 0
        for place, probe in enumerate(self._families if len(self._families) > 1 else ()):
            if place == _PLAINEST and not count:
                return
            mends = known.get(probe.test)
            count += probe.difference(target, self._exercise) is None if mends is None else mends
        if count:
            self.note(number, count)

    def mended(
        self,
        written: Sequence[Change],
        weigh: Callable[[Change], float],
        wraps: Iterable[int],
        hot: frozenset[Place],
        likely: Iterable[tuple[int, int]],
    ) -> dict[int, tuple[int, bool]]:
        """Changes that mend some failed tests and harm none, with how many, and whether others of
        another kind seem to mend as much on the same line: the one that mends most, then others
        that mend others, one of a kind.

        likely: other changes that may, with how many ways to fail they seem to mend
        """
        told = self._told_by_wraps(written, wraps)
        noted = (*self._counts.items(), *likely)
        seemed = [(-count, weigh(written[n]), n) for n, count in noted]
        for number in islice(_one_of_a_line(sorted(seemed), written), _TRIED):
            some = self._mended_by(written[number])
            if len(some) >= self._least(written[number], hot):
                told[number] = some

        def rank(number: int) -> tuple[int, bool, float]:
            change = written[number]
            cold = hot.isdisjoint(change.places)
            near = change.line if change.kind in ANYWHERE else weigh(change)  # where it began
            return -len(told[number]), cold, near

        found, mended, kinds = dict[int, tuple[int, bool]](), frozenset[str](), set[str]()
        for number in sorted(told, key=rank):
            kind = written[number].kind
            least = min(_LEAST, self._least(written[number], hot))
            if len(told[number] - mended) >= least and kind not in kinds:
                found[number] = len(told[number]), _has_rivals(number, noted, written)
                mended |= told[number]
                kinds.add(kind)
        return dict(islice(found.items(), _TOLD))

    def _least(self, change: Change, hot: frozenset[Place]) -> int:
        """How many tests a change has to mend."""
        if change.kind in _SPECIAL:
            return 1
        return _LEAST_ELSEWHERE if hot.isdisjoint(change.places) else _LEAST

    def _mended_by(self, change: Change) -> frozenset[str]:
        """The failed tests that pass after a change; none if another one fails then."""
        if self._versions.over:
            return frozenset()
        ran = self._versions.run(change)
        left = frozenset(r.report.name for r in ran if r.report.verdict.failed)
        return self._before - left if left <= self._before else frozenset()

    def _mends_one(self, change: Change) -> bool:
        """Whether an answer of some family seems right after a change."""
        if self._versions.over:
            return False
        target = self._versions.short(change)
        seen = (p.difference(target, self._exercise) for p in self._every if target is not None)
        return any(one is None for one in seen)

    def _told_by_wraps(
        self, written: Sequence[Change], wraps: Iterable[int]
    ) -> dict[int, frozenset[str]]:
        """What wrappers mend, each by itself or around those before; one of each kind."""
        told = dict[int, frozenset[str]]()
        around: Change | None = None
        done = frozenset[str]()
        for number in wraps:
            change = written[number]
            if any(written[n].kind == change.kind for n in told):
                continue
            both = change if around is None else around.joined(change)
            if both is None or not self._mends_one(both):
                continue
            mended = self._mended_by(both) - done
            if len(mended) >= _LEAST:
                told[number] = mended
                around, done = both, done | mended
        return told


def _has_rivals(number: int, noted: Iterable[tuple[int, int]], written: Sequence[Change]) -> bool:
    """Whether a change of another kind seems to mend as much on the same line."""
    seemed = dict(noted)
    if number not in seemed:
        return False
    change = written[number]
    return any(
        written[n].kind != change.kind and count >= seemed[number]
        for n, count in seemed.items()
        if (written[n].function, written[n].line) == (change.function, change.line)
    )


def _one_of_a_line(
    seemed: Iterable[tuple[int, float, int]], written: Sequence[Change]
) -> Iterator[int]:
    """One change for each line and count, the likeliest."""
    seen = set[tuple[str, int, int]]()
    for count, _, number in seemed:
        change = written[number]
        key = change.function, change.line, count
        if key not in seen:
            seen.add(key)
            yield number


def plainness(probe: Probe) -> tuple[bool, bool, int]:
    """How little a test asks for, the lower, the less: no errors, no halves, no other device."""
    refused = any(answer[0].raised is not None for _, answer in probe.steps)
    return refused, in_low_precision(probe.test) or "fake" in probe.test, probe.size


def _families(asked: list[Probe]) -> list[Probe]:
    """One failed test of each family, the plainest first."""
    plain = sorted(asked, key=plainness, reverse=True)
    families = {p.test.partition("[")[0]: p for p in plain}
    return sorted(families.values(), key=plainness)
