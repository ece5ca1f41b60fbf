"""The checking Python: imports what the checks need, waits for an order, runs them, tells.

    python -m autograder.student.checks.runner FOLDER [--serve]

One line of JSON on standard input says what to run; so a warm one can be kept waiting, with torch
imported and pytest about to collect. Events leave as JSON lines on what was standard output; the
student's own prints are captured by pytest. A check that takes too long ends this process, after an
event that says where it was. With `--serve` each order is run by a fork (see serving.py), so that
one that waits can be asked again and again.
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
from .check_messages import TIMED_OUT, Event, Order
from .explain import Explainer
from .forbidden_calls import CallNotice
from .forked_runs import Fork, Orders
from .importing import import_module, still_importing
from .limits import limited
from .preimport import settings_in
from .results import CheckOutcome, Failure, claim_in_words


class CheckPlugin:
    """Runs the ordered checks and tells of each."""

    order: Order

    def __init__(self, folder: WeekFolder, orders: Orders, events: BinaryIO, serve: bool) -> None:
        self.folder, self.orders, self.events = folder, orders, events
        self._serve = serve
        self._fork: Fork | None = None  # that this is
        self._settings: tuple[str, ...] | None = None
        self.explain = Explainer(folder.path, folder.week.module, folder.checks, folder.names)
        self.notice = CallNotice(folder.path, folder.checks)
        self._lock = threading.Lock()
        self._failure: Failure | None = None
        self._skipped = ""
        self._ran: list[tuple[pytest.Item, CheckOutcome]] = []

    def tell(self, event: Event) -> None:
        event = msgspec.structs.replace(event, order=self.order.number)
        with self._lock:
            self.events.write(msgspec.json.encode(event) + b"\n")
            self.events.flush()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Wait for the order; nothing of the student's was imported yet."""
        capture = session.config.pluginmanager.getplugin("capturemanager")
        while True:
            self.order = self.orders.next()
            if not self._serve:
                break
            settings = settings_in(self.folder.path)
            if self._settings not in (None, settings):
                os._exit(0)  # whoever asked takes another
            self._settings = settings
            self._fork = fork = Fork()
            if fork.here:
                break
            self.tell(Event(ended=fork.wait(self.orders)))
            capture.read_global_capture()  # the file is shared: what an ended fork left behind
            fork.import_late()
        _forget_compiled(self.folder.path)
        patterns = {p for e in self.folder.week.exercises for p in e.not_allowed}
        hook_functions(tuple(sorted(patterns)), self.notice.note)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.tell(Event(problem=_last_line(report.longreprtext)))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [
            i
            for i in items
            if i.name not in self.order.done and self._exercise(i) in self.order.exercises
        ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Import the student's module before the checks do; if that fails, none is run."""
        self.tell(Event(importing=True))
        with limited(self.order.seconds, self._import_is_over):
            stopped = import_module(self.folder)
        if stopped is not None:
            self.tell(Event(stopped=stopped))
            self.end()
        self.tell(Event(importing=False))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._failure, self._skipped, self.notice.failure = None, "", None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        exercise = self._exercise(item)
        self.tell(Event(begins=item.name, exercise=exercise))
        try:
            with limited(self.order.seconds, functools.partial(self._time_is_over, item)):
                return (yield)
        finally:
            outcome = self._outcome(item, self.notice.failure or self._failure)
            self._ran.append((item, outcome))
            self.tell(Event(begins=item.name, exercise=exercise, outcome=outcome))

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
            self._failure = self.explain(
                call.excinfo.value, self._exercise(item), report.capstdout[-4000:]
            )
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._tell_lines()
        self.end()  # pytest would look for lost objects for longer than the checks took

    def _tell_lines(self) -> None:
        """Tell where exercises may be wrong whose checks failed as one change could mend it."""
        if not self._ran or not any(o.failure for _, o in self._ran):
            return
        with contextlib.suppress(Exception):  # a hint is no part of the result
            from .mistake_lines import Lines  # for failures alone

            lines = Lines(self.folder)
            for exercise in self.order.exercises:
                own = [(i, o) for i, o in self._ran if o.exercise == exercise]
                own.sort(key=lambda one: one[1].failure is None)
                kinds = {o.failure.kind for _, o in own if o.failure}
                checks = [c for i, _ in own if (c := _callable(i)) is not None]
                if kinds and kinds <= {"wrong", "raised"} and len(checks) == len(own):
                    places = lines.of(exercise, checks)
                    if places:
                        self.tell(Event(exercise=exercise, places=places))

    def end(self) -> NoReturn:
        """All was told. A thread that the student started must not keep us."""
        if self._fork is not None:
            self._fork.end()
        self.tell(Event(finished=True))
        os._exit(0)

    def _exercise(self, item: pytest.Item) -> str:
        return self.folder.exercise_of(item.name.split("[")[0])

    def _outcome(self, item: pytest.Item, failure: Failure | None) -> CheckOutcome:
        exercise = self._exercise(item)
        return CheckOutcome(item.name, exercise, _claim(item, exercise), failure, self._skipped)

    def _time_is_over(self, item: pytest.Item, why: str, works: bool) -> None:
        failure = self.explain.stuck(_main_frame(), why)
        outcome = self._outcome(item, failure)
        self.tell(Event(begins=item.name, exercise=outcome.exercise, outcome=outcome))
        os._exit(TIMED_OUT)

    def _import_is_over(self, why: str, works: bool) -> None:
        stuck = still_importing(_main_frame(), self.folder, self.order.seconds, works)
        self.tell(Event(stopped=stuck))
        os._exit(TIMED_OUT)


def _main_frame() -> FrameType | None:
    """Return what the main thread is running."""
    return sys._current_frames().get(threading.main_thread().ident or 0)


def _callable(item: pytest.Item) -> Callable[[], object] | None:
    """A check as a plain call, if it needs nothing but its own parameters."""
    if not isinstance(item, pytest.Function):
        return None
    given = item.callspec.params if hasattr(item, "callspec") else {}
    if set(item.fixturenames) - set(given):
        return None
    return functools.partial(item.function, **given)


def _claim(item: pytest.Item, exercise: str) -> str:
    """The check's docstring, or its name in words."""
    written = inspect.getdoc(getattr(item, "function", None)) or ""
    if written:
        return " ".join(written.split("\n\n")[0].split())
    return claim_in_words(item.name, exercise)


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().split("\n") if line.strip()]
    return lines[-1].removeprefix("E").strip()[:300] if lines else "unknown"


