"""Run hidden tests under plain pytest, on the solution or your own file, in this process.

    pytest autograder/graders/week02_masking
    pytest autograder/graders/week02_masking -k any_axis --alternative python_loops
    pytest autograder/graders/week02_masking --submission mine/masking.py

A file without all exercises replaces the solution's definitions, like a misconception.

A conftest.py next to the weeks' folders needs `from autograder.authors.byhand import *`. An
editor's test button and its debugger then work: `breakpoint()` stops in a test and in the code
under test, and the output of that code is shown with its name. Grading reads neither that
conftest.py nor this module.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ...files.secret import course_secret
from ...files.workfolder import WorkFolder
from ...model.course import Course, Week, find_root, load
from ...model.course.bank import Bank
from ...model.device_axes import AXES, axis
from ...model.errors import KitError
from ...worker.monitor.operator_hooks import install_hooks
from ...worker.torch_support import fake_device
from ..assertions.case import Case
from ..outcomes import GraderFault, NotRun, Outcome
from ..targets.in_process import Answer, InProcess, split_reply, warm_extras
from .author_errors import describe_fault, describe_outcome
from .fixtures import agree, count, draw, reference, refuses, submission
from .pytest_plugin import GraderPlugin, add_markers
from .test_runner import write_module

__all__ = [
    "agree",
    "case",
    "count",
    "draw",
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_pyfunc_call",
    "reference",
    "refuses",
    "submission",
]


class PrintingTarget(InProcess):
    """Code in this process whose prints are shown with its name."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path)
        self._name = name

    def request(self, frame: bytes) -> Answer:
        answer = split_reply(self.answer(frame))
        for line in answer[0].printed.splitlines():
            print(f"[{self._name}] {line}")
        return answer


class StandaloneWeek:
    """One week's tests and the code that they run on."""

    def __init__(self, course: Course, week: Week, config: pytest.Config) -> None:
        self.week, self._folder, bank = week, WorkFolder(), Bank(course, week)
        devices = axis(config.getoption("--on"))
        install_hooks(week.all_patterns)
        fake_device.device()
        if any(AXES[d].claimed for d in devices):
            fake_device.warm()
        warm_extras(week)
        solution = course.solution(week)
        self._lines_before, self._partial_file = 0, ""
        self.student = self._target(bank, solution, config)
        self.plugin = GraderPlugin(
            week.module,
            tuple(e.name for e in week.exercises),
            {e.name: week.patterns(e.name) for e in week.exercises},
            devices,
            course_secret(course),
            PrintingTarget(solution, "reference"),
            InProcess(solution),
            bank.solution,
        )
        text = self.student.path.read_text(encoding="utf-8", errors="replace")
        self.source = tuple(text.split("\n"))

    def _target(self, bank: Bank, solution: Path, config: pytest.Config) -> PrintingTarget:
        """Return a target of the file or the program of the bank that the options name."""
        alternative, given = config.getoption("--alternative"), config.getoption("--submission")
        if given and not alternative:
            path = Path(given)
            path = path / self.week.module if (path / self.week.module).is_file() else path
            if path.is_file():
                return PrintingTarget(self._submitted(bank, path), "submission")
        name = alternative or given
        if not name:
            return PrintingTarget(solution, "solution")
        sources = {a.name: a.source for a in bank.alternatives}
        sources |= {m.name: m.source for m in bank.misconceptions}
        if name not in sources:
            near = difflib.get_close_matches(name, sources, n=3)
            guess = f"; did you mean {' or '.join(near)}?" if near else ""
            no_file = "" if alternative else f"there is no file {given}, and "
            raise KitError(f"{no_file}the bank of {self.week.name} has no {name!r}{guess}")
        path = write_module(self._folder.path / name, self.week, sources[name])
        return PrintingTarget(path, name)

    def _submitted(self, bank: Bank, path: Path) -> Path:
        """Return the file if it is a whole module, or the solution with the file's definitions."""
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        source, self._lines_before = bank.complete_module(text, path.name)
        if not self._lines_before:
            return path.resolve()
        self._partial_file = path.name
        return write_module(self._folder.path / "submission", bank.week, source)

    def with_own_lines(self, message: str) -> str:
        """Return a message with line numbers of the partial file instead of the merged module."""

        def own_line(found: re.Match[str]) -> str:
            line = int(found[1]) - self._lines_before
            return f"line {line} of {self._partial_file}" if line > 0 else found[0]

        if not self._partial_file:
            return message
        return re.sub(rf"line (\d+) of {re.escape(self.week.module)}", own_line, message)


@cache
def _week(folder: Path, config: pytest.Config) -> StandaloneWeek:
    course = load(find_root(folder))
    return StandaloneWeek(course, course.week(folder.name), config)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hidden tests")
    group.addoption(
        "--submission", help="Run them on this file (trust it: no sandbox) or bank entry."
    )
    group.addoption("--alternative", help="Run them on this entry of the bank.")
    group.addoption("--on", default="auto", help="Devices: auto, cpu, cuda or fake-gpu.")


def pytest_configure(config: pytest.Config) -> None:
    add_markers(config)
    sys.breakpointhook = _stop


def _stop(*args: Any, **kwargs: Any) -> None:
    """Open pytest's debugger, also while the code under test has its output captured."""
    from _pytest.debugging import pytestPDB

    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    debugger: Any = pytestPDB
    debugger._init_pdb("set_trace").set_trace(sys._getframe().f_back)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    collected = metafunc.definition
    try:
        week = _week(collected.path.parent, metafunc.config)
    except KitError as error:
        collected.session.shouldfail = str(error)  # report it once, not for each file
        raise pytest.Collector.CollectError(str(error)) from None
    week.plugin.pytest_generate_tests(metafunc)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:  # as in grading; the project's own settings do not apply
        item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    folder, config = pyfuncitem.path.parent, pyfuncitem.config
    try:
        return (yield)
    except NotRun as outcome:
        pytest.skip(outcome.message)
    except Outcome as outcome:
        if config.getoption("usepdb", False):
            raise  # the debugger opens where it was raised
        message = _week(folder, config).with_own_lines(outcome.message)
        text = describe_outcome(str(outcome.verdict), outcome, folder, message)
        raise pytest.fail.Exception(text, pytrace=False) from None
    except (AttributeError, NameError, GraderFault) as error:
        exercises = _week(folder, config).plugin.exercises
        error.add_note(describe_fault(pyfuncitem.name, error, folder, exercises))
        raise


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    week = _week(request.path.parent, request.config)
    install_hooks(week.week.all_patterns)
    made = week.plugin.standalone_case(request.node, week.student, week.source)
    made.begin()
    yield made
    made.end()
