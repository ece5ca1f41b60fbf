"""Check which failed tests show the work that a named mistake is paid for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing

import msgspec

from ...model.report.schema import Verdict
from ...worker.protocol import frames
from ..decoding import Answers
from ..diagnosis.equivalence import same_failure
from ..outcomes import Flaw
from ..running.pytest_plugin import Ran
from ..running.test_runner import Runs
from ..targets.in_process import Answer, InProcess, Target, request_of
from .answer_contents import (
    answer_contents,
    effortless_tests,
    resembling_tests,
    same_contents,
    same_numbers,
)
from .trivial_programs import TrivialPasses

_MAJORITY = 0.5  # share of the comparable tests

Files = Mapping[str, bytes]
Tests = frozenset[str]


class WorkCheck:
    """Checks the submissions of a week for work.

    load: load a submission with correct versions of some exercises
    """

    def __init__(self, runs: Runs, load: Callable[[Files, Iterable[str]], Target]) -> None:
        self._runs, self._load = runs, load
        self._trivial = TrivialPasses(runs)

    def any_is_nontrivial(self, exercise: str, passed: Iterable[str]) -> bool:
        """Return True if there is a test among these that no trivial program passes."""
        return any(not self._trivial.passes(exercise, test) for test in passed)

    def resembles_solution(self, exercise: str, ran: Iterable[Ran]) -> bool:
        """Return True if most answers resemble the correct ones, and most take some work."""
        runs, right = list(ran), self._runs.right_answers(exercise)
        answered = [r for r in runs if r.report.verdict.has_answer]
        if not resembling_tests(answered, right):
            return False
        failed = [r for r in runs if r.report.verdict.failed]
        effortless = effortless_tests(failed, right, self._runs.recorded(exercise))
        return sum(effortless.values()) <= _MAJORITY * len(effortless)

    def tests_with_work(
        self,
        exercise: str,
        explained: Mapping[str, Tests],
        ran: Sequence[Ran],
        files: Files,
        replaced: tuple[str, ...],
    ) -> dict[str, Tests]:
        """Return the misconceptions that earn points for work, with the tests that they explain.

        explained: the tests that each named misconception explains
        ran: the tests of the exercise that are not inherited
        replaced: the helpers that the solution replaced while the tests ran
        """
        bank, right = self._runs.of_misconceptions(exercise), self._runs.right_answers(exercise)
        found = dict[str, Tests]()
        for name, tests in explained.items():
            empty = tests_without_work(ran, bank[name], right)
            if empty is not None:
                with_work = self._unless_effortless(exercise, ran, bank[name], tests - empty)
                if with_work is not None:
                    found[name] = with_work
        if found and any(r.report.verdict.failed and r.flaw is Flaw.STATE for r in ran):
            empty = self._tests_failed_with_fitted_layers(exercise, found, files, replaced)
            found = {name: tests - empty for name, tests in found.items()}
        return found

    def _unless_effortless(
        self, exercise: str, ran: Sequence[Ran], wrong: Iterable[Ran], tests: Tests
    ) -> Tests | None:
        """Return the explained tests, or None if neither they nor passed tests show work."""
        right, requests = self._runs.right_answers(exercise), self._runs.recorded(exercise)
        mine, other = (
            {r.report.name: r for r in some if r.report.name in tests} for some in (ran, wrong)
        )
        my_effortless, wrong_effortless = (
            effortless_tests(some.values(), right, requests) for some in (mine, other)
        )
        compared = my_effortless.keys() | wrong_effortless.keys()
        telling = [t for t in compared if not wrong_effortless.get(t)]
        shown = [
            t
            for t in telling
            if not my_effortless.get(t) and _same_values(mine[t], other.get(t), right)
        ]
        if compared and (not telling or len(shown) < _MAJORITY * len(telling)):
            passed = (r.report.name for r in ran if r.report.verdict is Verdict.PASS)
            return tests if self.any_is_nontrivial(exercise, passed) else None
        return frozenset(t for t in tests if wrong_effortless.get(t) or not my_effortless.get(t))

    def _tests_failed_with_fitted_layers(
        self, exercise: str, names: Collection[str], files: Files, replaced: tuple[str, ...]
    ) -> Tests:
        """Return the tests that have a further mistake besides parameters that do not load.

        Such a test still fails when the layers are fitted to the parameters, and ends differently
        from the misconceptions with fitted layers.
        """

        def failed(target: Target) -> Iterator[Ran]:
            with closing(_Fitting(target)) as fitting:
                ran = self._runs.run(fitting, files, exercise)
            return (r for r in ran if r.report.verdict.failed)

        left = {r.report.name: r for r in failed(self._load(files, replaced))}
        for one in self._runs.bank.of_exercise(exercise) if left else ():
            if one.name in names:
                program = InProcess(self._runs.written(f"-fitted-{one.name}", one.source))
                for wrong in failed(program):
                    mine = left.get(wrong.report.name)
                    if mine is not None and _same_ending(mine, wrong):
                        del left[wrong.report.name]
        return frozenset(left)


def _same_values(mine: Ran, wrong: Ran | None, right: Mapping[str, Answers]) -> bool:
    """Return True if values equal the misconception's, or if none were compared."""
    if wrong is None or mine.flaw is not Flaw.VALUE:
        return True
    return same_failure(mine, wrong, right.get(mine.report.name, ()))