def _forget_compiled(folder: Path) -> None:
    """Compiled files are found by time and size; two quick saves can share both."""
    for source in folder.glob("*.py"):
        with contextlib.suppress(OSError, NotImplementedError):
            Path(importlib.util.cache_from_source(str(source))).unlink()


_DISTRIBUTED = "torch.distributed.tensor"
_SLOW = ("numpy", "torch", "matplotlib.pyplot")  # to import


def _import_early(*sources: Path) -> None:
    """What takes long to import, while the order may still be on its way."""
    text = ""
    for source in sources:
        with contextlib.suppress(OSError):
            text += source.read_text(encoding="utf-8", errors="replace")
    gc.disable()  # while much is imported and hardly anything is garbage
    for name in _SLOW:
        if re.search(rf"^\s*(?:import|from) {name.split('.')[0]}\b", text, re.MULTILINE):
            with contextlib.suppress(ImportError):  # the checks will say so
                importlib.import_module(name)
    gc.enable()
    _compare_plainly()


def _compare_plainly() -> None:
    """`torch.testing.assert_close` asks whether a tensor is one of many machines'.

    For that it imports half of torch, which takes longer than all of a week's checks; where nothing
    else has imported it there is no such tensor.
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
    # pytest turns the standard ones elsewhere
    orders = Orders(os.dup(0))
    events = io.BufferedWriter(io.FileIO(os.dup(1), "wb"))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    folder = open_folder(Path(sys.argv[1]))
    sys.dont_write_bytecode = True
    _import_early(folder.checks, folder.module)  # the libraries, not a `torch.py` of the student's
    sys.path.insert(0, str(folder.path))
    os.chdir(folder.path)
    gc.freeze()  # so that a fork's collections neither look through torch nor copy its pages
    plugin = CheckPlugin(folder, orders, events, serve="--serve" in sys.argv[2:])
    options = ["--import-mode=importlib", "-c", os.devnull, "--rootdir", str(folder.path)]
    options += ["--noconftest"] if "--serve" in sys.argv[2:] else []
    options += ["-p", "no:cacheprovider", "--tb=no", "-q", str(folder.checks)]
    run_pytest(options, plugin)
    plugin.end()


if __name__ == "__main__":
    main()
