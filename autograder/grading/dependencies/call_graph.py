"""Which exercise calls which, read from a module's syntax tree.

An exercise calls another if its definition reaches that one's name, itself or through private
functions of the module. Nothing is listed by hand: a new exercise, or another style of the same
one, brings its own calls.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType

from ...model.source.reachable import MOST_SIGNS, signs_in

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Dependence:
    """The exercises that each exercise calls directly, and the lines that are its own."""

    calls: Mapping[str, frozenset[str]]
    _spans: Mapping[str, tuple[tuple[int, int], ...]]

    def reached(self, exercise: str) -> frozenset[str]:
        """All exercises that run where this one does, itself left out."""
        waiting, seen = list(self.calls.get(exercise, ())), set[str]()
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += self.calls.get(name, ())
        return frozenset(seen - {exercise})

    def asking(self, asked: Mapping[str, frozenset[str]]) -> Dependence:
        """The same, where the tests of an exercise call others too."""
        calls = {e: self.calls.get(e, frozenset()) | more for e, more in asked.items()}
        return Dependence({**self.calls, **calls}, self._spans)

    def owns(self, exercise: str, line: int) -> bool:
        """Return True if the line stands in the exercise, or in a private function of its own."""
        return any(first <= line <= last for first, last in self._spans.get(exercise, ()))


NOTHING = Dependence({}, {})


def dependence(source: str, exercises: Collection[str]) -> Dependence:
    """Read a module; nothing is known of one that Python cannot read, or that is too long."""
    if signs_in(source) > MOST_SIGNS:
        return NOTHING
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return NOTHING
    definitions: dict[str, list[Definition]] = {}
    for name, node in _definitions(tree.body):
        definitions.setdefault(name, []).append(node)
    uses = {
        name: set[str]().union(*map(_names, nodes)) & definitions.keys()
        for name, nodes in definitions.items()
    }
    own = {e: _private(e, uses, exercises) for e in exercises if e in definitions}
    return Dependence(
        {
            e: frozenset().union(*(uses[d] for d in ds)) & set(exercises) - {e}
            for e, ds in own.items()
        },
        {e: tuple(_span(n) for d in ds for n in definitions[d]) for e, ds in own.items()},
    )


def named_in(function: FunctionType, exercises: Collection[str]) -> frozenset[str]:
    """The exercises that a test names, itself or in a function of its module that it calls."""
    waiting, seen, found = [function], set[FunctionType](), set[str]()
    while waiting:
        one = waiting.pop()
        seen.add(one)
        names = set(_names_of(one.__code__))
        found |= names & set(exercises)
        called = (one.__globals__.get(n) for n in names)
        waiting += [f for f in called if isinstance(f, FunctionType) and f not in seen]
    return frozenset(found)


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_of(constant)
        elif isinstance(constant, str):
            yield constant.split(".")[0]


def _definitions(body: Iterable[ast.stmt]) -> Iterator[tuple[str, Definition]]:
    """Yield what a module defines by name, also under `if` or `try`, and each time anew."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, node
        else:
            inner = (getattr(node, field, ()) for field in ("body", "orelse", "finalbody"))
            yield from _definitions(s for part in inner for s in part)


def _private(
    exercise: str, uses: Mapping[str, set[str]], exercises: Collection[str]
) -> frozenset[str]:
    """The exercise and the definitions that it reaches without passing through another one."""
    waiting, seen = [exercise], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += uses[name] - set(exercises)
    return frozenset(seen)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _span(node: Definition) -> tuple[int, int]:
    return node.lineno, node.end_lineno or node.lineno
