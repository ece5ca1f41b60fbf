"""Analyse the student's module: the statements of an exercise, and the exercises it uses.

The fingerprint of an exercise covers its definition and every top-level name that it reaches in the
module, without comments, docstrings and layout. It changes whenever the behaviour may have changed.
"""

from __future__ import annotations

import ast
import hashlib
from functools import lru_cache

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def fingerprints(source: str, exercises: tuple[str, ...]) -> dict[str, str]:
    """Return a fingerprint per exercise; raise SyntaxError if the module is not Python."""
    return {e: _fingerprint(statements_of(source, e)) for e in exercises}


def statements_of(source: str, exercise: str) -> list[ast.stmt]:
    """Return the top-level statements that an exercise reaches, and those without a name."""
    tree = _parsed(source)
    binding: dict[str, list[ast.stmt]] = {}
    always: list[ast.stmt] = []
    for statement in tree.body:
        names = _bound_names(statement)
        for name in names:
            binding.setdefault(name, []).append(statement)
        if not names and not _is_text(statement):
            always.append(statement)
    reached, left = set(map(id, always)), [exercise, *_used_names(always)]
    seen: set[str] = set()
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            reached |= set(map(id, binding.get(name, ())))
            left += _used_names(binding.get(name, []))
    return [s for s in tree.body if id(s) in reached]


def used(source: str, exercise: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of the `others` an exercise uses, directly or indirectly."""
    reached = {name for s in statements_of(source, exercise) for name in _bound_names(s)}
    called = set(_used_names(statements_of(source, exercise)))
    return tuple(n for n in others if n != exercise and n in reached and n in called)


@lru_cache(maxsize=4)
def _parsed(source: str) -> ast.Module:
    """Parse without docstrings. The cached tree must not be changed."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, Definition) and len(node.body) > 1 and _is_text(node.body[0]):
            node.body = node.body[1:]
    return tree


def span(source: str, name: str) -> tuple[int, int] | None:
    """Return the first and last line (from 1) of the last top-level definition of that name."""
    found = None
    for node in _parsed(source).body:
        if isinstance(node, Definition) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found = first, node.end_lineno or node.lineno
    return found


def _bound_names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, Definition):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [(a.asname or a.name).split(".")[0] for a in statement.names]
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return []


def _used_names(statements: list[ast.stmt]) -> list[str]:
    return [n.id for s in statements for n in ast.walk(s) if isinstance(n, ast.Name)]


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _fingerprint(statements: list[ast.stmt]) -> str:
    text = "\n".join(ast.dump(s) for s in statements)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
