"""Calls that would do an exercise for the student, seen in the source before they cost points.

The graders see calls when they happen, whatever they are called. Here only plain ones are seen:
`torch.softmax(x)`, `x.softmax(-1)`, or an imported name.
"""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase

from .results import Failure, Outcome
from .source import statements_of


def forbidden(source: str, exercise: str, patterns: tuple[str, ...]) -> Outcome | None:
    """A failed outcome for the first call that matches, else None."""
    imported = _imported_names(ast.parse(source))
    calls = [
        node
        for statement in statements_of(source, exercise)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
    ]
    for call in sorted(calls, key=lambda c: (c.lineno, c.col_offset)):
        name = _library_name(call.func, imported)
        if name and any(fnmatchcase(name, p) for p in patterns):
            shown = ast.unparse(call.func)[:60]
            failure = Failure("forbidden", shown, line=call.lineno)
            return Outcome("", exercise, "only what is allowed", failure)
    return None


def _imported_names(tree: ast.Module) -> dict[str, str]:
    return {
        a.asname or a.name: a.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for a in node.names
    }


def _library_name(function: ast.expr, imported: dict[str, str]) -> str:
    """What is called, where it is not the student's own."""
    if isinstance(function, ast.Name):
        return imported.get(function.id, "")
    if isinstance(function, ast.Attribute):
        root = function.value
        while isinstance(root, ast.Attribute):
            root = root.value
        own = isinstance(root, ast.Name) and root.id in ("self", "cls")
        return "" if own else function.attr
    return ""
