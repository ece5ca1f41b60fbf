"""Detect accidents that no check sees: code in the wrong file, a newer copy, a file not saved."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Sequence

from ..checks.check_results import ExerciseResult
from .source import Definition
from .week import WeekFolder

_MAX_NOTEBOOK = 8 << 20  # bytes; a notebook with its figures has fewer
_DEFINITION = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)


def find_slips(
    folder: WeekFolder, results: Sequence[ExerciseResult], unchanged: Collection[str]
) -> tuple[str, ...]:
    """Return a sentence for each accident; none if everything passes.

    unchanged: exercises whose last check ran on an identical file.
    """
    failing = [r for r in results if r.state != "pass"]
    if not failing:
        return ()
    unwritten = [r.name for r in failing if r.state == "open"]
    notes = [*_newer_files(folder), *_defined_in_notebook(folder, unwritten)]
    notes += _leftover_raises(folder, unwritten)
    if not notes and all(r.name in unchanged for r in failing):
        notes.append(f"{folder.week.module} has not changed since your last check: is it saved?")
    return tuple(notes)


def _newer_files(folder: WeekFolder) -> Iterator[str]:
    for copy in folder.newer_copies():
        yield f"{copy.name} is newer than {folder.week.module}: only {folder.week.module} counts."
    for other in folder.newer_elsewhere():
        yield f"{other} is newer than the file that is checked here: which one do you work in?"


def _leftover_raises(folder: WeekFolder, unwritten: Sequence[str]) -> Iterator[str]:
    """Find exercises with code above the stub's `raise`."""
    mine, stub = _bodies(folder.source()), _bodies(folder.week.stub)
    for name in unwritten:
        if mine.get(name) and name in stub and mine[name] != stub[name]:
            yield (
                f"`{name}` contains code, but also still `raise NotImplementedError`: delete that "
                "line when you are done."
            )


def _bodies(source: str) -> dict[str, list[str]]:
    """Return each definition's statements as text, without docstrings and the stub's `raise`."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    return {
        node.name: [ast.dump(s) for s in node.body if not _is_stub_statement(s)]
        for node in tree.body
        if isinstance(node, Definition)
    }


def _is_stub_statement(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Raise) and "NotImplementedError" in ast.dump(statement)


def _defined_in_notebook(folder: WeekFolder, unwritten: Sequence[str]) -> Iterator[str]:
    path = folder.path / f"{folder.week.week}.ipynb"
    try:
        if not unwritten or path.stat().st_size > _MAX_NOTEBOOK:
            return
        cells = json.loads(path.read_bytes())["cells"]
        code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return
    defined = {name for source in code for name in _DEFINITION.findall(source)}
    if names := [f"`{name}`" for name in unwritten if name in defined]:
        yield (
            f"{path.name} defines {', '.join(names)}, but only {folder.week.module} is checked: "
            "move the code there."
        )
