"""What a module of the kit imports of the kit, lazily or not, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def closure(roots: Iterable[str], stop: frozenset[str] = frozenset()) -> set[str]:
    """The modules that `roots` need, with the packages they stand in; nothing behind `stop`."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found or name in stop or _path(name) is None:
            continue
        found.add(name)
        waiting += [name.rpartition(".")[0], *_imported(name)]
    return found


def _path(name: str) -> Path | None:
    base = ROOT.joinpath(*name.split(".")) if name else ROOT / "nowhere"
    return next((p for p in (base / "__init__.py", base.with_suffix(".py")) if p.is_file()), None)


def _imported(name: str) -> Iterator[str]:
    path = _path(name)
    assert path is not None
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield start
            yield from (f"{start}.{alias.name}" for alias in node.names)


# What a student starts, by command or from a notebook.
STARTED = (
    "autograder",
    "autograder.__main__",
    "autograder.cli.student",
    "autograder.student.runner",
    "autograder.student.capstone",
)
# The door to the commands of instructors, which the wheel finds closed.
CLOSED = frozenset({"autograder.cli.project"})
