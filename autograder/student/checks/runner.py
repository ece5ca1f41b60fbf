"""Run public checks in the checking process, as a pytest plugin.

    python -m autograder.student.checks.runner FOLDER [--serve]

The process imports libraries and starts pytest before it reads an order, one line of JSON on
standard input. It writes events as lines of JSON to the original standard output, while pytest
captures the output of the student's code. If a check exceeds its time limit, the process reports
the line at which the check was stopped, and exits. With `--serve` (Linux only), each order runs in
a fork, so that the student's code cannot affect later orders. If the fork dies, the process exits
with the same signal or exit code.
"""

import ctypes
import functools
import gc
import importlib
import importlib.util
import inspect
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NoReturn

import msgspec
import pytest
from msgspec.structs import replace

from ...model.pytest_options import run_pytest
from ...model.source.rules import Rules
from ...worker.monitor.function_hooks import hook_functions
from ...worker.protocol.dtypes import dtype_without_operator
from ..folder.week import WeekFolder, open_folder
from . import explain
from .check_results import (
    PATIENCE,
    CheckEvent,
    CheckOrder,
    CheckOutcome,
    Failure,
    claim_in_words,
    timeout_message,
)
from .forbidden_calls import CallNotice, give_frames

_MAX_OUTPUT = 4000
_INTERVAL = 0.05  # seconds between two checks of the time limit
_SEARCH_SECONDS = 0.8  # processor time for locating mistakes, for all exercises together
_MAX_DATA = 6 << 30  # bytes of memory; grading allows 1 GiB in addition to the libraries
_IDLE = 1800.0  # seconds without an order after which the process exits to free its memory
_COMPLETE, _STOPPED = 42, 3  # exit codes
_PR_SET_PDEATHSIG = 1
# Maps a word in the student's files to the slow import that it causes: `assert_close` imports
# torch.distributed, and the first optimizer imports torch's compiler.
_SLOW_IMPORTS = {
    "numpy": "numpy",
    "torch": "torch",
    "matplotlib": "matplotlib.pyplot",
    "assert_close": "torch.distributed.tensor",
    "optim": "torch._dynamo",
}


