"""Collect hidden tests with pytest, once for all submissions.

pytest ends its own run after the collection. `GraderPlugin.run` then runs the collected tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ...model.errors import EngineError
from ...model.pytest_options import run_pytest
from .pytest_plugin import GraderPlugin

# Some of these plugins could not run tests after the end of pytest's own run.
_UNUSED_PLUGINS = (
    "cacheprovider capture terminal terminalreporter faulthandler junitxml warnings logging "
    "pastebin stepwise doctest tmpdir unraisableexception threadexception"
)


def collect_tests(graders: Path, plugin: GraderPlugin) -> None:
    """Collect the hidden tests of a week into the plugin.

    Raise EngineError if a file of hidden tests cannot be imported, or if no test is found.
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
    """Remove the hidden tests' modules from sys.modules; their functions stay alive.

    A server grades many weeks in one process. pytest would reuse a module of the same name from
    another week, or from before an edit.
    """
    for path in graders.rglob("*.py"):
        module = sys.modules.get(".".join(path.relative_to(graders).with_suffix("").parts))
        if module is not None and getattr(module, "__file__", None) == str(path):
            del sys.modules[module.__name__]
