"""Start pytest to collect a week's hidden tests, and select the tests to run on each program.

pytest ends its own run after the collection. Then `GraderPlugin.run` runs the collected tests.

The solution runs like a submission, once per process, and so does each misconception or, with a
`RunCache`, once for all processes. They run in this process. With a real GPU they run in a separate
process, because an index out of bounds makes the GPU unusable for the process in which it occurs.
"""

import random
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ...files import hash_of
from ...model.availability import installed, missing_in_words
from ...model.course import Week
from ...model.course.bank import Bank, Misconception
from ...model.errors import EngineError
from ...model.pytest_options import run_pytest
from ...model.report.schema import Verdict
from ...model.source.reachable import Sources
from ...model.source.rules import Rules, may_be_evasive, refusals, texts_of
from ...repair import shared_definitions
from ..outcomes import Answers, Forbidden, NotRun, Outcome
from ..targets.in_process import InProcess, Recording, Steps, Target
from .disk_cache import RunCache
from .pytest_plugin import GraderPlugin, Ran, exercise_of

# Hidden tests need none of these plugins, and some fail once pytest's own run has ended.
_UNUSED_PLUGINS = (
    "cacheprovider capture terminal terminalreporter faulthandler junitxml warnings logging "
    "pastebin stepwise doctest tmpdir unraisableexception threadexception"
)


def collect_tests(graders: Path, plugin: GraderPlugin) -> None:
    """Collect the hidden tests in the folder `graders` into the plugin.

    Raise EngineError if a file of hidden tests cannot be imported, or if there is no test.
    """
    arguments = [
        str(graders),
        f"--rootdir={graders}",
        "--confcutdir=" + str(graders),
        "--import-mode=importlib",
        "--assert=plain",  # rewritten asserts would show hidden values
        "--strict-markers",
        "-c/dev/null",
        "-o",
        "python_files=test_*.py",
        *(f"-pno:{name}" for name in _UNUSED_PLUGINS.split()),
    ]
    code = run_pytest(arguments, plugin)
    _forget_modules(graders)
    if plugin.collect_errors:
        raise EngineError(f"a hidden test cannot be imported: {plugin.collect_errors[0]}")
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if not plugin.items:
        raise EngineError(f"{graders.name} has no hidden tests (pytest {code})")


def _forget_modules(graders: Path) -> None:
    """Remove the modules of hidden tests from sys.modules.

    A server grades many weeks in one process, where pytest would otherwise reuse a module of the
    same name from a different week, or from before an edit.
    """
    for path in graders.rglob("*.py"):
        module = sys.modules.get(".".join(path.relative_to(graders).with_suffix("").parts))
        if module is not None and getattr(module, "__file__", None) == str(path):
            del sys.modules[module.__name__]


Files = Mapping[str, bytes]
# Loads a submission, with correct versions of the named exercises.
Load = Callable[[Files, Collection[str]], Target]

_CANNOT_BE_TESTED = (
    "This test cannot continue with the kind, shape or dtype of your result. Compare it with the "
    "docstring."
)


