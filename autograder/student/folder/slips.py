"""Accidents that no check sees: code in the wrong file, a newer copy, a file not saved."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Sequence

from ..checks.results import ExerciseResult
from .week import WeekFolder

_LARGEST = 8 << 20  # a notebook with its figures has less
_DEFINES = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)


def slips(
    folder: WeekFolder, results: Sequence[ExerciseResult], unchanged: Collection[str]
) -> tuple[str, ...]:
    """What may have gone wrong, one sentence each.

    unchanged: the exercises that were checked before with the very same file
    """
    left = [r for r in results if r.state != "pass"]
    if not left:
        return ()
    said = [*_copied(folder), *_in_the_notebook(folder, left), *_still_raises(folder, left)]
    if not said and all(r.name in unchanged for r in left):
        said.append(f"{folder.week.module} is the same as at your last check: is it saved?")
    return tuple(said)


def _copied(folder: WeekFolder) -> Iterator[str]:
    for copy in folder.newer_copies():
        yield f"{copy.name} is newer than {folder.week.module}: only {folder.week.module} counts."
    for other in folder.newer_elsewhere():
        yield f"{other} is newer than the file that is checked here: which one do you work in?"


def _still_raises(folder: WeekFolder, left: Sequence[ExerciseResult]) -> Iterator[str]:
    """Exercises that hold code, and the stub's last line below it."""
    own, stub = _definitions(folder.source()), _definitions(folder.week.stub)
    for name in (r.name for r in left if r.state == "open"):
        if own.get(name) and name in stub and own[name] != stub[name]:
            yield (
                f"`{name}` holds code of yours and still a `raise NotImplementedError`: delete "
                "that line where you are done."
            )


def _definitions(source: str) -> dict[str, list[str]]:
    """What the functions and classes of a module do, without layout, comments and stand-ins."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    found = [n for n in tree.body if isinstance(n, kinds)]
    return {n.name: [ast.dump(s) for s in n.body if not _stands_in(s)] for n in found}


def _stands_in(statement: ast.stmt) -> bool:
    """Return whether it is a docstring, or raises what a stub raises."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Raise) and "NotImplementedError" in ast.dump(statement)


def _in_the_notebook(folder: WeekFolder, left: Sequence[ExerciseResult]) -> Iterator[str]:
    unwritten = [r.name for r in left if r.state == "open"]
    written = _defined(folder) if unwritten else set()
    names = [f"`{name}`" for name in unwritten if name in written]
    if names:
        yield (
            f"{folder.week.week}.ipynb defines {', '.join(names)}, but only {folder.week.module} "
            "is checked: write it there."
        )


def _defined(folder: WeekFolder) -> set[str]:
    """The functions and classes that the notebook's own code cells define."""
    path = folder.path / f"{folder.week.week}.ipynb"
    try:
        if path.stat().st_size > _LARGEST:
            return set()
        cells = json.loads(path.read_bytes())["cells"]
        code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()
    return {name for source in code for name in _DEFINES.findall(source)}
