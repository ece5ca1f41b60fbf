"""Normalise a module, so that changed names, comments and layout do not hide a copy.

Names that Python does not define itself become one name. Comments, docstrings and imports are left
out.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from dataclasses import dataclass

_TOKEN = re.compile(r"[^\W\d]\w*|[\d.]+|[^\w\s]")
_KEPT = frozenset(keyword.kwlist) | frozenset(dir(builtins))


@dataclass(frozen=True)
class ModulePart:
    """A top-level definition, or another top-level statement (name ""): its lines and tokens."""

    name: str
    lines: range
    words: frozenset[str]  # all names, as written
    tokens: tuple[tuple[str, int], ...]  # with their lines


def module_parts(source: str) -> list[ModulePart]:
    """Return the parts of a module; a module that is not valid Python is one part."""
    lines = source.split("\n")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [_part("", range(1, len(lines) + 1), lines, set())]
    ignored: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
            ignored.update(_lines(node))
    return [
        _part(getattr(statement, "name", ""), _lines(statement), lines, ignored)
        for statement in tree.body
        if not isinstance(statement, ast.Import | ast.ImportFrom)
        and statement.lineno not in ignored
    ]


def _lines(statement: ast.stmt) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _part(name: str, numbers: range, lines: list[str], ignored: set[int]) -> ModulePart:
    found = [
        (token, number)
        for number in numbers
        if number not in ignored
        for token in _TOKEN.findall(lines[number - 1].partition("#")[0])
    ]
    tokens = ((_normalized(token), number) for token, number in found)
    return ModulePart(name, numbers, frozenset(token for token, _ in found), tuple(tokens))


def _normalized(token: str) -> str:
    return "name" if token.isidentifier() and token not in _KEPT else token
