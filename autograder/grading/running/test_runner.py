"""Run a week's hidden tests on any target, and the course's own programs through the same tests.

The solution and the misconceptions are called like submissions, once per process, or once for all
processes with a `RunCache`. They run in this process; on a real GPU they run in a separate one,
because an index out of bounds makes the device unusable for the process.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Collection, Mapping, Set
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ...files.hashing import feed
from ...model.course import Week
from ...model.course.bank import Bank, Misconception
from ...model.errors import EngineError
from ...model.extras import installed, missing_in_words
from ...model.report.schema import base_of
from ...model.report.verdicts import Verdict
from ...model.source.rules import Rules
from ..decoding import Answers
from ..diagnosis.argument_patterns import CallShapes, call_shapes
from ..diagnosis.probes import Recording, Steps
from ..outcomes import NotRun, Outcome
from ..targets.in_process import InProcess, Target
from .disk_cache import RunCache
from .pytest_plugin import GraderPlugin, Ran, exercise_of
from .pytest_session import GraderSession
from .source_rules import source_problems

Result = TypeVar("Result")

_SOLUTION = "-solution"  # no misconception has such a name
_CANNOT_BE_TESTED = (
    "This test cannot continue with the kind, shape or dtype of your result. Compare it with the "
    "docstring."
)
_MOST_REUSED = 500  # runs; a week's bank is smaller


class Runs:
    """The hidden tests of a week, and the runs of the bank's programs.

    folder: for modules of the bank
    kept:   the runs of earlier processes
    apart:  makes the target of a program of the bank that must not run in this process
    """

    def __init__(
        self,
        bank: Bank,
        plugin: GraderPlugin,
        session: GraderSession,
        folder: Path,
        kept: RunCache | None,
        apart: Callable[[Mapping[str, bytes]], Target] | None = None,
    ) -> None:
        self.bank, self.week = bank, bank.week
        self.apart = apart
        self.plugin, self.session = plugin, session
        self._folder, self._kept = folder, kept
        self._misconceptions: dict[str, list[Ran]] = {}
        self._right: dict[str, dict[str, Answers]] = {}
        self._recorded: dict[str, dict[str, Steps]] = {}
        self._call_shapes: dict[str, dict[str, CallShapes]] = {}
        self._order = random.Random()
        # `verify` grades the bank's programs, and diagnoses with them.
        self._in_process: dict[tuple[str | None, tuple[str, ...]] | None, list[Ran]] = {}
        self._sound: dict[str, bool] = {}
        self.items = plugin.items()
        self._tests = {exercise_of(i): i.path.read_bytes() for i in self.items}
        self._check_items()

    def _check_items(self) -> None:
        known = {e.name for e in self.week.exercises}
        graded = {exercise_of(i) for i in self.items}
        if unknown := graded - known:
            raise EngineError(
                f"test_{min(unknown)}.py grades an exercise that {self.week.name} does not have: "
                "rename it"
            )
        if ungraded := known - graded:
            raise EngineError(f"test_{min(ungraded)}.py is missing in {self.week.name}")

    def names(self) -> list[str]:
        """Return the names of all tests, with their axes."""
        return [self.plugin.name(i) for i in self.items]

    def lines(self, files: Mapping[str, bytes]) -> tuple[str, ...]:
        """Return the lines of the week's module in a submission."""
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
        """Run the hidden tests against any target and return their results.

        source:   the lines of the module
        exercise: None runs the tests of all exercises
        files:    the submission, if it has more files than the module
        heard:    called with each result at once
        only:     the name of a single test
        """
        alone = files is None or files.keys() == {self.week.module}
        plain = type(target) is InProcess  # a subclass may change the loaded module
        key = (exercise, source) if alone and not only and plain else None
        if key in self._in_process:
            for one in self._in_process[key]:
                heard(one)
            return self._in_process[key]
        items = self._items_of(exercise)
        if only:
            items = [i for i in items if base_of(self.plugin.name(i)) == only]
        whole = files or {self.week.module: "\n".join(source).encode()}
        settled = self._settled(whole, exercise)
        right = key is not None and not settled and "\n".join(source) == self.bank.solution

        def run() -> list[Ran]:
            ran = []
            for one in self.plugin.run(target, source, items, settled, keep_passed=right):
                heard(one)
                ran.append(one)
            return ran

        ran = [self._without_doubt(r) for r in self.within(run)]
        if right and exercise is not None and exercise not in self._right:
            self._know_right(exercise, ran)
        if key is not None and len(self._in_process) < _MOST_REUSED:
            self._in_process[key] = ran
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
        """Run some tests of an exercise against a target of these files.

        heard:    called with each result at once
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
        """Run tests (of one exercise) up to the first failure and return their results.

        first: names of tests that run before the others; unwritten functions then do not count as
               failures
        """
        items = self._items_of(exercise)
        items.sort(key=lambda i: self.plugin.name(i) not in first)

        def run() -> list[Ran]:
            ran = []
            for one in self.plugin.run(target, source, items, {}):
                ran.append(one)
                is_unwritten = bool(first) and one.report.verdict is Verdict.UNWRITTEN
                if one.report.verdict.failed and not is_unwritten:
                    break
            return ran

        return self.within(run)

    def _items_of(self, exercise: str | None) -> list[Any]:
        known = self.plugin.known
        return [i for i in self.items if exercise is None or known(i).exercise == exercise]

    def first_failure(self, target: Target, source: str, exercise: str | None) -> str:
        """Return the name of the first test that rejects the target, or ""."""
        last = self.run_until_failure(target, exercise, (), tuple(source.split("\n")))[-1:]
        return last[0].report.name if last and last[0].report.verdict.failed else ""

    def within(self, work: Callable[[], Result]) -> Result:
        """Call a function in the thread of the tests' session and return its result."""
        done: Result = self.session.call(work)
        return done

    def _settled(
        self, files: Mapping[str, bytes], only: str | None, replaced: Collection[str] = ()
    ) -> dict[str, Outcome]:
        """Return the outcomes of exercises (of one, or all) that need no run."""
        chosen = [e for e in self.week.exercises if only in (None, e.name)]
        rules = {e.name: Rules((), e.source_not_allowed) for e in chosen}
        problems = source_problems(files, self.week.module, rules, replaced)
        settled: dict[str, Outcome] = dict(problems)
        for exercise in chosen:
            if exercise.extra is not None and not installed(exercise.extra):
                settled[exercise.name] = NotRun(f"This needs {missing_in_words(exercise.extra)}.")
        return settled

    def _without_doubt(self, ran: Ran) -> Ran:
        """Count a fault that the submission's answers may have caused as wrong, if the solution
        passes the test."""
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
            results = self._run_solution(items)
            self._sound[test] = not any(r.report.verdict.reported for r in results)
        return self._sound[test]

    def _run_solution(self, items: list[Any]) -> list[Ran]:
        source = tuple(self.bank.solution.split("\n"))
        with self.solution() as target:
            return self.within(
                lambda: list(self.plugin.run(target, source, items, {}, keep_passed=True))
            )

    # The course's own programs

    def solution(self) -> AbstractContextManager[Target]:
        """Open a target of the solution."""
        return self.in_place(_SOLUTION, self.bank.solution)

    def in_place(self, name: str, source: str) -> AbstractContextManager[Target]:
        """Open a target of one of the course's programs."""
        if self.apart is None:
            return closing(InProcess(self.written(name, source)))
        return closing(self.apart({self.week.module: source.encode()}))

    def of_misconceptions(self, exercise: str) -> dict[str, list[Ran]]:
        """Return the failed tests of every misconception of the exercise, by name."""
        bank = self.bank.of_exercise(exercise)
        missing = [m for m in bank if m.name not in self._misconceptions]
        # In random order, so that parallel processes do not all run the same one.
        for misconception in self._order.sample(missing, len(missing)):
            self._misconceptions[misconception.name] = self._failed_tests(misconception)
        return {m.name: self._misconceptions[m.name] for m in bank}

    def _failed_tests(self, misconception: Misconception) -> list[Ran]:
        about = self._about(misconception.source, misconception.exercise)
        failed = self._kept.get(misconception.name, about) if self._kept else None
        if failed is None:
            ran = self.run_misconception(misconception)
            failed = [r for r in ran if r.report.verdict.failed]
            if self._kept and not any(r.fault for r in ran):
                self._kept.put(misconception.name, failed, about)
        return failed

    def run_misconception(self, misconception: Misconception) -> list[Ran]:
        """Run the tests of a misconception's exercise on its program."""
        source = tuple(misconception.source.split("\n"))
        with self.in_place(misconception.name, misconception.source) as target:
            return self.run(target, source, misconception.exercise)

    def right_answers(self, exercise: str) -> dict[str, Answers]:
        """Return the solution's answers in each test of the exercise."""
        if exercise not in self._right:
            about = self._about(self.bank.solution, exercise)
            kept = self._kept.get(f"{_SOLUTION}.{exercise}", about) if self._kept else None
            if kept is None:
                self._know_right(exercise, self._run_solution(self._items_of(exercise)))
            else:
                self._right[exercise] = {r.report.name: r.answers for r in kept}
        return self._right[exercise]

    def _know_right(self, exercise: str, ran: list[Ran]) -> None:
        if self._kept and not any(r.fault for r in ran):
            about = self._about(self.bank.solution, exercise)
            self._kept.put(f"{_SOLUTION}.{exercise}", ran, about)
        self._right[exercise] = {r.report.name: r.answers for r in ran}

    def recorded(self, exercise: str) -> dict[str, Steps]:
        """Return the requests of each test of the exercise, with the solution's answers."""
        if exercise not in self._recorded:
            with self.solution() as target:
                recording = Recording(target)
                self.run_until_failure(recording, exercise)
            self._recorded[exercise] = recording.steps
        return self._recorded[exercise]

    def call_shapes(self, exercise: str) -> dict[str, CallShapes]:
        """Return the shapes in the calls of each test of an exercise."""
        if exercise not in self._call_shapes:
            names = self.plugin.signatures.arguments
            self._call_shapes[exercise] = {
                test: call_shapes((frame for frame, _ in steps), names)
                for test, steps in self.recorded(exercise).items()
            }
        return self._call_shapes[exercise]

    def _about(self, source: str, exercise: str) -> bytes:
        """Return a hash of a program and of its tests."""
        digest = hashlib.blake2b(digest_size=20)
        for part in (source.encode(), self._tests[exercise]):
            feed(digest, part)
        return digest.digest()

    def written(self, name: str, source: str) -> Path:
        """Write the week's module with this source into a folder and return its path."""
        return write_module(self._folder / name, self.week, source)


def write_module(folder: Path, week: Week, source: str) -> Path:
    """Write the week's module into a folder, unless it exists, and return its path."""
    folder.mkdir(exist_ok=True)
    path = folder / week.module
    if not path.exists():
        path.write_text(source, encoding="utf-8")
    return path
