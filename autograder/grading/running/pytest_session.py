"""A pytest session that stays open: hidden graders collected once, run for every submission.

pytest owns the thread it runs in, and hands its run loop to a plugin hook. That hook waits here
for work, so that only pytest's public hooks are used and collection is paid once.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ...model.errors import EngineError
from ...model.pytest_options import run_pytest
from .pytest_plugin import GraderPlugin


class GraderSession:
    """Runs functions in pytest's thread, once the graders are collected."""

    def __init__(self, graders: Path, plugin: GraderPlugin) -> None:
        self._plugin = plugin
        self._work: queue.SimpleQueue[Any] = queue.SimpleQueue()
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
            *(f"-pno:{name}" for name in _UNUSED_PLUGINS),
        ]
        self._thread = threading.Thread(
            target=self._main, args=(arguments,), name="graders", daemon=True
        )
        self._thread.start()
        self._ready.wait()
        _forget_modules(graders)
        if plugin.collect_errors:
            self.close()
            raise EngineError(f"a grader cannot be collected: {plugin.collect_errors[0]}")
        if plugin.session is None:
            raise EngineError(f"no grader was collected from {graders.name} (pytest {self._exit})")

    def _main(self, arguments: list[str]) -> None:
        try:
            self._exit = run_pytest(arguments, self._plugin)
        finally:
            self._ready.set()

    def _loop(self, session: pytest.Session) -> None:
        self._ready.set()
        while (work := self._work.get()) is not None:
            function, done, box = work
            try:
                box.append((True, function()))
            except BaseException as error:
                box.append((False, error))
            done.set()

    def call(self, function: Callable[[], Any]) -> Any:
        """Run the function in pytest's thread and return what it returns."""
        done, box = threading.Event(), list[Any]()
        self._work.put((function, done, box))
        while not done.wait(1.0):
            if not self._thread.is_alive():
                raise EngineError("the grading thread ended unexpectedly")
        fine, value = box[0]
        if not fine:
            raise value
        return value

    def close(self) -> None:
        self._work.put(None)
        self._thread.join(10)


def _forget_modules(graders: Path) -> None:
    """Take the graders' modules out of sys.modules; their functions live on.

    pytest would take another week's file of the same name, or what this one held before it was
    mended, from there instead of reading it: a server grades many weeks in one process.
    """
    for path in graders.rglob("*.py"):
        module = sys.modules.get(".".join(path.relative_to(graders).with_suffix("").parts))
        if module is not None and getattr(module, "__file__", None) == str(path):
            del sys.modules[module.__name__]


_UNUSED_PLUGINS = (
    "cacheprovider",
    "terminal",
    "terminalreporter",
    "faulthandler",
    "junitxml",
    "warnings",
    "logging",
    "pastebin",
    "stepwise",
    "doctest",
    "unraisableexception",
    "threadexception",
)
