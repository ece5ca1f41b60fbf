"""The checking process: import libraries, wait for an order, run it, report events.

    python -m autograder.student.checks.runner FOLDER [--serve]

An order is one line of JSON on standard input, so a process can wait for it with torch imported and
pytest about to collect. Events are written as lines of JSON to the original standard output; pytest
captures what the student's code prints. A check that takes too long ends this process, after an
event that says where it was. With `--serve` each order runs in a fork (forked_runs.py), so the
process can take any number of orders.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import importlib.util
import inspect
import io
import os
import re
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NoReturn

import msgspec
import pytest

from ...model.pytest_options import run_pytest
from ...model.source.rules import Rules
from ...worker.monitor.function_hooks import hook_functions
from ..folder.week import WeekFolder, open_folder
from .check_results import TIMED_OUT, CheckEvent, CheckOrder, CheckOutcome, Failure, claim_in_words
from .explain import Explainer
from .forbidden_calls import CallNotice
from .forked_runs import Fork, OrderPipe, variables_set_in
from .importing import import_module, still_importing
from .time_limit import time_limited

_MAX_OUTPUT = 4000
_SLOW_IMPORTS = ("numpy", "torch", "matplotlib.pyplot")
_DISTRIBUTED = "torch.distributed.tensor"


class CheckPlugin:
    """A pytest plugin that runs the ordered checks and reports each one."""

    order: CheckOrder

    def __init__(
        self, folder: WeekFolder, orders: OrderPipe, events: BinaryIO, serve: bool
    ) -> None:
        self.folder, self.orders, self.events = folder, orders, events
        self._serve = serve
        self._fork: Fork | None = None  # set in a fork
        self._variables: tuple[str, ...] | None = None
        self.explain = Explainer(folder.path, folder.week.module, folder.checks, folder.names)
        self.notice = CallNotice(folder.path, folder.checks)
        self._lock = threading.Lock()
        self._failure: Failure | None = None
        self._skipped = ""
        self._ran: list[tuple[pytest.Item, CheckOutcome]] = []

    def report(self, event: CheckEvent) -> None:
        """Write an event; time limits call this from another thread."""
        event = msgspec.structs.replace(event, order=self.order.number)
        with self._lock:
            self.events.write(msgspec.json.encode(event) + b"\n")
            self.events.flush()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Wait for the order; none of the student's files has been imported yet."""
        capture = session.config.pluginmanager.getplugin("capturemanager")
        while True:
            self.order = self.orders.next()
            if not self._serve:
                break
            variables = variables_set_in(self.folder.path)
            if self._variables not in (None, variables):
                os._exit(0)  # libraries may have been imported differently: start a new process
            self._variables = variables
            self._fork = fork = Fork()
            if fork.is_child:
                break
            self.report(CheckEvent(ended=fork.wait(self.orders)))
            capture.read_global_capture()  # drop leftovers of the fork: the file is shared
            fork.repeat_imports()
        _remove_compiled(self.folder.path)
        patterns = tuple(sorted({p for e in self.folder.week.exercises for p in e.not_allowed}))
        hook_functions(patterns, self.notice.note)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            lines = [line for line in report.longreprtext.split("\n") if line.strip()]
            problem = lines[-1].removeprefix("E").strip()[:300] if lines else "unknown"
            self.report(CheckEvent(problem=problem))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [
            i
            for i in items
            if i.name not in self.order.done and self._exercise(i) in self.order.exercises
        ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Import the student's module; if that fails, run no check."""
        self.report(CheckEvent(importing=True))
        with time_limited(self.order.seconds, self._stop_import):
            stopped = import_module(self.folder)
        if stopped is not None:
            self.report(CheckEvent(stopped=stopped))
            self.end()
        self.report(CheckEvent(importing=False))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._failure, self._skipped, self.notice.failure = None, "", None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        exercise = self._exercise(item)
        self.report(CheckEvent(begins=item.name, exercise=exercise))
        try:
            with time_limited(self.order.seconds, functools.partial(self._stop_check, item)):
                return (yield)
        finally:
            outcome = self._outcome(item, self.notice.failure or self._failure)
            self._ran.append((item, outcome))
            self.report(CheckEvent(begins=item.name, exercise=exercise, outcome=outcome))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        rules = self.folder.week.rules.get(self._exercise(item), Rules())
        with self.notice.watching(rules.not_allowed):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.skipped and call.excinfo is not None:
            self._skipped = str(call.excinfo.value).removeprefix("Skipped: ") or "it was skipped"
        elif report.failed and call.excinfo is not None and self._failure is None:
            output = report.capstdout[-_MAX_OUTPUT:]
            self._failure = self.explain(call.excinfo.value, self._exercise(item), output)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._report_mistake_lines()
        self.end()  # pytest's final garbage collection takes longer than the checks

    def _report_mistake_lines(self) -> None:
        """Report lines to look at, for exercises that a single edit could fix."""
        if not any(outcome.failure for _, outcome in self._ran):
            return
        with contextlib.suppress(Exception):  # a hint must not break the result
            from .mistake_lines import MistakeLines

            search = MistakeLines(self.folder)
            for exercise in self.order.exercises:
                ran = [(i, o) for i, o in self._ran if o.exercise == exercise]
                ran.sort(key=lambda pair: pair[1].failure is None)
                kinds = {o.failure.kind for _, o in ran if o.failure}
                checks = [call for item, _ in ran if (call := _as_call(item)) is not None]
                if not kinds or not kinds <= {"wrong", "raised"} or len(checks) < len(ran):
                    continue
                if places := search.find(exercise, checks):
                    self.report(CheckEvent(exercise=exercise, places=places))

    def end(self) -> NoReturn:
        """Finish the order and the process, even if the student's code left threads running."""
        if self._fork is not None:
            self._fork.report_imports()
        self.report(CheckEvent(finished=True))
        os._exit(0)

    def _exercise(self, item: pytest.Item) -> str:
        return self.folder.exercise_of(item.name.split("[")[0])

    def _outcome(self, item: pytest.Item, failure: Failure | None) -> CheckOutcome:
        exercise = self._exercise(item)
        docstring = inspect.getdoc(getattr(item, "function", None)) or ""
        claim = " ".join(docstring.split("\n\n")[0].split()) or claim_in_words(item.name, exercise)
        return CheckOutcome(item.name, exercise, claim, failure, self._skipped)

    def _stop_check(self, item: pytest.Item, message: str, computing: bool) -> None:
        outcome = self._outcome(item, self.explain.stuck(_main_frame(), message))
        self.report(CheckEvent(begins=item.name, exercise=outcome.exercise, outcome=outcome))
        os._exit(TIMED_OUT)

    def _stop_import(self, message: str, computing: bool) -> None:
        stuck = still_importing(_main_frame(), self.folder, self.order.seconds, computing)
        self.report(CheckEvent(stopped=stuck))
        os._exit(TIMED_OUT)


def _main_frame() -> FrameType | None:
    return sys._current_frames().get(threading.main_thread().ident or 0)


def _as_call(item: pytest.Item) -> Callable[[], object] | None:
    """Return a check as a plain call, or None if it needs fixtures."""
    if not isinstance(item, pytest.Function):
        return None
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    if set(item.fixturenames) - set(parameters):
        return None
    return functools.partial(item.function, **parameters)


def _remove_compiled(folder: Path) -> None:
    """Remove compiled files: they are matched by time and size, which two quick saves can share."""
    for source in folder.glob("*.py"):
        with contextlib.suppress(OSError, NotImplementedError):
            Path(importlib.util.cache_from_source(str(source))).unlink()


def _import_libraries(*sources: Path) -> None:
    """Import the slow libraries that the files name, while the order may still be on its way."""
    text = ""
    for source in sources:
        with contextlib.suppress(OSError):
            text += source.read_text(encoding="utf-8", errors="replace")
    gc.disable()  # imports create many objects and hardly any garbage
    for name in _SLOW_IMPORTS:
        if re.search(rf"^\s*(?:import|from) {name.split('.')[0]}\b", text, re.MULTILINE):
            with contextlib.suppress(ImportError):  # the checks report it
                importlib.import_module(name)
    gc.enable()
    _simplify_assert_close()


def _simplify_assert_close() -> None:
    """Keep `torch.testing.assert_close` from importing torch.distributed.

    It looks for distributed tensors, which cannot exist unless that module has been imported, and
    the import takes longer than a week's checks.
    """
    comparison = sys.modules.get("torch.testing._comparison")
    original = getattr(comparison, "_unwrap_dtensor_for_comparison", None)
    if original is None or _DISTRIBUTED in sys.modules:
        return

    @functools.wraps(original)
    def unwrapped(actual: object, expected: object) -> object:
        if _DISTRIBUTED in sys.modules:
            return original(actual, expected)
        return actual, expected

    vars(comparison)[original.__name__] = unwrapped


def main() -> None:
    """Run the checking process on the folder named in `sys.argv`."""
    orders = OrderPipe(os.dup(0))  # pytest redirects the standard streams
    events = io.BufferedWriter(io.FileIO(os.dup(1), "wb"))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    folder = open_folder(Path(sys.argv[1]))
    serve = "--serve" in sys.argv[2:]
    sys.dont_write_bytecode = True
    _import_libraries(folder.checks, folder.module)  # before the folder can hide them
    sys.path.insert(0, str(folder.path))
    os.chdir(folder.path)
    gc.freeze()  # so that a collection in a fork does not copy torch's pages
    plugin = CheckPlugin(folder, orders, events, serve)
    options = ["--import-mode=importlib", "-c", os.devnull, "--rootdir", str(folder.path)]
    options += ["--noconftest"] if serve else []
    options += ["-p", "no:cacheprovider", "--tb=no", "-q", str(folder.checks)]
    run_pytest(options, plugin)
    plugin.end()


if __name__ == "__main__":
    main()
