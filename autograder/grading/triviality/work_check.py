"""Check which failed tests show work, so that a named mistake still earns points."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from enum import Enum
from types import MappingProxyType

from msgspec.structs import replace

from ...model.report.schema import Verdict
from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, request_of
from ..diagnosis.equivalence import same_failure
from ..outcomes import Answers, Flaw, Outcome
from ..running.pytest_plugin import Ran
from ..running.test_runner import Files, Load, Runs
from ..targets.in_process import InProcess, Target
from .answer_contents import (
    answer_contents,
    has_correct_parts,
    resembling_tests,
    same_contents,
    same_numbers,
    takes_no_work,
    with_form,
)
from .trivial_programs import TrivialPasses

_MAJORITY = 0.5
# Flaws that say nothing about the values of the answer, so these values are compared here.
_VALUES_NOT_COMPARED = (Flaw.KIND, Flaw.DEVICE, Flaw.DRAWN, Flaw.DETACHED, Flaw.EFFECT)

Tests = frozenset[str]


class _Work(Enum):
    """The evidence of work in the answer of a failed test that a misconception explains."""

    SHOWN = "the answer has the values of a program with only this mistake"
    MISSING = "the answer takes no work, or its values are different"
    NEEDLESS = "the mistake leads to an answer that takes no work"
    UNKNOWN = "the answers cannot be compared"


class WorkCheck:
    """Checks whether submissions of a week show work.

    load: a function that loads a submission with correct versions of the named exercises
    """

    def __init__(self, runs: Runs, load: Load) -> None:
        self._runs, self._load = runs, load
        self._trivial = TrivialPasses(runs)

    def any_is_nontrivial(self, exercise: str, passed: Iterable[str]) -> bool:
        """Return True if at least one of these passed tests fails for every trivial program."""
        return any(not self._trivial.passes(exercise, test) for test in passed)

    def resembles_solution(self, exercise: str, ran: Iterable[Ran]) -> bool:
        """Return True if answers contain correct parts or resemble the correct ones.

        At least half of the comparable answers must resemble the correct ones, unless answers in
        several tests have a correct part. At least half of the comparable answers in failed tests
        must also take work.
        """
        runs, recorded = list(ran), self._runs.recorded(exercise)
        answered = [r for r in runs if r.report.verdict.has_answer]
        if not (resembling_tests(answered, recorded) or has_correct_parts(answered, recorded)):
            return False
        return self.most_take_work(r for r in runs if r.report.verdict.failed)

    def most_take_work(self, ran: Iterable[Ran]) -> bool:
        """Return True if at least half of the comparable answers take work."""
        compared = [
            effortless for effortless in map(self._takes_no_work, ran) if effortless is not None
        ]
        return sum(compared) <= _MAJORITY * len(compared)

    def tests_with_work(
        self,
        exercise: str,
        explained: Mapping[str, Tests],
        ran: Sequence[Ran],
        fitted: Mapping[str, Ran],
    ) -> dict[str, Tests]:
        """Return the misconceptions that earn points for work, each with the tests that count.

        Omit a misconception if more answers lack work than show it. Also omit it if no answer shows
        work, some of its own answers take none, and trivial programs pass every passed test.

        explained: the tests that each named misconception explains
        ran: the results of the exercise's tests, without inherited failures
        fitted: the results of the first run of `fits`
        """
        bank, mine = self._runs.of_misconceptions(exercise), {r.report.name: r for r in ran}
        passed = [r.report.name for r in ran if r.report.verdict is Verdict.PASS]
        found = dict[str, Tests]()
        for name, tests in explained.items():
            wrong = {r.report.name: r for r in bank[name]}
            work = {test: self._work(mine[test], wrong[test]) for test in tests}
            count = Counter(work.values())
            if count[_Work.MISSING] > count[_Work.SHOWN]:
                continue
            if (
                count[_Work.NEEDLESS]
                and not count[_Work.SHOWN]
                and not self.any_is_nontrivial(exercise, passed)
            ):
                continue
            found[name] = frozenset(t for t in tests if work[t] is not _Work.MISSING)
        if found and any(r.report.verdict.failed and r.flaw is Flaw.STATE for r in ran):
            empty = self._unexplained_with_fitted_layers(exercise, found, fitted)
            found = {name: tests - empty for name, tests in found.items()}
        return found

    def _work(self, mine: Ran, wrong: Ran) -> _Work:
        """Return the evidence of work in the last answer of a failed test.

        If the test failed for a reason other than wrong values, compare the values here.

        wrong: the result of the misconception's program in the same test
        """
        effortless = self._takes_no_work(mine)
        if self._takes_no_work(wrong):
            return _Work.NEEDLESS
        if effortless:
            return _Work.MISSING
        right = self._runs.right_answers(mine.exercise).get(mine.report.name, ())
        if mine.flaw is wrong.flaw and mine.flaw in _VALUES_NOT_COMPARED:
            shown = _shows_values(mine, wrong, right)
        elif mine.flaw is Flaw.VALUE and effortless is not None:
            shown = same_failure(mine, wrong, right)
        else:
            shown = None if effortless is None else True
        return _Work.UNKNOWN if shown is None else _Work.SHOWN if shown else _Work.MISSING

    def _takes_no_work(self, ran: Ran) -> bool | None:
        """Return whether the last answer in a test takes no work, or None if this is unknown."""
        recorded = self._runs.recorded(ran.exercise)
        return takes_no_work(ran.answers, recorded.get(ran.report.name, []))

    def fits(
        self, exercise: str, ran: Sequence[Ran], files: Files, replaced: tuple[str, ...]
    ) -> list[dict[str, Ran]]:
        """Run the failed tests again with what makes the exercise fit its contract.

        If a state dict fails to load, the layers are fitted. If several tests raise or get a wrong
        type, dtype or shape, the bank's adapter is added. In the second case, another run converts
        the results. A single test that raises may count what the exercise uses.

        ran: the results of the exercise's tests, without inherited failures
        replaced: the helpers that were replaced by correct ones while the tests ran
        """
        failed = [r for r in ran if r.report.verdict.failed]
        stopped = {r.report.base for r in failed if r.report.verdict.raised}
        formless = {r.report.base for r in failed if r.flaw is Flaw.KIND}
        adapter, module = self._runs.bank.adapters.get(exercise), self._runs.week.module
        fitted, tests = files, {r.report.name for r in failed}
        if adapter and module in files and len(stopped | formless) > 1:
            fitted = {**files, module: files[module] + f"\n\n{adapter.source}".encode()}
        found, loads = list[dict[str, Ran]](), any(r.flaw is Flaw.STATE for r in failed)
        for converts in (False, True):
            if len(formless) > 1 if converts else loads or fitted is not files:
                right = self._runs.right_answers(exercise) if converts else {}
                with closing(_Fitting(self._load(fitted, replaced), right)) as target:
                    again = self._runs.run(target, files, exercise, tests=tests, replaced=replaced)
                found.append({r.report.name: r for r in again})
        return found

    def _unexplained_with_fitted_layers(
        self, exercise: str, names: Collection[str], fitted: Mapping[str, Ran]
    ) -> Tests:
        """Return the tests that fail for reasons other than parameters that do not load.

        These tests still fail after the layers are fitted to the loaded parameters, and none of the
        misconceptions in `names`, fitted in the same way, ends the test with the same result.
        """
        left = {test: r for test, r in fitted.items() if r.report.verdict.failed}
        for one in self._runs.bank.of_exercise(exercise) if left else ():
            if one.name in names:
                program = InProcess(self._runs.written(f"-fitted-{one.name}", one.source))
                with closing(_Fitting(program)) as fitting:
                    runs = self._runs.run(fitting, {}, exercise, tests=set(left))
                for wrong in runs:
                    name = wrong.report.name
                    if wrong.report.verdict.failed and _same_ending(left[name], wrong):
                        del left[name]
        return frozenset(left)


def _shows_values(mine: Ran, wrong: Ran, right: Answers) -> bool | None:
    """Return True if an answer has the misconception's values or the correct ones.

    Return None if the answers cannot be compared.
    """
    index = len(mine.answers) - 1
    try:
        own, expected = (answer_contents(r.last_answer) for r in (mine, wrong))
    except frames.BadFrame:
        return False
    if own is None or expected is None:
        return None
    same = same_failure(mine, wrong, right)
    if not expected:  # an object, whose contents cannot be compared
        return None if same else False
    if not own:
        return False
    if (same and not isinstance(own[0], str)) or same_contents(own, expected):
        return True  # `same_failure` ignores printed text
    correct = answer_contents(right[index]) if 0 <= index < len(right) else None
    return correct is not None and (same_contents(own, correct) or same_numbers(own, correct))


def _same_ending(mine: Ran, wrong: Ran) -> bool:
    """Return True if two tests ended with similar values, or with the same type of exception."""
    own, expected = (answer_contents(r.last_answer) for r in (mine, wrong))
    if own and expected:
        return same_contents(own, expected)
    types = {error.type if (error := r.last_raised) else "" for r in (mine, wrong)}
    return own is None and expected is None and len(types) == 1 and "" not in types


class _Fitting:
    """Wraps a program and fits its layers to loaded parameters, and its results to `right`."""

    def __init__(self, inner: Target, right: Mapping[str, Answers] = MappingProxyType({})) -> None:
        self._inner, self._right, self.close = inner, right, inner.close
        self._rest: Iterator[Answer | Outcome] = iter(())

    def begin(self, test: str, exercise: str) -> None:
        self._rest = iter(self._right.get(test, ()))
        self._inner.begin(test, exercise)

    def request(self, frame: bytes) -> Answer:
        call, buffers = request_of(frame)
        if isinstance(call, frames.Call) and call.construct:
            frame = frames.pack(replace(call, fitting=True), [bytes(b) for b in buffers])
        right = next(self._rest, None)
        answer = self._inner.request(frame)
        return with_form(answer, right) if isinstance(right, tuple) else answer
