"""What an exercise says, whatever its author called things: the same for programs that do the same.

Two texts count as alike only if one becomes the other by renaming local names, by other comments,
docstrings and blank lines, or by another order of definitions. So a change of the one is a change
of the other, on the line that corresponds to it. Nothing that anybody else can see is renamed:
parameters, attributes, keywords, nested functions, names of the module.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from .source_text import NO_PYTHON, Code, Definition, parsed

_LOOKS_AT_NAMES = {"locals", "vars", "dir", "eval", "exec", "globals"}
_SAYS_NOTHING = {"type_comment", "kind", "ctx", "type_ignores"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Wording:
    """words: what is alike in texts that are alike. lines: of this one, those that correspond."""

    words: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()


def wording(source: str, exercise: str, others: frozenset[str] = frozenset()) -> Wording:
    """What an exercise, what it uses but for `others`, and what runs on import say.

    Nothing where the module cannot be parsed.
    """
    try:
        code = parsed(source)
        used = sorted(code.reached(exercise, others - {exercise}), key=lambda d: d.name)
        plain = (s for s in code.tree.body if not isinstance(s, Definition))
        on_import = [s for s in plain if not _is_text(s)]
        outside = _of_the_module(code)
        read = [_read(part, outside) for part in (*used, *on_import)]
    except NO_PYTHON:
        return Wording()
    lines = chain.from_iterable(r.lines for r in read)
    return Wording(tuple("".join(r.words) for r in read), tuple(lines))


def wording_of_module(source: str) -> tuple[str, ...]:
    """Return what all of a module says; nothing where it cannot be parsed."""
    try:
        code = parsed(source)
        outside = _of_the_module(code)
        return tuple("".join(_read(part, outside).words) for part in code.tree.body)
    except NO_PYTHON:
        return ()


def _of_the_module(code: Code) -> frozenset[str]:
    names = set(code.definitions)
    for statement in code.tree.body:
        if not isinstance(statement, Definition):
            names |= set(_bound(statement)) | _imported(statement)
    return frozenset(names | set(dir(builtins)))


def _read(part: ast.stmt, outside: frozenset[str]) -> _Reader:
    reader = _Reader(part, outside)
    reader.read(part)
    return reader


class _Reader:
    """Reads a definition or a statement of the module."""

    def __init__(self, part: ast.AST, outside: frozenset[str]) -> None:
        placed = (n.lineno for n in _running(part) if hasattr(n, "lineno"))
        self.lines = sorted(set(placed))
        self.words: list[str] = []
        self._places = {line: place for place, line in enumerate(self.lines)}
        self._outside = outside
        self._names: dict[str, str] = {}
        self._within = False

    def read(self, node: ast.AST) -> None:
        if isinstance(node, _Function) and not self._within:
            self._names, self._within = _names(node, self._outside), True
            self._parts(node)
            self._names, self._within = {}, False
        else:
            self._parts(node)

    def _parts(self, node: ast.AST) -> None:
        place = self._places.get(getattr(node, "lineno", 0), "")
        self.words.append(f"({type(node).__name__}{place}")
        for name, value in ast.iter_fields(node):
            if name in _SAYS_NOTHING:
                continue
            self.words.append(f" {name}=")
            if isinstance(value, list):
                kept = _without_text(value)
                self.words.append(f"{len(kept)}:")
                for one in kept:
                    self._value(node, name, one)
            else:
                self._value(node, name, value)
        self.words.append(")")

    def _value(self, node: ast.AST, field: str, value: object) -> None:
        if isinstance(value, ast.AST):
            self.read(value)
        elif isinstance(value, str) and (
            isinstance(node, ast.Name) or (isinstance(node, ast.ExceptHandler) and field == "name")
        ):
            self.words.append(self._name(value))
        else:
            self.words.append(repr(value))

    def _name(self, name: str) -> str:
        if name in self._names:
            # numbered as they are met, and no name in any program
            self._names[name] = self._names[name] or f"\0{sum(map(bool, self._names.values()))}"
            return self._names[name]
        return repr(name)


def _names(function: _Function, outside: frozenset[str]) -> dict[str, str]:
    """The names that only the function can see."""
    seen = set[str]()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in _LOOKS_AT_NAMES:
            return {}
        if isinstance(node, ast.arg):
            seen.add(node.arg)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            seen |= set(node.names)
        elif isinstance(node, (*_DEFINING, ast.MatchAs, ast.MatchStar)):
            seen.add(node.name or "")
        elif isinstance(node, ast.MatchMapping):
            seen.add(node.rest or "")
        seen |= _imported(node)
    return dict.fromkeys((n for n in _bound(function) if n not in seen and n not in outside), "")


_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _bound(part: ast.AST) -> Iterator[str]:
    for node in ast.walk(part):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _imported(node: ast.AST) -> set[str]:
    found = (n for n in ast.walk(node) if isinstance(n, ast.alias))
    return {(a.asname or a.name).split(".")[0] for a in found}


def _running(part: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a part, without its docstrings."""
    todo = [part]
    while todo:
        node = todo.pop()
        yield node
        for _, value in ast.iter_fields(node):
            values: Iterable[object] = _without_text(value) if isinstance(value, list) else [value]
            todo += [v for v in values if isinstance(v, ast.AST)]


def _without_text(values: list[object]) -> list[object]:
    return [v for v in values if not _is_text(v)]


def _is_text(statement: object) -> bool:
    constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return constant and isinstance(statement.value.value, str)  # type: ignore[attr-defined]
