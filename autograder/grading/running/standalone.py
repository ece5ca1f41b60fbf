"""Hidden tests under plain pytest, on the solution or a file of yours, in this process.

    pytest autograder/graders/week02_masking
    pytest autograder/graders/week02_masking -k any_axis --alternative python_loops
    pytest autograder/graders/week02_masking --submission mine/masking.py

A piece of Python that has not all exercises is laid over the solution, like a misconception.

A conftest.py beside the weeks' folders says `from autograder.authors.byhand import *`. An editor's
test button runs the same, as does its debugger: `breakpoint()` stops in a test and in what it
tests. What the code under test prints is shown with its name. Grading itself never reads that
conftest.py, nor anything here.
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
from ...model.course.bank import Bank
from ...model.course.loader import Course, Week, find_root, load
from ...model.device_axes import AXES, axis
from ...model.errors import KitError
from ...worker.monitor.operator_hooks import install_hooks
from ...worker.torch_support import fake_device
from ...worker.torch_support.builders import warm
from ..assertions.agree import Agree
from ..assertions.calls import Calls, Count
from ..assertions.case import Case
from ..assertions.inputs import Draw
from ..assertions.refuse import Refuses
from ..outcomes import GraderFault, NotRun, Outcome
from ..targets.in_process import Answer, InProcess, split_reply
from ..targets.spawner import usable_extras
from .author_errors import told
from .pytest_plugin import GraderPlugin
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


class ShownTarget(InProcess):
    """Project code whose prints are shown with its name."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path)
        self._name = name

    def request(self, frame: bytes) -> Answer:
        answer = split_reply(self.answer(frame))
        for line in answer[0].printed.splitlines():
            print(f"[{self._name}] {line}")
        return answer


class Desk:
    """One week's tests, and what they are run on."""

    def __init__(self, course: Course, week: Week, config: pytest.Config) -> None:
        self.week, self._folder, bank = week, WorkFolder(), Bank(course, week)
        devices = axis(config.getoption("--on"))
        install_hooks(week.all_patterns)
        fake_device.device()
        if any(AXES[d].claimed for d in devices):
            fake_device.warm()
        for extra in usable_extras(week):
            warm(extra)
        solution = course.solution(week)
        self.student, self._over, self._piece = ShownTarget(solution, "solution"), 0, ""
        alternative, given = config.getoption("--alternative"), config.getoption("--submission")
        if given and not alternative and (Path(given) / week.module).is_file():
            given = str(Path(given) / week.module)
        if given and not alternative and Path(given).is_file():
            self.student = ShownTarget(self._given(bank, Path(given)), "submission")
        elif name := alternative or given:
            sources = {a.name: a.source for a in bank.alternatives}
            sources |= {m.name: m.source for m in bank.misconceptions}
            if name not in sources:
                near = difflib.get_close_matches(name, sources, n=3)
                guess = f"; did you mean {' or '.join(near)}?" if near else ""
                nowhere = "" if alternative else f"there is no file {given}, and "
                raise KitError(f"{nowhere}the bank of {week.name} has no {name!r}{guess}")
            path = write_module(self._folder.path / name, week, sources[name])
            self.student = ShownTarget(path, name)
        self.plugin = GraderPlugin(
            week.module,
            tuple(e.name for e in week.exercises),
            {e.name: week.patterns(e.name) for e in week.exercises},
            devices,
            course_secret(course),
            ShownTarget(solution, "reference"),
            InProcess(solution),
            bank.solution,
        )
        text = self.student.path.read_text(encoding="utf-8", errors="replace")
        self.source = tuple(text.split("\n"))

    def said(self, message: str) -> str:
        """A message with the lines of a piece as they are counted in its own file."""

        def own(found: re.Match[str]) -> str:
            line = int(found[1]) - self._over
            return f"line {line} of {self._piece}" if line > 0 else found[0]

        if not self._piece:
            return message
        return re.sub(rf"line (\d+) of {re.escape(self.week.module)}", own, message)

    def _given(self, bank: Bank, path: Path) -> Path:
        """The file itself, if it is a whole module; else a file of it over the solution."""
        source, over = bank.laid(path.read_text(encoding="utf-8-sig", errors="replace"), path.name)
        if not over:
            return path.resolve()
        self._over, self._piece = over, path.name
        return write_module(self._folder.path / "submission", bank.week, source)


@cache
def _desk(folder: Path, config: pytest.Config) -> Desk:
    course = load(find_root(folder))
    return Desk(course, course.week(folder.name), config)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hidden tests")
    group.addoption(
        "--submission", help="Run them on this file, or one of the bank, here: trust it."
    )
    group.addoption("--alternative", help="Run them on this one of the bank.")
    group.addoption("--on", default="auto", help="Devices: auto, cpu, cuda or fake-gpu.")


def pytest_configure(config: pytest.Config) -> None:
    GraderPlugin.pytest_configure(None, config)  # type: ignore[arg-type]  # the same markers
    sys.breakpointhook = _stop


def _stop(*args: Any, **kwargs: Any) -> None:
    """`breakpoint()`, also where what is printed is being kept."""
    from _pytest.debugging import pytestPDB

    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    debugger: Any = pytestPDB
    debugger._init_pdb("set_trace").set_trace(sys._getframe().f_back)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    collected = metafunc.definition
    try:
        desk = _desk(collected.path.parent, metafunc.config)
    except KitError as error:
        collected.session.shouldfail = str(error)  # said once, and not for each file
        raise pytest.Collector.CollectError(str(error)) from None
    desk.plugin.pytest_generate_tests(metafunc)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:  # as in grading: a project's own settings for tests are not for these
        item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    try:
        return (yield)
    except NotRun as nothing:
        pytest.skip(nothing.message)
    except Outcome as outcome:
        if pyfuncitem.config.getoption("usepdb", False):
            raise  # the debugger opens where it was raised
        folder = pyfuncitem.path.parent
        message = _desk(folder, pyfuncitem.config).said(outcome.message)
        said = told(str(outcome.verdict), outcome, folder, message)
        raise pytest.fail.Exception(said, pytrace=False) from None
    except (AttributeError, NameError, GraderFault) as error:
        folder = pyfuncitem.path.parent
        known = _desk(folder, pyfuncitem.config).plugin.exercises
        error.add_note(told(pyfuncitem.name, error, folder, known=known))
        raise


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    desk = _desk(request.path.parent, request.config)
    install_hooks(desk.week.all_patterns)
    made = desk.plugin.by_hand(request.node, desk.student, desk.source)
    made.begin()
    yield made
    made.end()


@pytest.fixture
def submission(case: Case) -> Calls:
    return Calls(case, case.student)


@pytest.fixture
def reference(case: Case) -> Calls:
    return Calls(case, case.reference)


@pytest.fixture
def agree(case: Case) -> Agree:
    return Agree(case)


@pytest.fixture
def refuses(case: Case) -> Refuses:
    return Refuses(case)


@pytest.fixture
def count(case: Case) -> Count:
    return Count(case)


@pytest.fixture
def draw(case: Case) -> Draw:
    return case.draw
