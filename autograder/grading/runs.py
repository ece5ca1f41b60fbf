"""Running a week's hidden tests on any target, and what the project's own code answers to them.

The solution and the misconceptions are run through the same tests as a submission. Each is run once
per process, or once for all where `kept` remembers it. They run in this process; where tests run on
a real GPU, apart from it: an index out of bounds costs a process its device.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Collection, Mapping, Set
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..files.hashing import feed
from ..model.bank import Bank, Misconception
from ..model.course import Week
from ..model.errors import EngineError
from ..model.extras import installed, missing_in_words
from ..model.report import base_of
from ..model.rules import Rules
from ..model.verdicts import Verdict
from .alike import Answers
from .kept import KeptRuns
from .outcomes import NotRun, Outcome
from .plugin import GraderPlugin, Ran, exercise_of
from .probes import Recording, Steps
from .session import GraderSession
from .setapart import Asked, asked
from .source_rules import source_problems
from .targets import InProcess, Target

Result = TypeVar("Result")

_SOUND = (Verdict.PASS, Verdict.NOT_RUN)
# The solution, where it stands in for a submission; no misconception has such a name.
_SOLUTION = "-solution"
_CANNOT_BE_TESTED = (
    "What was returned is of a kind, shape or type that this test cannot go on with. "
    "Compare with what the docstring asks for."
)
_MOST_OF_OURS = 500  # a week's bank; a class that is graded unprotected may be larger


class Runs:
    """The hidden tests of a week, collected once, and the bank's runs through them.

    apart: where the bank's programs answer like submissions, if it is not in this process
    """

    def __init__(
        self,
        bank: Bank,
        plugin: GraderPlugin,
        session: GraderSession,
        folder: Path,
        kept: KeptRuns | None,
        apart: Callable[[Mapping[str, bytes]], Target] | None = None,
    ) -> None:
        self.bank, self.week = bank, bank.week
        self.apart = apart
        self.plugin, self.session = plugin, session
        self._folder, self._kept = folder, kept
        self._misconceptions: dict[str, list[Ran]] = {}
        self._right: dict[str, dict[str, Answers]] = {}
        self._recorded: dict[str, dict[str, Steps]] = {}
        self._asked: dict[str, dict[str, Asked]] = {}
        self._order = random.Random()
        # what ran in this process, where `verify` grades the bank that it diagnoses with
        self._ours: dict[tuple[str | None, tuple[str, ...]] | None, list[Ran]] = {}
        self._sound: dict[str, bool] = {}  # of tests that let out a fault, whether it was theirs
        self.items = plugin.items()
        self._tests = {exercise_of(i): i.path.read_bytes() for i in self.items}
        self._check_items()

    def _check_items(self) -> None:
        known = {e.name for e in self.week.exercises}
        graded = {exercise_of(i) for i in self.items}
        if unknown := graded - known:
            raise EngineError(
                f"test_{min(unknown)}.py grades no exercise of {self.week.name}: rename it"
            )
        if ungraded := known - graded:
            raise EngineError(f"no grader: test_{min(ungraded)}.py is missing in {self.week.name}")

    def names(self) -> list[str]:
        """The names of all tests, with their axes."""
        return [self.plugin.name(i) for i in self.items]

    def lines(self, files: Mapping[str, bytes]) -> tuple[str, ...]:
        """The lines of the week's module among what was handed in."""
        return tuple(files.get(self.week.module, b"").decode("utf-8", "replace").split("\n"))

    # Any target

    def run(
        self,
        target: Target,
        source: tuple[str, ...],
        exercise: str | None = None,
        files: Mapping[str, bytes] | None = None,
        heard: Callable[[Ran], None] = lambda ran: None,
        only: str = "",
    ) -> list[Ran]:
        """Run the hidden tests (of one exercise; the one of the name `only`) against any target.

        `files` is all that was handed in, where that is more than the module's source; `heard` is
        told of each test as soon as it has run.
        """
        alone = files is None or files.keys() == {self.week.module}
        plain = type(target) is InProcess  # and none that changes what it has loaded
        ours = (exercise, source) if alone and not only and plain else None
        if ours in self._ours:
            for one in self._ours[ours]:
                heard(one)
            return self._ours[ours]
        items = self._items_of(exercise)
        if only:
            items = [i for i in items if base_of(self.plugin.name(i)) == only]
        whole = files or {self.week.module: "\n".join(source).encode()}
        settled = self._settled(whole, exercise)
        right = ours is not None and not settled and "\n".join(source) == self.bank.solution

        def run() -> list[Ran]:
            ran = []
            for one in self.plugin.run(target, source, items, settled, keep_passed=right):
                heard(one)
                ran.append(one)
            return ran

        ran = [self._without_doubt(r) for r in self.within(run)]
        if right and exercise is not None and exercise not in self._right:
            self._know_right(exercise, ran)
        if ours is not None and len(self._ours) < _MOST_OF_OURS:
            self._ours[ours] = ran
        return ran

    def run_some(
        self,
        target: Target,
        files: Mapping[str, bytes],
        exercise: str,
        tests: Set[str],
        heard: Callable[[Ran], None],
        replaced: Collection[str] = (),
    ) -> None:
        """Run these tests of an exercise against any target of these files, as `run` does.

        replaced: functions in which the source may break rules
        """
        items = [i for i in self._items_of(exercise) if self.plugin.name(i) in tests]
        settled = self._settled(files, exercise, replaced)

        def run() -> None:
            for one in self.plugin.run(target, self.lines(files), items, settled):
                heard(self._without_doubt(one))

        self.within(run)

    def run_until_failure(
        self,
        target: Target,
        exercise: str | None = None,
        first: tuple[str, ...] = (),
        source: tuple[str, ...] = (),
    ) -> list[Ran]:
        """The tests (of one exercise), those named in `first` before the others, up to the first
        that fails; with `first`, otherwise than by something that nobody wrote yet."""
        items = self._items_of(exercise)
        items.sort(key=lambda i: self.plugin.name(i) not in first)

        def run() -> list[Ran]:
            ran = []
            for one in self.plugin.run(target, source, items, {}):
                ran.append(one)
                unwritten = bool(first) and one.report.verdict is Verdict.UNWRITTEN
                if one.report.verdict.failed and not unwritten:
                    break
            return ran

        return self.within(run)

    def _items_of(self, exercise: str | None) -> list[Any]:
        """The tests of one exercise, or all."""
        known = self.plugin.known
        return [i for i in self.items if exercise is None or known(i).exercise == exercise]

    def first_failure(self, target: Target, source: str, exercise: str | None) -> str:
        """The name of the first test that rejects the target, or nothing."""
        last = self.run_until_failure(target, exercise, (), tuple(source.split("\n")))[-1:]
        return last[0].report.name if last and last[0].report.verdict.failed else ""

    def within(self, work: Callable[[], Result]) -> Result:
        """Do something where the tests were collected, on the thread of their session."""
        done: Result = self.session.call(work)
        return done

    def _settled(
        self, files: Mapping[str, bytes], only: str | None, replaced: Collection[str] = ()
    ) -> dict[str, Outcome]:
        """Exercises whose verdict is known before anything runs: of all, or of one."""
        chosen = [e for e in self.week.exercises if only in (None, e.name)]
        rules = {e.name: Rules((), e.source_not_allowed) for e in chosen}
        problems = source_problems(files, self.week.module, rules, replaced)
        settled: dict[str, Outcome] = dict(problems)
        for exercise in chosen:
            if exercise.extra is not None and not installed(exercise.extra):
                settled[exercise.name] = NotRun(f"This needs {missing_in_words(exercise.extra)}.")
        return settled

    def _without_doubt(self, ran: Ran) -> Ran:
        """A fault in a test that the solution passes came from what was answered: it is wrong."""
        if not ran.in_doubt or not self._is_sound(ran.report.name):
            return ran
        report = msgspec.structs.replace(
            ran.report, verdict=Verdict.WRONG, message=_CANNOT_BE_TESTED
        )
        return Ran(report, ran.exercise, ran.answers)

    def _is_sound(self, test: str) -> bool:
        """Return whether the solution passes a test when it is called like a submission."""
        if test not in self._sound:
            items = [i for i in self.items if self.plugin.name(i) == test]
            source = tuple(self.bank.solution.split("\n"))
            with self.solution() as target:
                runs = self.within(lambda: list(self.plugin.run(target, source, items, {})))
            self._sound[test] = all(r.report.verdict in _SOUND for r in runs)
        return self._sound[test]

    # The project's own code

    def solution(self) -> AbstractContextManager[Target]:
        """The solution in the place of a submission."""
        return self.in_place(_SOLUTION, self.bank.solution)

    def in_place(self, name: str, source: str) -> AbstractContextManager[Target]:
        """A program of ours in the place of a submission."""
        if self.apart is None:
            return closing(InProcess(self.written(name, source)))
        return closing(self.apart({self.week.module: source.encode()}))

    def of_misconceptions(self, exercise: str) -> dict[str, list[Ran]]:
        """Every misconception of the exercise, with the tests of the exercise that it fails."""
        bank = self.bank.of_exercise(exercise)
        missing = [m for m in bank if m.name not in self._misconceptions]
        # in an order of its own, so that processes side by side do not do the same
        for misconception in self._order.sample(missing, len(missing)):
            self._misconceptions[misconception.name] = self._failed_tests(misconception)
        return {m.name: self._misconceptions[m.name] for m in bank}

    def _failed_tests(self, misconception: Misconception) -> list[Ran]:
        about = self._about(misconception.source, misconception.exercise)
        failed = self._kept.get(misconception.name, about) if self._kept else None
        if failed is None:
            ran = self._run_through(misconception)
            failed = [r for r in ran if r.report.verdict.failed]
            if self._kept and not any(r.fault for r in ran):
                self._kept.put(misconception.name, failed, about)
        return failed

    def _run_through(self, misconception: Misconception) -> list[Ran]:
        source = tuple(misconception.source.split("\n"))
        with self.in_place(misconception.name, misconception.source) as target:
            return self.run(target, source, misconception.exercise)

    def right_answers(self, exercise: str) -> dict[str, Answers]:
        """What the solution, called like a submission, answers in each test of the exercise."""
        if exercise not in self._right:
            about = self._about(self.bank.solution, exercise)
            kept = self._kept.get(f"{_SOLUTION}.{exercise}", about) if self._kept else None
            if kept is None:
                items = self._items_of(exercise)
                source = tuple(self.bank.solution.split("\n"))
                with self.solution() as target:
                    ran = self.within(
                        lambda: list(self.plugin.run(target, source, items, {}, keep_passed=True))
                    )
                self._know_right(exercise, ran)
            else:
                self._right[exercise] = {r.report.name: r.answers for r in kept}
        return self._right[exercise]

    def _know_right(self, exercise: str, ran: list[Ran]) -> None:
        """The solution has run through the tests of an exercise."""
        if self._kept and not any(r.fault for r in ran):
            about = self._about(self.bank.solution, exercise)
            self._kept.put(f"{_SOLUTION}.{exercise}", ran, about)
        self._right[exercise] = {r.report.name: r.answers for r in ran}

    def recorded(self, exercise: str) -> dict[str, Steps]:
        """What each test of the exercise asks, and what the solution answers."""
        if exercise not in self._recorded:
            with self.solution() as target:
                recording = Recording(target)
                self.run_until_failure(recording, exercise)
            self._recorded[exercise] = recording.steps
        return self._recorded[exercise]

    def asked(self, exercise: str) -> dict[str, Asked]:
        """In what the arguments of the exercise's tests differ."""
        if exercise not in self._asked:
            labels = self.plugin.names.arguments
            self._asked[exercise] = {
                test: asked((frame for frame, _ in steps), labels)
                for test, steps in self.recorded(exercise).items()
            }
        return self._asked[exercise]

    def _about(self, source: str, exercise: str) -> bytes:
        """A hash of a program and of the tests that it is run through."""
        digest = hashlib.blake2b(digest_size=20)
        for part in (source.encode(), self._tests[exercise]):
            feed(digest, part)
        return digest.digest()

    def written(self, name: str, source: str) -> Path:
        """The week's module with this source, in a folder of its own."""
        return write_module(self._folder / name, self.week, source)


def write_module(folder: Path, week: Week, source: str) -> Path:
    """Write the week's module into a folder, unless it is there."""
    folder.mkdir(exist_ok=True)
    path = folder / week.module
    if not path.exists():
        path.write_text(source, encoding="utf-8")
    return path
