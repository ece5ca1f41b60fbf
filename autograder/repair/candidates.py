"""The small changes of a program's own code among which a mistake's place is looked for.

The operators are public: an axis, an operand, a comparison, a scale, a cast, a missing line. No
text of a solution is in them, and what a change puts in is shown to nobody: what is told is where
it stands, and of what kind it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from .edit_pairs import together
from .operators.statement_edits import statements
from .operators.table import OPERATORS
from .source_text import NO_PYTHON, Pieces, Scope, parsed, scopes

_MOST = 4000
_MOST_NODES = 3000  # of a function: nobody writes a longer one for an exercise
_STATEMENT = {"lost result": 0.8, "in place": 1.0, "missing step": 1.3, "order of values": 1.3}
_STATEMENT |= {"sum over rounds": 1.0, "given back": 1.0, "order of lines": 1.0, "refusal": 1.2}
_STATEMENT |= {"device": -0.3}
_CONSTRUCTOR = 1.5


@dataclass(frozen=True)
class Change:
    """A variant of a module. `weight`: the lower, the sooner it should be tried.

    pieces: what replaces which bytes of the module, from the last to the first
    more: other lines that it changes with the first
    """

    line: int
    function: str
    kind: str
    weight: float
    pieces: Pieces
    more: tuple[int, ...] = ()

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        """The lines that it changes, each with its function."""
        return frozenset((self.function, n) for n in (self.line, *self.more))

    def applied(self, data: bytes) -> bytes:
        """The module with the change made."""
        for start, end, text in self.pieces:
            data = data[:start] + text + data[end:]
        return data

    def joined(self, other: Change) -> Change | None:
        """Both changes in one; None where one is within the other."""
        for start, end, _ in self.pieces:
            if any(start < stop and begin < end for begin, stop, _ in other.pieces):
                return None
        pieces = tuple(sorted((*self.pieces, *other.pieces), reverse=True))
        return replace(self, pieces=pieces, more=(*self.more, other.line, *other.more))


def changes(source: str, exercise: str, others: frozenset[str] = frozenset()) -> list[Change]:
    """The changes of an exercise's definition and what it uses but for `others`, likeliest first.

    Nothing where the module cannot be parsed or lacks the exercise.
    """
    try:
        code = parsed(source)
    except NO_PYTHON:
        return []
    found: list[Change] = []
    seen: set[Pieces] = set()
    for scope in scopes(code, code.reached(exercise, others - {exercise})):
        for change in _of_scope(scope):
            if change.pieces not in seen:
                seen.add(change.pieces)
                found.append(change)
            if len(found) >= _MOST:
                break
    return sorted(found, key=lambda c: c.weight)


def essential(source: str, names: Iterable[str]) -> bytes:
    """A module in which all that these definitions do without is blank; the changes fit it too."""
    try:
        return parsed(source).essential(names)
    except NO_PYTHON:
        return source.encode("utf-8", "replace")


def _of_scope(scope: Scope) -> Iterator[Change]:
    late = _CONSTRUCTOR if scope.name.endswith("__init__") else 0.0
    nodes = list(islice(scope.walk(), _MOST_NODES + 1))
    if len(nodes) > _MOST_NODES:
        return
    for node in nodes:
        if isinstance(node, ast.stmt):
            for kind, text in statements(node, scope):
                weight = _STATEMENT.get(kind, 1.8) + late
                yield _change(scope, node, kind, text, weight)
        elif isinstance(node, ast.expr) and _replaceable(node, scope):
            for operator, weight in OPERATORS:
                for kind, text in operator(node, scope):
                    yield _change(scope, node, kind, f"({text})", weight + late)
    for line, kind, weight, pieces, more in together(scope, nodes):
        yield Change(line, scope.name, kind, weight + late, pieces, more)


def _change(scope: Scope, node: ast.expr | ast.stmt, kind: str, text: str, weight: float) -> Change:
    return Change(node.lineno, scope.name, kind, weight, scope.code.pieces((node, text)))


def _replaceable(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression in brackets can stand there."""
    if isinstance(node, (ast.Starred, ast.Slice)):
        return False
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return False
    return not (isinstance(node, ast.Tuple) and isinstance(scope.parents.get(node), ast.Subscript))
