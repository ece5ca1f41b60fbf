"""Test that reading expensive notebooks has bounded cost."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from autograder.model.course import Course, Week
from autograder.nbgrader.collect.notebooks import (
    code_notes,
    parse_notebook,
    read_cells,
    text_in,
    unwritten,
)
from autograder.nbgrader.collect.submissions import full_history
from autograder.nbgrader.workspace import Workspace, last_words
from autograder.pages.markdown import code, markdown

MIB = 1 << 20
HEAD = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {"x": '
TAIL = '}, "cells": []}'


def many(part: str, size: int = 16 * MIB) -> str:
    return "[" + (part + ",") * (size // (len(part) + 1)) + part + "]"


BOMBS: dict[str, Callable[[], str]] = {
    "objects": lambda: HEAD + many("{}") + TAIL,
    "lists": lambda: HEAD + many("[]") + TAIL,
    "numbers": lambda: HEAD + many("7") + TAIL,
    "keys": lambda: HEAD + "{" + many('"k":0')[1:-1] + "}" + TAIL,
    "cells": lambda: HEAD[:-5] + '"a": 1}, "cells": ' + many("{}") + "}",
    "nested": lambda: HEAD + "[" * (8 * MIB) + "]" * (8 * MIB) + TAIL,
    "nested objects": lambda: HEAD + '{"a":' * MIB + "1" + "}" * MIB + TAIL,
    "an endless string": lambda: HEAD + '"' + "{" * (16 * MIB),
    "escapes": lambda: HEAD + '"' + '\\"{' * (5 * MIB) + '"' + "{" * 1000 + TAIL,
    "a hundred megabytes": lambda: HEAD + '"' + "x" * (100 * MIB) + '"' + TAIL,
    "a long number": lambda: HEAD + "9" * MIB + TAIL,
    "nothing": lambda: "\0" * MIB,
}


@contextmanager
def rising_less_than(size: int) -> Iterator[None]:
    """Check that the memory of this process does not rise by more than this inside the block."""
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory("VmRSS")
    yield
    risen = _memory("VmHWM") - before
    assert risen < size, f"{risen >> 20} MiB"


def _memory(which: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(rf"^{which}:\s+(\d+) kB", status, re.M)[1]) << 10  # type: ignore[index]


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("bomb", BOMBS)
def test_reading_it_takes_a_bounded_amount(
    course: Course, week: Week, notebook: str, tmp_path: Path, bomb: str
) -> None:
    path = Workspace(course).submitted("mallory", week) / f"{week.name}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(BOMBS[bomb](), encoding="utf-8")
    with rising_less_than(64 * MIB):
        assert read_cells(path) == []
        full_history(course, week, "mallory")
    nbformat.read(path, as_version=4)  # the cleaned file, which nbgrader will read


def test_a_usual_notebook_is_read(notebook: str, tmp_path: Path) -> None:
    path = tmp_path / "usual.ipynb"
    found = nbformat.reads(notebook, as_version=4)
    picture = {"image/png": "A" * (8 * MIB), "application/json": {"data": list(range(100_000))}}
    found.cells.append(
        nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("display_data", picture)])
    )
    path.write_text(nbformat.writes(found), encoding="utf-8")
    assert len(read_cells(path)) == len(found.cells)


def test_another_encoding_hides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "wide.ipynb"
    path.write_bytes((HEAD + many("{}", MIB) + TAIL).encode("utf-16"))
    assert read_cells(path) == []


def noted(source: str, week: Week) -> None:
    cells = [{"cell_type": kind, "source": source} for kind in ("code", "markdown")]
    list(code_notes(cells, "", "", week))


def strings(text: str, week: Week) -> None:
    with pytest.raises(ValueError, match="too many parts"):
        text_in(text.encode(), "x.ipynb")


SLOW: dict[str, tuple[Callable[[str, Week], object], str]] = {
    "blank lines": (noted, "def" + "\n" * 60_000 + "x"),
    "blanks": (noted, "def\n" + " " * 60_000 + "x"),
    "escaped quotes": (strings, "{" * 70_000 + '"' + '\\"' * 30_000 + "\\"),
    "a log of blank lines": (lambda t, _: last_words({"log": t}), "\n" * 60_000 + "x"),
    "code of blank lines": (lambda t, _: code(t), " \n\r" * 10_000 + "x"),
    "a row of blanks": (lambda t, _: markdown(t), " " * 30_000 + "x"),
    "a row of quotations": (lambda t, _: markdown(t), "x\n\n    " + "> " * 15_000 + "x"),
}


@pytest.mark.parametrize("kind", SLOW)
def test_the_worst_text_for_a_pattern_takes_no_quadratic_time(week: Week, kind: str) -> None:
    read, text = SLOW[kind]
    markdown("$x$")  # imports the renderer
    start = time.process_time()
    read(text, week)
    assert time.process_time() - start < 2


def test_a_notebook_with_a_thousand_errors_is_refused_quickly() -> None:
    output = '{"output_type":"stream","name":"stdout"}'  # without its text
    about = '"cell_type":"code","id":"a","metadata":{},"source":"","execution_count":null'
    cell = f'{{{about},"outputs":[{",".join([output] * 1500)}]}}'
    notebook = f'{{"nbformat":4,"nbformat_minor":5,"metadata":{{}},"cells":[{cell}]}}'
    parse_notebook(b"{}")  # imports nbformat
    start = time.process_time()
    assert parse_notebook(notebook.encode()) is None
    assert time.process_time() - start < 2


# Python can parse each of these, but cannot unparse it.
_HEAD_OF = "def double(x):\n    return "
DEEP = {
    "sum": _HEAD_OF + "+".join(["1"] * 1500),
    "attributes": _HEAD_OF + "x" + ".a" * 1500,
    "calls": _HEAD_OF + "x" + "()" * 1200,
    "signs": _HEAD_OF + "-" * 900 + "x",
    "negations": _HEAD_OF + "not " * 900 + "x",
    "lambdas": _HEAD_OF + "lambda:" * 900 + "x",
    "choices": _HEAD_OF + "1 if x else " * 900 + "x",
    "branches": "def double(x):\n    if x: pass\n" + "    elif x: pass\n" * 1400,
    "a long number": _HEAD_OF + "0x" + "f" * 5000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_code_that_cannot_be_written_again_stops_nobody(week: Week, kind: str) -> None:
    stub = "def double(x):\n    raise NotImplementedError\n"
    names = [e.name for e in week.exercises]
    code = DEEP[kind].replace("double", names[0])
    assert names[0] not in unwritten(week, code, stub.replace("double", names[0]))
