"""Find the misconceptions in the bank that fail hidden tests in the same way as a submission.

All misconceptions of an exercise run through the same hidden tests, in the trusted process. A
misconception is a candidate if the student fails all tests that the misconception fails, and if
most of these failures agree: the answers to the same calls are equal, or at least the tests fail
for the same reason. A program can contain several mistakes, so sets of up to three misconceptions
are searched. Two kinds of tests do not count against a member of a set:

* tests that other members fail too, because two mistakes together may lead to different answers
* tests that the student fails at an earlier check, for example with an exception, because the
  student's values are then unknown

The result is the set that explains the most failures, if it explains at least half of all failures.
Otherwise, the result contains only misconceptions that agree exactly in all tests that they fail.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from ..outcomes import Answers, Flaw
from ..running.pytest_plugin import Ran
from .equivalence import partly_same_failure, same_failure, same_reason

_MAX_MISTAKES = 3  # misconceptions in a set
_MAX_CANDIDATES = 12
_MIN_AGREEMENT = 0.6  # least mean agreement in the tests that count for or against a misconception
_MIN_EVIDENCE = 0.2  # least mean agreement in all tests that a misconception fails
_MIN_EXPLAINED = 0.5  # share of the student's failed tests that a set must explain
_ALMOST_ALL = 0.9  # share of the weight that must agree; the rest may differ in coding style
_MISTAKE_PRICE = 0.9  # number of tests that each additional mistake has to explain

# Degrees of agreement between two failures of the same test.
_EXACT = 1.0
_CLOSE = 0.98  # values much closer to each other than to the correct ones
_NOT_REFUSED = 0.95  # both programs fail to refuse invalid arguments as required
_IN_PART = 0.9  # some parts equal the misconception's, and the rest is correct
_SAME_REASON = 0.7  # the same reason, but different values


@dataclass(frozen=True)
class Named:
    """A misconception that explains some of the failed tests.

    explains: the number of failed tests that it explains alone
    of: the number of all failed tests
    mostly: whether some of the misconception's failures do not agree, or agree only in part
    tests: the failed tests that it explains, alone or with the other named misconceptions
    """

    name: str
    explains: int
    of: int
    mostly: bool = False
    tests: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Candidate:
    """A misconception that may explain failures.

    fails: the tests that the misconception fails
    agreement: how closely the student's failure agrees, by test
    hidden: the tests that the student fails at an earlier check
    """

    name: str
    fails: frozenset[str]
    agreement: Mapping[str, float]
    hidden: frozenset[str] = frozenset()

    @property
    def total(self) -> float:
        return sum(self.agreement.values())

    @property
    def rank(self) -> tuple[float, int, str]:
        """A sort key that puts more agreement first, and then fewer failed tests."""
        return -self.total, len(self.fails), self.name


_Set = Sequence[_Candidate]


def diagnose(
    student: Iterable[Ran],
    bank: Mapping[str, Iterable[Ran]],
    right: Mapping[str, Answers] | None = None,
) -> list[Named]:
    """Return the misconceptions that explain the failed tests of one exercise, or [] if none do.

    student: the results of the student's tests
    bank:    the results of the tests that each misconception fails
    right:   the solution's answers in each test
    """
    failed = {r.report.name: r for r in student if r.report.verdict.failed}
    matching = (_candidate(name, runs, failed, right or {}) for name, runs in bank.items())
    found = [one for one in matching if one is not None]
    candidates = sorted(found, key=lambda c: c.rank)[:_MAX_CANDIDATES]
    sets = chain.from_iterable(combinations(candidates, n + 1) for n in range(_MAX_MISTAKES))
    plausible = [s for s in sets if all(_is_plausible(member, s) for member in s)]
    if not plausible:
        return []
    best: _Set = min(plausible, key=lambda s: (-_value(s), [m.rank for m in s]))
    if len({t for m in best for t in m.agreement}) < _MIN_EXPLAINED * len(failed):
        certain = [c for c in found if _is_certain(c, failed)]
        best = [c for c in certain if not _is_covered(c, certain)][:_MAX_MISTAKES]
    best = [m for m in best if not _is_ambiguous(m, candidates, failed)]
    return [_named(m, best, failed) for m in best]


def _candidate(
    name: str, runs: Iterable[Ran], failed: Mapping[str, Ran], right: Mapping[str, Answers]
) -> _Candidate | None:
    wrong = {r.report.name: r for r in runs}
    if not wrong or not wrong.keys() <= failed.keys():
        return None
    agreement = {
        test: how
        for test, run in wrong.items()
        if (how := _agreement(failed[test], run, right.get(test, ())))
    }
    hidden = frozenset(
        test
        for test, run in wrong.items()
        if test not in agreement and _checking_stage(failed[test]) < _checking_stage(run)
    )
    return _Candidate(name, frozenset(wrong), agreement, hidden) if agreement else None


def _agreement(mine: Ran, wrong: Ran, right: Answers) -> float:
    if same_failure(mine, wrong):
        return _EXACT
    if same_failure(mine, wrong, right):
        return _CLOSE
    if partly_same_failure(mine, wrong, right):
        return _IN_PART
    if same_reason(mine, wrong):
        return _NOT_REFUSED if wrong.flaw is Flaw.REFUSAL else _SAME_REASON
    return 0.0


def _checking_stage(ran: Ran) -> int:
    """Return the stage at which a test failed: 0 exception or state, 1 type, 2 values, 3 later."""
    if not ran.report.verdict.rejects_answers or ran.flaw is Flaw.STATE:
        return 0
    if ran.flaw in (Flaw.KIND, Flaw.DEVICE):
        return 1
    return 2 if ran.flaw.precedes_gradients or ran.flaw is Flaw.CLAIM else 3


def _is_plausible(candidate: _Candidate, among: _Set) -> bool:
    """Return True if enough of a candidate's failures agree, given the other members of its set."""
    matched = candidate.agreement.keys()
    adding = [m for m in among if m.agreement.keys() - matched]
    uncounted = (_failed_by_rest(candidate, adding) | candidate.hidden) - matched
    needed = _MIN_AGREEMENT * len(candidate.fails - uncounted)
    return candidate.total >= max(needed, _MIN_EVIDENCE * len(candidate.fails))


