"""Modules imported by one check are imported in advance for the next."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.student.checks.forked_runs import CAN_SERVE, LateImports, variables_set_in
from autograder.student.checks.launcher import WarmPython
from autograder.student.commands.check import check_week

from .conftest import SOLVED

KERAS = "import os\nBACKEND = os.environ.get('KERAS_BACKEND', 'another')\n"


@pytest.fixture
def keras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Create a library of that name that reads the environment when imported."""
    (tmp_path / "keras.py").write_text(KERAS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    others = {n: m for n, m in sys.modules.items() if n.partition(".")[0] == "keras"}
    for name in others:
        monkeypatch.delitem(sys.modules, name)
    yield tmp_path
    sys.modules.pop("keras", None)


def test_a_library_is_imported_with_the_environment_that_it_was_imported_with(keras, monkeypatch):
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    modules = ["keras", "os.path", "keras; import antigravity", "keras.none"]
    LateImports(modules, {"KERAS_BACKEND": "torch", "PATH": "/elsewhere"}).repeat()
    assert sys.modules["keras"].BACKEND == "torch"
    assert "KERAS_BACKEND" not in os.environ
    assert os.environ["PATH"] != "/elsewhere"


def test_it_is_told_with_what_the_environment_says(keras, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    before = frozenset(sys.modules)
    __import__("keras")
    assert LateImports.since(before) == LateImports(["keras"], {"KERAS_BACKEND": "torch"})


def test_a_file_of_the_students_own_is_not_told(keras, monkeypatch):
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.chdir(keras)
    before = frozenset(sys.modules)
    __import__("keras")
    assert LateImports.since(before) == LateImports([], {})


@pytest.mark.skipif(not CAN_SERVE, reason="one Python per order here")
def test_a_file_that_names_another_backend_is_checked_by_another_python(tiny, write):
    folder = write("import os\nos.environ['KERAS_BACKEND'] = 'one'", *SOLVED.values())
    assert variables_set_in(folder.path) == ("os.environ['KERAS_BACKEND'] = 'one'",)
    python = WarmPython(folder)
    try:

        def answers() -> int:
            assert check_week(folder, folder.names, warm=python).passed
            return python.pid

        first = answers()
        assert answers() == first
        write("import os\nos.environ['KERAS_BACKEND'] = 'two'", *SOLVED.values())
        assert answers() != first
    finally:
        python.close()


def test_threads_of_a_check_wait_without_spinning(tiny, write, monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    asks = "import os\nassert os.environ.get('OMP_WAIT_POLICY') == 'passive'\n"
    folder = write(asks, *SOLVED.values())
    assert all(e.state == "pass" for e in check_week(folder, folder.names).exercises)