def tests_without_work(
    mine: Iterable[Ran], wrong: Iterable[Ran], right: Mapping[str, Answers]
) -> Tests | None:
    """Return the tests of both runs that show no work, or None if most of them show none."""
    failed = {r.report.name: r for r in mine}
    shows = {
        (test := one.report.name): _shows_work(failed[test], one, right.get(test, ()))
        for one in wrong
        if one.report.name in failed
    }
    compared = {test: shown for test, shown in shows.items() if shown is not None}
    if compared and sum(compared.values()) < _MAJORITY * len(compared):
        return None
    return frozenset(test for test, shown in compared.items() if not shown)


def _shows_work(mine: Ran, wrong: Ran, right: Answers) -> bool | None:
    """Return True if a test failed before values were compared, but its values show work.

    That is, they equal the misconception's or the correct ones. Return None if this is unknown.
    """
    if wrong.flaw in (Flaw.STATE, Flaw.REFUSAL) or not wrong.flaw.independent_of_values:
        return None
    if mine.flaw is not wrong.flaw:
        return None
    index = len(mine.answers) - 1
    other = wrong.answers[-1] if wrong.answers else None
    good = right[index] if 0 <= index < len(right) else None
    try:
        own, expected = (
            answer_contents(mine.answers[-1] if mine.answers else None),
            answer_contents(other),
        )
        if own is None or expected is None:
            return None
        if not expected:  # an object, whose contents cannot be compared
            return None if same_failure(mine, wrong, right) else False
        if not own:
            return False
        printed = isinstance(own[0], str)  # `same_failure` ignores printed text
        if not printed and same_failure(mine, wrong, right):
            return True
        correct = answer_contents(good)
        if same_contents(own, expected):
            return True
        return correct is not None and (same_contents(own, correct) or same_numbers(own, correct))
    except frames.BadFrame:
        return False


def _same_ending(mine: Ran, wrong: Ran) -> bool:
    """Return True if two tests ended with similar values, or with the same type of exception."""
    ends = [r.answers[-1] if r.answers else None for r in (mine, wrong)]
    own, expected = map(answer_contents, ends)
    if own and expected:
        return same_contents(own, expected)
    raised = [end[0].raised if isinstance(end, tuple) else None for end in ends]
    types = {error.type if error is not None else "" for error in raised}
    return own is None and expected is None and len(types) == 1 and "" not in types


class _Fitting:
    """A submission whose layers are changed to fit the parameters that a test loads."""

    def __init__(self, inner: Target) -> None:
        self._inner = inner

    def begin(self, test: str, exercise: str) -> None:
        self._inner.begin(test, exercise)

    def request(self, frame: bytes) -> Answer:
        call, buffers = request_of(frame)
        if isinstance(call, frames.Call) and call.construct:
            fitting = msgspec.structs.replace(call, fitting=True)
            frame = frames.pack(fitting, [bytes(b) for b in buffers])
        return self._inner.request(frame)

    def close(self) -> None:
        self._inner.close()
