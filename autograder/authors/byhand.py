"""Run hidden tests under plain pytest, on the solution or on your own file, in this process.

    pytest autograder/graders/week02_masking
    pytest autograder/graders/week02_masking -k any_axis --alternative python_loops
    pytest autograder/graders/week02_masking --submission mine/masking.py

If a file defines only some of the exercises, it is appended to the solution and its definitions
replace the solution's. Line numbers in messages then also count the lines of the solution.

The conftest.py next to the weeks' folders needs `from autograder.authors.byhand import *`. Editors
can then run and debug the tests: `breakpoint()` works in tests and in the code under test, and each
line that a program prints starts with the program's name. Grading uses neither.
"""

import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ..files import WorkFolder, course_secret
from ..grading.assertions.case import Case
from ..grading.outcomes import GraderFault, Outcome
from ..grading.running import fixtures
from ..grading.running.pytest_plugin import GraderPlugin, add_markers
from ..grading.running.test_runner import write_module
from ..grading.targets.in_process import InProcess, prepare_process
from ..model.availability import axis
from ..model.course import Course, Week, find_root, load
from ..model.course.bank import Bank
from ..model.errors import KitError
from ..worker.monitor.operator_hooks import install_hooks
from ..worker.protocol.frames import Answer, split_reply

__all__ = [
    "case",
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_pyfunc_call",
]


class PrintingTarget(InProcess):
    """A program in this process; each printed line is prefixed with the program's name."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path)
        self._name = name

    def request(self, frame: bytes) -> Answer:
        answer = split_reply(self.answer(frame))
        for line in answer[0].printed.splitlines():
            print(f"[{self._name}] {line}")
        return answer


class StandaloneWeek:
    """The hidden tests of a week and the program under test."""

    def __init__(self, course: Course, week: Week, config: pytest.Config) -> None:
        self.week, self._folder, bank = week, WorkFolder(), Bank(course, week)
        devices = axis(config.getoption("--on"))
        prepare_process(week, devices)
        self.student = self._target(bank, config.getoption("--submission"))
        self.source = tuple(self.student.path.read_text("utf-8", "replace").split("\n"))
        solution = course.solution(week)
        self.plugin = GraderPlugin(
            week,
            devices,
            course_secret(course),
            PrintingTarget(solution, "reference"),
            InProcess(solution),
            bank.solution,
        )

    def _target(self, bank: Bank, name: str) -> PrintingTarget:
        """Return a target for a file or for a program in the bank; "" selects the solution."""
        path = Path(name)
        path = path / self.week.module if (path / self.week.module).is_file() else path
        if name and path.is_file():
            text = path.read_text(encoding="utf-8-sig", errors="replace")
            source, lines_before = bank.complete_module(text, path.name)
            if not lines_before:
                return PrintingTarget(path.resolve(), "submission")
            name = "submission"
        else:
            name = name or "solution"
            source = bank.program(name)
        return PrintingTarget(write_module(self._folder.path / name, self.week, source), name)


@cache
def _week(folder: Path, config: pytest.Config) -> StandaloneWeek:
    course = load(find_root(folder))
    return StandaloneWeek(course, course.week(folder.name), config)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hidden tests")
    group.addoption(
        "--submission",
        "--alternative",
        dest="submission",
        default="",
        help="Test this file (without a sandbox, so trust it) or this program of the bank.",
    )
    group.addoption("--on", default="auto", help="Devices: auto, cpu, cuda or fake-gpu.")


def pytest_configure(config: pytest.Config) -> None:
    if not config.pluginmanager.is_registered(fixtures):
        config.pluginmanager.register(fixtures)
    add_markers(config)
    sys.breakpointhook = _stop


def _stop(*args: Any, **kwargs: Any) -> None:
    """Open pytest's debugger, even while output is captured."""
    from _pytest.debugging import pytestPDB

    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    debugger: Any = pytestPDB
    debugger._init_pdb("set_trace").set_trace(sys._getframe().f_back)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    collected = metafunc.definition
    try:
        week = _week(collected.path.parent, metafunc.config)
    except KitError as error:
        collected.session.shouldfail = str(error)  # report the error once, not for each file
        raise pytest.Collector.CollectError(str(error)) from None
    week.plugin.pytest_generate_tests(metafunc)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:  # override the project's settings, as grading does
        item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    folder, config = pyfuncitem.path.parent, pyfuncitem.config
    try:
        return (yield)
    except Outcome as outcome:
        if not outcome.verdict.ran:
            pytest.skip(outcome.message)  # the device, dtype or extra is not available
        if config.getoption("usepdb", False):
            _end_in_test(outcome, pyfuncitem.path)
            raise  # so that --pdb opens in the test
        text = fixtures.describe_outcome(outcome, folder)
        raise pytest.fail.Exception(text, pytrace=False) from None
    except (AttributeError, NameError, GraderFault) as error:
        exercises = _week(folder, config).plugin.exercises
        error.add_note(fixtures.describe_fault(pyfuncitem.name, error, folder, exercises))
        raise


def _end_in_test(outcome: Outcome, path: Path) -> None:
    """Remove the frames of the comparison from a traceback, so that it ends in the test's file."""
    entry, last = outcome.__traceback__, None
    while entry is not None:
        last = entry if entry.tb_frame.f_code.co_filename == str(path) else last
        entry = entry.tb_next
    if last is not None:
        last.tb_next = None


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    week = _week(request.path.parent, request.config)
    install_hooks(week.week.all_patterns)
    made = week.plugin.new_case(request.node, week.student, week.source)
    made.begin()
    return made
