"""A pytest session that stays open: hidden tests are collected once and run for every submission.

pytest owns the thread that it runs in and calls a plugin hook as its run loop. That hook waits for
work, so that collection is paid once with pytest's public hooks only.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotDone
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ...model.errors import EngineError
from ...model.pytest_options import run_pytest
from .pytest_plugin import GraderPlugin

Result = TypeVar("Result")

_UNUSED_PLUGINS = (
    "cacheprovider terminal terminalreporter faulthandler junitxml warnings logging pastebin "
    "stepwise doctest unraisableexception threadexception"
)


class GraderSession:
    """Run functions in pytest's thread after it has collected the hidden tests.

    Raise EngineError if a file of hidden tests cannot be imported, or if no test is found.
    """

    def __init__(self, graders: Path, plugin: GraderPlugin) -> None:
        self._plugin = plugin
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]
        self._work = queue.SimpleQueue()
        self._ready = threading.Event()
        self._exit: int | None = None
        plugin.loop = self._loop
        arguments = [
            str(graders),
            f"--rootdir={graders}",
            "--confcutdir=" + str(graders),
            "--import-mode=importlib",
            "--assert=plain",  # rewritten asserts would show hidden values
            "--capture=no",
            "--strict-markers",
            "-c/dev/null",
            "-o",
            "python_files=test_*.py",
            *(f"-pno:{name}" for name in _UNUSED_PLUGINS.split()),
        ]
        self._thread = threading.Thread(
            target=self._main, args=(arguments,), name="graders", daemon=True
        )
        self._thread.start()
        self._ready.wait()
        _forget_modules(graders)
        if plugin.collect_errors:
            self.close()
            raise EngineError(f"a hidden test cannot be imported: {plugin.collect_errors[0]}")
        if plugin.session is None:
            raise EngineError(f"{graders.name} has no hidden tests (pytest {self._exit})")

    def _main(self, arguments: list[str]) -> None:
        try:
            self._exit = run_pytest(arguments, self._plugin)
        finally:
            self._ready.set()

    def _loop(self, session: pytest.Session) -> None:
        self._ready.set()
        while (work := self._work.get()) is not None:
            function, future = work
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)

    def call(self, function: Callable[[], Result]) -> Result:
        """Run the function in pytest's thread and return its result."""
        future = Future[Result]()
        self._work.put((function, future))
        while True:
            try:
                return future.result(1.0)
            except NotDone:
                if future.done():
                    raise  # the function's own
                if not self._thread.is_alive():
                    raise EngineError("the grading thread ended unexpectedly") from None

    def close(self) -> None:
        self._work.put(None)
        self._thread.join(10)


def _forget_modules(graders: Path) -> None:
    """Remove the hidden tests' modules from sys.modules; their functions stay alive.

    A server grades many weeks in one process. pytest would reuse a module of the same name from
    another week, or from before an edit.
    """
    for path in graders.rglob("*.py"):
        module = sys.modules.get(".".join(path.relative_to(graders).with_suffix("").parts))
        if module is not None and getattr(module, "__file__", None) == str(path):
            del sys.modules[module.__name__]