class CheckPlugin:
    """A pytest plugin that runs the ordered checks and reports each one."""

    order: CheckOrder

    def __init__(self, folder: WeekFolder, orders: BinaryIO, events: BinaryIO, serve: bool) -> None:
        self.folder, self._orders, self._events, self._serve = folder, orders, events, serve
        self.notice = CallNotice(folder)
        self._failure: Failure | None = None
        self._skipped = ""
        self._ran: list[tuple[pytest.Item, CheckOutcome]] = []

    def report(self, event: CheckEvent) -> None:
        self._events.write(msgspec.json.encode(event) + b"\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Wait for an order before importing any of the student's files."""
        capture = session.config.pluginmanager.getplugin("capturemanager")
        self._wait_for_order()
        while self._serve and (fork := os.fork()):
            code = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
            if code < 0:
                os.kill(os.getpid(), -code)
            if code != _COMPLETE:
                os._exit(code)
            capture.read_global_capture()  # discard the fork's output: the capture file is shared
            self._wait_for_order()
        if self._serve:
            _end_with_parent()
            importlib.invalidate_caches()
        _limit_memory()
        _remove_compiled(self.folder.path)
        patterns = tuple(sorted({p for e in self.folder.week.exercises for p in e.not_allowed}))
        hook_functions(patterns, self.notice.note)

    def _wait_for_order(self) -> None:
        if self._serve and not select.select([self._orders], [], [], _IDLE)[0]:
            os._exit(0)
        line = self._orders.readline()
        if not line:  # the parent process has closed the pipe
            os._exit(0)
        self.order = msgspec.json.decode(line, type=CheckOrder)

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
        """Import the student's module; if the import fails, end without running checks."""
        self.report(CheckEvent())
        with self._time_limited(self._stop_import):
            stopped = explain.import_module(self.folder)
        if stopped is not None:
            self.report(CheckEvent(stopped=stopped))
            self.end()
        give_frames(self.folder)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._failure, self._skipped, self.notice.failure = None, "", None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.report(CheckEvent(begins=item.name, exercise=self._exercise(item)))
        try:
            with self._time_limited(functools.partial(self._stop_check, item)):
                return (yield)
        finally:
            outcome = self._outcome(item, self.notice.failure or self._failure)
            self._ran.append((item, outcome))
            self.report(CheckEvent(outcome=outcome))

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
            text = report.capstdout
            output = text if len(text) <= _MAX_OUTPUT else f"… {text[-_MAX_OUTPUT:]}"
            exercise = self._exercise(item)
            failure = explain.explain_failure(call.excinfo.value, self.folder, exercise, output)
            if dtype := dtype_without_operator(failure.message):
                self._skipped = f"torch lacks an operator for {dtype}"
            else:
                self._failure = failure
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._report_mistake_lines()
        self.end()  # skips pytest's final garbage collection, which takes longer than the checks

    def _report_mistake_lines(self) -> None:
        if not any(outcome.failure for _, outcome in self._ran):
            return
        if not hasattr(signal, "setitimer"):  # Windows cannot stop an edited version that hangs
            return
        with suppress(Exception):  # an error in this optional search must not change the result
            until = time.process_time() + _SEARCH_SECONDS
            for exercise in self.order.exercises:
                ran = [(i, o) for i, o in self._ran if o.exercise == exercise and not o.skipped]
                ran.sort(key=lambda pair: pair[1].failure is None)
                kinds = {o.failure.kind for _, o in ran if o.failure}
                checks = [call for item, _ in ran if (call := _as_call(item)) is not None]
                if not kinds or not kinds <= {"wrong", "raised"} or len(checks) < len(ran):
                    continue
                changed = explain.changed_arguments(self.folder, exercise, checks)
                places = explain.find_mistake_lines(self.folder, exercise, checks, until)
                for _, outcome in ran:
                    if (changed or places) and outcome.failure:
                        facts = (*changed, *outcome.failure.facts)
                        failure = replace(outcome.failure, places=places, facts=facts)
                        outcome = replace(outcome, failure=failure)
                        self.report(CheckEvent(outcome=outcome))

    def end(self) -> NoReturn:
        """Report the end of the order and exit, even if the student's code has running threads."""
        self.report(CheckEvent(finished=True))
        os._exit(_COMPLETE)

    @contextmanager
    def _time_limited(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call `stop`, which ends the process, from a separate thread when the time is up.

        The time is up when processor time and elapsed time have both reached the limit. Waiting for
        both prevents early timeouts on busy machines or with several threads. The time is also up
        when elapsed time reaches PATIENCE times the limit.
        """
        seconds, ended, began = self.order.seconds, threading.Event(), time.monotonic()
        self._began = time.process_time()

        def watch() -> None:
            while not ended.wait(_INTERVAL):
                elapsed = time.monotonic() - began
                if (self._computes() and elapsed >= seconds) or elapsed >= PATIENCE * seconds:
                    return stop()

        threading.Thread(target=watch, daemon=True).start()
        try:
            yield
        finally:
            ended.set()

    def _computes(self) -> bool:
        """Return True if the running import or check has used up its processor time."""
        return time.process_time() - self._began >= self.order.seconds

    def _exercise(self, item: pytest.Item) -> str:
        return self.folder.exercise_of(item.name.split("[")[0])

    def _outcome(self, item: pytest.Item, failure: Failure | None) -> CheckOutcome:
        exercise = self._exercise(item)
        docstring = inspect.getdoc(getattr(item, "function", None)) or ""
        claim = " ".join(docstring.split("\n\n")[0].split()) or claim_in_words(item.name, exercise)
        return CheckOutcome(item.name, exercise, claim, failure, self._skipped)

    def _stop_check(self, item: pytest.Item) -> None:
        reason = timeout_message(self.order.seconds, self._computes())
        stuck = explain.explain_stopped_check(_main_frame(), self.folder, reason)
        self.report(CheckEvent(outcome=self._outcome(item, stuck)))
        os._exit(_STOPPED)

    def _stop_import(self) -> None:
        limit, computes = self.order.seconds, self._computes()
        stuck = explain.explain_stopped_import(_main_frame(), self.folder, limit, computes)
        self.report(CheckEvent(stopped=stuck))
        os._exit(_STOPPED)


def _main_frame() -> FrameType | None:
    return sys._current_frames().get(threading.main_thread().ident or 0)


def _as_call(item: pytest.Item) -> Callable[[], object] | None:
    """Return a check as a function without arguments, or None if it needs fixtures."""
    if not isinstance(item, pytest.Function):
        return None
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    if set(item.fixturenames) - set(parameters):
        return None
    return functools.partial(item.function, **parameters)


def _remove_compiled(folder: Path) -> None:
    """Delete bytecode caches, which can be stale if two saves have the same time and size."""
    for source in folder.glob("*.py"):
        with suppress(OSError, NotImplementedError):
            Path(importlib.util.cache_from_source(str(source))).unlink()


def _limit_memory() -> None:
    """Let code that needs too much memory raise MemoryError before the machine comes to a halt."""
    with suppress(ImportError, ValueError, OSError):  # no limits on Windows, or a lower one is set
        import resource

        resource.setrlimit(
            resource.RLIMIT_DATA, (_MAX_DATA, resource.getrlimit(resource.RLIMIT_DATA)[1])
        )


def _end_with_parent() -> None:
    with suppress(OSError, AttributeError):  # not Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _import_libraries(*sources: Path) -> None:
    """Import the slow libraries that the files mention."""
    text = ""
    for source in sources:
        with suppress(OSError):
            text += source.read_text(encoding="utf-8", errors="replace")
    for word, name in _SLOW_IMPORTS.items():
        if word in text:
            with suppress(ImportError):  # the checks report a missing library
                importlib.import_module(name)


def main() -> None:
    """Run the checking process on the folder named in `sys.argv`."""
    serve = "--serve" in sys.argv[2:]
    if serve:
        _end_with_parent()
    # duplicate the standard streams, because pytest redirects them
    orders, events = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    folder = open_folder(Path(sys.argv[1]))
    sys.dont_write_bytecode = True
    # import libraries before the folder is on the path, because its files could shadow them
    _import_libraries(folder.checks, folder.module)
    sys.path.insert(0, str(folder.path))
    os.chdir(folder.path)
    gc.freeze()  # prevents garbage collections in a fork from copying torch's memory pages
    plugin = CheckPlugin(folder, orders, events, serve)
    options = ["--import-mode=importlib", "-c", os.devnull, "--rootdir", str(folder.path)]
    # the name alone, because pytest interprets `[` and `::` in a path
    options += ["--noconftest", "-p", "no:cacheprovider", "--tb=no", "-q", folder.checks.name]
    run_pytest(options, plugin)
    plugin.end()


if __name__ == "__main__":
    main()