class Runs:
    """The hidden tests of a week, and the test results of the bank's programs.

    folder: the folder for the modules of the bank's programs
    kept:   the cache of results for all processes, or None to store no results
    apart:  creates a target that runs a program of the bank in a separate process; None runs the
            program in this process
    """

    def __init__(
        self,
        bank: Bank,
        plugin: GraderPlugin,
        folder: Path,
        kept: RunCache | None,
        apart: Callable[[Files], Target] | None = None,
    ) -> None:
        self.bank, self.week = bank, bank.week
        self.apart = apart
        self.plugin = plugin
        self._folder, self._kept = folder, kept
        self._misconceptions: dict[str, list[Ran]] = {}
        self._recorded: dict[tuple[str, bytes | None], dict[str, Steps]] = {}
        self._sound: dict[str, bool] = {}
        self.items = plugin.items
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
        """Return the names of all tests, including their axes."""
        return [self.plugin.name(i) for i in self.items]

    def source(self, files: Files) -> str:
        """Return the source of the week's module in a submission."""
        return files.get(self.week.module, b"").decode("utf-8", "replace")

    def lines(self, files: Files) -> tuple[str, ...]:
        """Return the source lines of the week's module in a submission."""
        return tuple(self.source(files).split("\n"))

    def files(self, source: str) -> Files:
        """Return a submission that contains only the week's module, with this source."""
        return {self.week.module: source.encode()}

    def foreign(self, files: Files) -> frozenset[str]:
        """Return the names of definitions in which a mistake is not an exercise's own.

        These are the exercises, and the definitions that the solution has too.
        """
        shared = shared_definitions(self.source(files), self.bank.solution)
        return shared.union(e.name for e in self.week.exercises)

    # Any target

    def run(
        self,
        target: Target,
        files: Files,
        exercise: str | None = None,
        *,
        tests: Collection[str] | None = None,
        replaced: Collection[str] = (),
        on_result: Callable[[Ran], None] = lambda ran: None,
    ) -> list[Ran]:
        """Run the hidden tests on a target that has loaded these files; return the results.

        exercise:  the exercise to test; None tests all exercises
        tests:     the names of the tests to run; None runs all tests
        replaced:  functions whose source may break rules, such as replaced helpers
        on_result: a function to call with each result as soon as the test ends
        """
        items = [
            i for i in self._items_of(exercise) if tests is None or self.plugin.name(i) in tests
        ]
        settled = self._settled(files, exercise, replaced)
        ran = []
        for one in self.plugin.run(target, self.lines(files), items, settled):
            on_result(one)
            ran.append(one)
        return [self._without_doubt(r) for r in ran]

    def run_until_failure(
        self, target: Target, exercise: str | None, first: Collection[str] = ()
    ) -> list[Ran]:
        """Run the tests of an exercise, or of all, up to the first failure; return the results.

        first: names of tests to run before the other tests. If there are any, an unwritten function
               does not count as a failure.
        """
        items = sorted(self._items_of(exercise), key=lambda i: self.plugin.name(i) not in first)
        ran = []
        for one in self.plugin.run(target, (), items, {}):
            ran.append(one)
            verdict = one.report.verdict
            if verdict.failed and not (first and verdict is Verdict.UNWRITTEN):
                break
        return ran

    def _items_of(self, exercise: str | None) -> list[Any]:
        known = self.plugin.known
        return [i for i in self.items if exercise is None or known(i).exercise == exercise]

    def _settled(
        self, files: Files, only: str | None, replaced: Collection[str]
    ) -> dict[str, Outcome]:
        """Return the outcomes of exercises whose tests need not run.

        Such an exercise breaks a rule about its source, or needs an extra that is not installed.

        only: the exercise to consider; None considers all exercises
        """
        chosen = [e for e in self.week.exercises if only in (None, e.name)]
        rules = {e.name: Rules((), e.source_not_allowed) for e in chosen}
        texts, settled = texts_of(files), dict[str, Outcome]()
        if any(e.source_not_allowed for e in chosen) or may_be_evasive(texts):
            found = refusals(Sources(texts, self.week.module), rules, replaced)
            settled |= {e: Forbidden(r.message) for e, r in found.items()}
        for exercise in chosen:
            if exercise.extra is not None and not installed(exercise.extra):
                settled[exercise.name] = NotRun(f"This needs {missing_in_words(exercise.extra)}.")
        return settled

    def _without_doubt(self, ran: Ran) -> Ran:
        """Turn a fault into a failure if the submission may have caused it in a sound test."""
        if not ran.in_doubt or not self._is_sound(ran.report.name):
            return ran
        report = replace(ran.report, verdict=Verdict.WRONG, message=_CANNOT_BE_TESTED)
        return Ran(report, ran.exercise, ran.answers)

    def _is_sound(self, test: str) -> bool:
        """Return True if a test reports no failure when the solution runs as the submission."""
        if test not in self._sound:
            items = [i for i in self.items if self.plugin.name(i) == test]
            source = tuple(self.bank.solution.split("\n"))
            with self.solution() as target:
                ran = list(self.plugin.run(target, source, items, {}))
            self._sound[test] = not any(r.report.verdict.reported for r in ran)
        return self._sound[test]

    # The course's own programs

    def solution(self) -> AbstractContextManager[Target]:
        """Open a target that runs the solution."""
        return self.in_place("-solution", self.bank.solution)

    def in_place(self, name: str, source: str) -> AbstractContextManager[Target]:
        """Open a target that runs one of the course's programs."""
        if self.apart is None:
            return closing(InProcess(self.written(name, source)))
        return closing(self.apart(self.files(source)))

    def of_misconceptions(self, exercise: str) -> dict[str, list[Ran]]:
        """Return the failed results of each misconception of an exercise, by misconception name."""
        bank = self.bank.of_exercise(exercise)
        missing = [m for m in bank if m.name not in self._misconceptions]
        # Use a random order, so that parallel processes start with different misconceptions.
        for one in random.sample(missing, len(missing)):
            digest = hash_of((one.source.encode(), self._tests[one.exercise]))
            ran = self._kept.get(one.name, digest) if self._kept else None
            if ran is None:
                ran = self.run_misconception(one)
                if self._kept and not any(r.fault for r in ran):
                    self._kept.put(one.name, ran, digest)
            self._misconceptions[one.name] = [r for r in ran if r.report.verdict.failed]
        return {m.name: self._misconceptions[m.name] for m in bank}

    def run_misconception(self, misconception: Misconception) -> list[Ran]:
        """Run the tests of the misconception's exercise on the misconception's program."""
        with self.in_place(misconception.name, misconception.source) as target:
            return self.run(target, self.files(misconception.source), misconception.exercise)

    def right_answers(self, exercise: str) -> dict[str, Answers]:
        """Return the solution's replies in each test of an exercise, by test name."""
        recorded = self.recorded(exercise).items()
        return {test: [answer for _, answer in steps] for test, steps in recorded}

    def recorded(self, exercise: str, secret: bytes | None = None) -> dict[str, Steps]:
        """Return the requests and the solution's replies in each test, up to the first failure.

        secret: the seed of the inputs; None uses the course's secret
        """
        if (exercise, secret) not in self._recorded:
            with self.solution() as target, self.plugin.drawing(secret):
                recording = Recording(target)
                self.run_until_failure(recording, exercise)
            self._recorded[exercise, secret] = recording.steps
        return self._recorded[exercise, secret]

    def written(self, name: str, source: str) -> Path:
        """Write the week's module with this source into a folder; return the module's path."""
        return write_module(self._folder / name, self.week, source)


def write_module(folder: Path, week: Week, source: str) -> Path:
    """Write the week's module into a folder unless it already exists; return the module's path."""
    folder.mkdir(exist_ok=True)
    path = folder / week.module
    if not path.exists():
        path.write_text(source, encoding="utf-8")
    return path
