"""Read from a module's syntax tree which exercise calls which.

An exercise calls another one if its definition contains the other's name, directly or in a private
function of the module that it reaches. There is no list to maintain by hand: the calls of each
program are read from its source.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType

from ...model.source.reachable import parse_bounded

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class CallGraph:
    """The exercises that each exercise calls directly."""

    calls: Mapping[str, frozenset[str]]

    def reached(self, exercise: str) -> frozenset[str]:
        """Return the exercises that an exercise calls, directly or indirectly, except itself."""
        return _reachable(exercise, lambda e: self.calls.get(e, ())) - {exercise}

    def with_calls(self, more: Mapping[str, frozenset[str]]) -> CallGraph:
        """Return a copy of the graph with more calls, such as those that hidden tests make."""
        calls = {e: self.calls.get(e, frozenset()) | found for e, found in more.items()}
        return CallGraph({**self.calls, **calls})


def read_call_graph(source: str, exercises: Collection[str]) -> CallGraph:
    """Read the calls in a module; return an empty graph if it cannot be parsed or is too long."""
    tree = parse_bounded(source)
    uses: dict[str, set[str]] = {}
    for name, node in _definitions(tree.body if tree is not None else ()):
        found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        uses.setdefault(name, set()).update(found)
    everything = set(exercises)

    def called(exercise: str) -> frozenset[str]:
        # An exercise consists of the definitions that it reaches without passing another exercise.
        parts = _reachable(exercise, lambda name: (uses[name] & uses.keys()) - everything)
        return frozenset().union(*(uses[part] for part in parts)) & everything - {exercise}

    return CallGraph({e: called(e) & uses.keys() for e in exercises if e in uses})


def named_in(function: FunctionType, exercises: Collection[str]) -> frozenset[str]:
    """Return the exercises that a test names, directly or in a function of its module."""
    waiting, seen, found = [function], set[FunctionType](), set[str]()
    while waiting:
        current = waiting.pop()
        seen.add(current)
        names = set(_names_in_code(current.__code__))
        found |= names & set(exercises)
        called = (current.__globals__.get(n) for n in names)
        waiting += [f for f in called if isinstance(f, FunctionType) and f not in seen]
    return frozenset(found)


def _names_in_code(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in_code(constant)
        elif isinstance(constant, str):
            yield constant.split(".")[0]


def _definitions(body: Iterable[ast.stmt]) -> Iterator[tuple[str, Definition]]:
    """Yield every definition of a module, also those under `if` or `try`."""
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


def _reachable(start: str, successors: Callable[[str], Iterable[str]]) -> frozenset[str]:
    waiting, seen = [start], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += successors(name)
    return frozenset(seen)
