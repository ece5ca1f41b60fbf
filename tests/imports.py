"""Read which modules of the kit import each other, at module level or lazily, from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def modules() -> list[str]:
    """Return all modules of the kit by dotted name, without the hidden graders."""
    paths = sorted((ROOT / "autograder").rglob("*.py"))
    names = [".".join(p.relative_to(ROOT).with_suffix("").parts) for p in paths]
    own = [n.removesuffix(".__init__") for n in names]
    return [n for n in own if n.split(".")[1:2] != ["graders"]]


def imported(name: str) -> set[str]:
    """Return the modules of the kit that `name` imports, anywhere in its source.

    `from . import x` counts as x if x is a module, otherwise as the package.
    """
    return {m for m in _imported(name) if m != name and path_of(m) is not None}


def closure(roots: Iterable[str], stop: frozenset[str] = frozenset()) -> set[str]:
    """Return the modules that `roots` import, with their packages, without those behind `stop`."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found or name in stop or path_of(name) is None:
            continue
        found.add(name)
        waiting += [name.rpartition(".")[0], *_imported(name)]
    return found


def path_of(name: str) -> Path | None:
    base = ROOT.joinpath(*name.split(".")) if name else ROOT / "nowhere"
    return next((p for p in (base / "__init__.py", base.with_suffix(".py")) if p.is_file()), None)


def _imported(name: str) -> Iterator[str]:
    path = path_of(name)
    assert path is not None
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{start}.{alias.name}"
                yield inner if path_of(inner) is not None else start