def _failed_by_rest(candidate: _Candidate, among: _Set) -> set[str]:
    return {test for other in among if other is not candidate for test in other.fails}


def _value(among: _Set) -> float:
    """Return the total agreement of a set, minus a price for each mistake after the first."""
    best: dict[str, float] = {}
    for member in among:
        for test, how in member.agreement.items():
            best[test] = max(how, best.get(test, 0.0))
    return sum(best.values()) - _MISTAKE_PRICE * (len(among) - 1)


def _is_certain(candidate: _Candidate, failed: Mapping[str, Ran]) -> bool:
    """Return True if the student fails all of a misconception's tests in exactly the same way.

    Tests that the student fails at an earlier check are ignored, but then a single other test is
    not enough. A single test is not enough either if values decided it. If no test is ignored,
    failures to refuse invalid arguments need not be exactly the same.
    """
    if candidate.agreement.keys() != candidate.fails - candidate.hidden:
        return False
    if all(failed[t].flaw is Flaw.REFUSAL for t in candidate.agreement) and not candidate.hidden:
        return True
    if any(how != _EXACT for how in candidate.agreement.values()):
        return False
    structural = all(failed[t].flaw.independent_of_values for t in candidate.agreement)
    return len(candidate.agreement) > 1 or (structural and not candidate.hidden)


def _is_covered(candidate: _Candidate, certain: _Set) -> bool:
    """Return True if another certain misconception explains these tests at least as well."""
    return any(
        other is not candidate
        and candidate.agreement.keys() <= other.agreement.keys()
        and candidate.total <= other.total
        for other in certain
    )


def _is_ambiguous(candidate: _Candidate, among: _Set, failed: Mapping[str, Ran]) -> bool:
    """Return True if only one of several failures agrees and its values fit another candidate."""
    if len(candidate.agreement) > 1 or len(candidate.fails) == 1:
        return False
    (test,) = candidate.agreement
    others = (o for o in among if o is not candidate and test in o.agreement)
    return not failed[test].flaw.independent_of_values and any(
        o.agreement[test] >= candidate.agreement[test] for o in others
    )


def _named(candidate: _Candidate, among: _Set, failed: Mapping[str, Ran]) -> Named:
    """Return a member with the tests that it explains, alone or with the other members."""

    def weight(tests: Collection[str]) -> float:
        return sum(failed[t].report.weight for t in tests)

    tests = frozenset(candidate.agreement)
    if weight(tests) >= _ALMOST_ALL * weight(candidate.fails):
        tests |= candidate.fails - candidate.hidden
    alone = len(tests)
    # If one member's tests include the other's, the two members name the same mistake.
    others = [m for m in among if m.agreement.keys() - tests and tests - m.agreement.keys()]
    tests |= (candidate.fails & _failed_by_rest(candidate, others)) - candidate.hidden
    mostly = (
        len(candidate.agreement) < len(candidate.fails) or _IN_PART in candidate.agreement.values()
    )
    return Named(candidate.name, alone, len(failed), mostly, tests)
