"""Normalise an exercise's code, so that programs that differ only in their wording are equal.

Two texts have the same normal form only if one becomes the other by renaming local names, by other
comments, docstrings and blank lines, or by a different order of definitions. So an edit of one is
an edit of the other, on the corresponding line. Names that other code can see are not renamed:
parameters, attributes, keywords, nested functions, names of the module.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from .source_text import UNPARSABLE, Code, Definition

_LOOKS_AT_NAMES = {"locals", "vars", "dir", "eval", "exec", "globals"}
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class NormalForm(NamedTuple):
    """words: equal for equal programs. lines: this program's, corresponding to the other's."""

    words: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()


def normal_form(source: str, exercise: str, foreign: frozenset[str] = frozenset()) -> NormalForm:
    """Normalise an exercise, its helpers except `foreign`, and statements that run on import.

    The form is empty if the module cannot be parsed.
    """
    try:
        code = Code(source)  # parsed for this purpose, because names are replaced in the tree
        outside = _visible_names(code)
        used = sorted(code.reachable(exercise, foreign - {exercise}), key=lambda d: d.name)
        on_import = (s for s in code.tree.body if not isinstance(s, Definition))
        parts = [*used, *(s for s in on_import if not _is_docstring(s))]
        forms = [_normalised(part, outside) for part in parts]
    except UNPARSABLE:
        return NormalForm()
    lines = chain.from_iterable(lines for _, lines in forms)
    return NormalForm(tuple(words for words, _ in forms), tuple(lines))


def normal_form_of_module(source: str) -> tuple[str, ...]:
    """Normalise a whole module; the form is empty if it cannot be parsed."""
    try:
        code = Code(source)
        outside = _visible_names(code)
        return tuple(_normalised(part, outside)[0] for part in code.tree.body)
    except UNPARSABLE:
        return ()


def _visible_names(code: Code) -> frozenset[str]:
    names = set(code.definitions)
    for statement in code.tree.body:
        if not isinstance(statement, Definition):
            names |= set(_bound_names(statement)) | _imported_names(statement)
    return frozenset(names | set(dir(builtins)))


def _normalised(part: ast.stmt, outside: frozenset[str]) -> tuple[str, list[int]]:
    """Return a statement in words, with the rank of each node's line, and its lines."""
    _Renamer(outside).visit(part)
    placed = [n.lineno for n in ast.walk(part) if hasattr(n, "lineno")]
    lines = sorted(set(placed))
    ranks = {line: str(rank) for rank, line in enumerate(lines)}
    return f"{ast.dump(part)} {' '.join(ranks[n] for n in placed)}", lines


class _Renamer(ast.NodeVisitor):
    """Numbers the local names of functions as they are met, and removes docstrings."""

    def __init__(self, outside: frozenset[str]) -> None:
        self._outside = outside
        self._names: dict[str, str] | None = None

    def generic_visit(self, node: ast.AST) -> None:
        for body in (v for _, v in ast.iter_fields(node) if isinstance(v, list)):
            body[:] = [v for v in body if not _is_docstring(v)]
        outermost = isinstance(node, _Function) and self._names is None
        if outermost:
            assert isinstance(node, _Function)
            self._names = dict.fromkeys(_local_names(node, self._outside), "")
        if isinstance(node, ast.Name):
            node.id = self._name(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            node.name = self._name(node.name)
        super().generic_visit(node)
        if outermost:
            self._names = None

    def _name(self, name: str) -> str:
        if self._names is None or name not in self._names:
            return name
        if not self._names[name]:  # no program can contain a name that starts like this
            self._names[name] = f"\0{sum(map(bool, self._names.values()))}"
        return self._names[name]


def _local_names(function: _Function, outside: frozenset[str]) -> list[str]:
    """Return the names that only the function can see."""
    visible = set(outside)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in _LOOKS_AT_NAMES:
            return []
        if isinstance(node, ast.arg):
            visible.add(node.arg)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            visible |= set(node.names)
        elif isinstance(node, (*_DEFINING, ast.MatchAs, ast.MatchStar)):
            visible.add(node.name or "")
        elif isinstance(node, ast.MatchMapping):
            visible.add(node.rest or "")
    visible |= _imported_names(function)
    return [n for n in _bound_names(function) if n not in visible]


def _bound_names(part: ast.AST) -> Iterator[str]:
    for node in ast.walk(part):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _imported_names(node: ast.AST) -> set[str]:
    found = (n for n in ast.walk(node) if isinstance(n, ast.alias))
    return {(a.asname or a.name).split(".")[0] for a in found}


def _is_docstring(statement: object) -> bool:
    match statement:
        case ast.Expr(ast.Constant(str())):
            return True
    return False
