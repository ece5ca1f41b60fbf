"""Naming the misconceptions: whose failures on the same inputs are the student's?

On a failing test the misconceptions of its exercise are run through the very same test in the
trusted process. One fits if it fails no test that the student passes, and agrees with the student
on most of the tests that it fails: the same answers to the same calls, or at least the same
reason. A program can have several flaws, so small sets are searched: where two members of a set
fail a test, its answers may be neither's, and it speaks against none. Nor does a test that the
student fails for what is looked at before: who stops with an error gives no values. The set that
explains most is named, if that is most of what fails; of one that explains less, what agrees in
every answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from ...model.report.verdicts import Verdict
from ..outcomes import Flaw
from ..running.pytest_plugin import Ran
from .equivalence import Answers, alike_failure, failure_in_part, same_failure

_MOST = 3  # flaws that are looked for together
_AGREES = 0.6  # of the tests that a misconception fails and that speak of it alone
_EVIDENCE = 0.2  # of all that it fails
_NEARLY_ALL = 0.9  # of all that it fails, by weight: then the others end as they do by its style
_EXPLAINS = 0.5  # of all that the student fails
_ANOTHER = 0.9  # tests that one more flaw has to explain
_CLOSE = 0.98  # what answers count that are much closer to each other than to the right ones
_ALIKE = 0.7  # what a failure for the same reason counts, with other values
_IN_PART = 0.9  # where some results of a call are its own, and the others right
_NOT_REFUSED = 0.95  # where it is that arguments are not refused: other values say nothing then
_CANDIDATES = 12


@dataclass(frozen=True)
class Named:
    """A misconception that explains so many of the failed tests; `mostly`: not all fits it.

    tests: those that show no other mistake than those that were named
    """

    name: str
    explains: int
    of: int
    mostly: bool = False
    tests: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Suspected:
    """A misconception: the tests that it fails, how far the student agrees on each, and those that
    the student fails for something that is looked at before."""

    name: str
    fails: frozenset[str]
    agrees: Mapping[str, float]
    silent: frozenset[str] = frozenset()

    @property
    def rank(self) -> tuple[float, int, str]:
        """More agreement first, then what fails less beside it."""
        return -sum(self.agrees.values()), len(self.fails), self.name


def diagnose(
    student: Iterable[Ran],
    bank: Mapping[str, Iterable[Ran]],
    right: Mapping[str, Answers] | None = None,
) -> list[Named]:
    """The misconceptions that the student's runs of one exercise betray, the weightiest first.

    `student` holds its runs; `bank` those runs of each misconception that ended in failure; `right`
    what right code answers in each test, where that is known.
    """
    failed = {r.report.name: r for r in student if r.report.verdict.failed}
    found = [_suspected(name, runs, failed, right or {}) for name, runs in bank.items()]
    candidates = sorted((s for s in found if s is not None), key=lambda s: s.rank)[:_CANDIDATES]
    sets = [s for s in _sets(candidates) if all(_holds(m, s) for m in s)]
    if not sets:
        return []
    best = min(sets, key=lambda s: (-_worth(s), [m.rank for m in s]))
    explained = {t for m in best for t in m.agrees}
    if len(explained) < _EXPLAINS * len(failed):
        certain = [s for s in found if s is not None and _is_certain(s, failed)]
        best = tuple(m for m in certain if _is_alone(m, certain))[:_MOST]
    best = tuple(m for m in best if not _is_doubtful(m, candidates, failed))
    return [_named(m, best, failed) for m in best]


def _named(one: _Suspected, among: tuple[_Suspected, ...], failed: Mapping[str, Ran]) -> Named:
    """What is said of one of a set: the tests that end as its own, or that others of it blur."""

    def weight(tests: Iterable[str]) -> float:
        return sum(failed[t].report.weight for t in tests)

    tests = frozenset(one.agrees)
    if weight(tests) >= _NEARLY_ALL * weight(one.fails):
        tests |= one.fails - one.silent
    # two that agree in the same tests are two names for one mistake, and blur nothing
    others = tuple(m for m in among if m.agrees.keys() - tests and tests - m.agrees.keys())
    tests |= (one.fails & _blurred(one, others)) - one.silent
    mostly = len(one.agrees) < len(one.fails) or _IN_PART in one.agrees.values()
    return Named(one.name, len(one.agrees), len(failed), mostly, tests)


def _blurred(one: _Suspected, among: Iterable[_Suspected]) -> set[str]:
    """The tests that others of the set fail."""
    return {t for other in among if other is not one for t in other.fails}


def _is_doubtful(one: _Suspected, among: Iterable[_Suspected], failed: Mapping[str, Ran]) -> bool:
    """Whether only the values of one test speak for it, and for another mistake as well."""
    if len(one.agrees) > 1 or len(one.fails) == 1:
        return False
    (test,) = one.agrees
    others = (o for o in among if o is not one and test in o.agrees)
    return not failed[test].flaw.tells_by_itself and any(
        o.agrees[test] >= one.agrees[test] for o in others
    )


def _is_certain(one: _Suspected, failed: Mapping[str, Ran]) -> bool:
    """Whether a mistake is there beside a larger one: all its tests ended in its very answers."""
    if one.agrees.keys() != one.fails - one.silent:
        return False
    if all(failed[t].flaw is Flaw.REFUSAL for t in one.agrees) and not one.silent:
        return True
    exact = all(how == 1.0 for how in one.agrees.values())
    alone = all(failed[t].flaw.tells_by_itself for t in one.agrees)
    return exact and (len(one.agrees) > 1 or (alone and not one.silent))


def _is_alone(one: _Suspected, certain: list[_Suspected]) -> bool:
    """Whether no other mistake is as certain by the same tests."""
    return not any(
        other is not one
        and one.agrees.keys() <= other.agrees.keys()
        and sum(one.agrees.values()) <= sum(other.agrees.values())
        for other in certain
    )


def _suspected(
    name: str, runs: Iterable[Ran], failed: Mapping[str, Ran], right: Mapping[str, Answers]
) -> _Suspected | None:
    theirs = {r.report.name: r for r in runs}
    if not theirs or not theirs.keys() <= failed.keys():
        return None
    agrees = {}
    for test, run in theirs.items():
        if same_failure(failed[test], run):
            agrees[test] = 1.0
        elif same_failure(failed[test], run, right.get(test, ())):
            agrees[test] = _CLOSE
        elif failure_in_part(failed[test], run, right.get(test, ()) if right else ()):
            agrees[test] = _IN_PART
        elif alike_failure(failed[test], run):
            agrees[test] = _NOT_REFUSED if run.flaw is Flaw.REFUSAL else _ALIKE
    if not agrees:
        return None
    silent = (
        t for t in theirs if t not in agrees and _looked_at(failed[t]) < _looked_at(theirs[t])
    )
    return _Suspected(name, frozenset(theirs), agrees, frozenset(silent))


def _looked_at(ran: Ran) -> int:
    """When it is looked at, in one call, what a test failed for: errors before kinds, kinds before
    values, and values before all that is beside them."""
    if ran.report.verdict is not Verdict.WRONG or ran.flaw is Flaw.STATE:
        return 0
    if ran.flaw in (Flaw.KIND, Flaw.DEVICE):
        return 1
    return 2 if ran.flaw.stops_at_values or ran.flaw is Flaw.CLAIM else 3


def _sets(candidates: list[_Suspected]) -> Iterator[tuple[_Suspected, ...]]:
    for size in range(1, _MOST + 1):
        yield from combinations(candidates, size)


def _holds(one: _Suspected, among: tuple[_Suspected, ...]) -> bool:
    """Whether the student agrees with it where no other of the set blurs the answers.

    What explains nothing that this one does not is no mistake beside it, and blurs nothing.
    """
    blurred = _blurred(one, [m for m in among if m.agrees.keys() - one.agrees.keys()])
    speaks = {t for t in one.fails if t in one.agrees or not (t in blurred or t in one.silent)}
    agreed = sum(one.agrees.values())
    return agreed >= _AGREES * len(speaks) and agreed >= _EVIDENCE * len(one.fails)


def _worth(among: tuple[_Suspected, ...]) -> float:
    """The tests that a set explains, less a price for every flaw beyond the first."""
    best: dict[str, float] = {}
    for one in among:
        for test, how in one.agrees.items():
            best[test] = max(how, best.get(test, 0.0))
    return sum(best.values()) - _ANOTHER * (len(among) - 1)
