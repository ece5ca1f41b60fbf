"""Analyse the student's module: the statements of an exercise, and the exercises it uses.

The fingerprint of an exercise covers its definition and every top-level name that it reaches in the
module, without comments, docstrings and layout. It changes whenever the behaviour may have changed.
The other functions raise SyntaxError or ValueError if the module is not valid Python.
"""

from __future__ import annotations

import ast
import hashlib
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def fingerprints(source: str, exercises: tuple[str, ...]) -> dict[str, str]:
    """Return a fingerprint per exercise, or {} if the module is not valid Python."""
    try:
        return {e: _fingerprint(statements_of(source, e)) for e in exercises}
    except (SyntaxError, ValueError):
        return {}


def statements_of(source: str, exercise: str) -> list[ast.stmt]:
    """Return the top-level statements that an exercise uses, and those that define no name."""
    body = [s for s in _parsed(source).body if not _is_text(s)]
    binding: dict[str, list[ast.stmt]] = defaultdict(list)
    for statement in body:
        for name in _bound_names(statement):
            binding[name].append(statement)
    always = [s for s in body if not _bound_names(s)]
    reached, left, seen = set(map(id, always)), [exercise, *_used_names(always)], set[str]()
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            reached |= set(map(id, binding[name]))
            left += _used_names(binding[name])
    return [s for s in body if id(s) in reached]


def used(source: str, exercise: str, others: Iterable[str]) -> tuple[str, ...]:
    """Return which of the `others` an exercise uses, directly or indirectly."""
    reached = {name for s in statements_of(source, exercise) for name in _bound_names(s)}
    return tuple(n for n in others if n != exercise and n in reached)


def span(source: str, name: str) -> tuple[int, int] | None:
    """Return the first and last line (from 1) of the last top-level definition of a name."""
    found = None
    for node in _parsed(source).body:
        if isinstance(node, Definition) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found = first, node.end_lineno or node.lineno
    return found


def statement_counts(source: str) -> dict[str, int]:
    """Return the number of statements in each top-level definition, without docstrings."""
    return {
        node.name: sum(isinstance(n, ast.stmt) for n in ast.walk(node))
        for node in _parsed(source).body
        if isinstance(node, Definition)
    }


@lru_cache(maxsize=4)
def _parsed(source: str) -> ast.Module:
    """Parse a module and remove docstrings. Do not modify the cached tree."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, Definition) and len(node.body) > 1 and _is_text(node.body[0]):
            node.body = node.body[1:]
    return tree


def _bound_names(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Import() | ast.ImportFrom():
            return [(a.asname or a.name).split(".")[0] for a in statement.names]
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            names = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
            return [n.id for n in names if isinstance(n.ctx, ast.Store)]
    return []


def _used_names(statements: list[ast.stmt]) -> list[str]:
    return [n.id for s in statements for n in ast.walk(s) if isinstance(n, ast.Name)]


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _fingerprint(statements: list[ast.stmt]) -> str:
    text = "\n".join(ast.dump(s) for s in statements)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
