"""The small changes of a program's own code among which a mistake's place is looked for.

The operators are public: an axis, an operand, a comparison, a scale, a cast, a missing line. No
text of a solution is in them, and what a change puts in is shown to nobody: what is told is where
it stands, and of what kind it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .code import Code, Pieces, Scope, scopes
from .expressions import OPERATORS
from .statements import statements

_MOST = 4000
_STATEMENT = {"lost result": 0.8, "in place": 1.0, "missing step": 1.3, "order of values": 1.3}
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

    def applied(self, data: bytes) -> bytes:
        """The module with the change made."""
        for start, end, text in self.pieces:
            data = data[:start] + text + data[end:]
        return data


def changes(source: str, exercise: str, others: frozenset[str] = frozenset()) -> list[Change]:
    """The changes of an exercise's definition and what it uses but for `others`, likeliest first.

    Nothing where the module cannot be parsed or lacks the exercise.
    """
    try:
        code = Code(source)
    except (SyntaxError, ValueError, RecursionError):
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


def _of_scope(scope: Scope) -> Iterator[Change]:
    late = _CONSTRUCTOR if scope.name.endswith("__init__") else 0.0
    nodes = list(scope.walk())
    for node in nodes:
        if isinstance(node, ast.stmt):
            for kind, text in statements(node, scope):
                weight = _STATEMENT.get(kind, 1.8) + late
                yield _change(scope, node, kind, text, weight)
        elif isinstance(node, ast.expr) and _replaceable(node, scope):
            for operator, weight in OPERATORS:
                for kind, text in operator(node, scope):
                    yield _change(scope, node, kind, f"({text})", weight + late)
    yield from _together(scope, nodes, late)


def _change(scope: Scope, node: ast.expr | ast.stmt, kind: str, text: str, weight: float) -> Change:
    return Change(node.lineno, scope.name, kind, weight, scope.code.pieces((node, text)))


def _replaceable(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression in brackets can stand there."""
    if isinstance(node, (ast.Starred, ast.Slice)):
        return False
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return False
    return not (isinstance(node, ast.Tuple) and isinstance(scope.parents.get(node), ast.Subscript))


def _together(scope: Scope, nodes: list[ast.AST], late: float) -> Iterator[Change]:
    """One mistake made in several places: the same call everywhere, two texts exchanged."""
    layers = [n for n in nodes if isinstance(n, ast.Call) and _plain_layer(n)]
    if len(layers) > 1:
        replaced = [(n, f"{scope.code.text(n)[:-1].rstrip(', ')}, bias=False)") for n in layers]
        pieces = scope.code.pieces(*replaced)
        more = tuple(sorted({n.lineno for n in layers[1:]}))
        yield Change(layers[0].lineno, scope.name, "bias", 1.0 + late, pieces, more)
    yield from _axes_together(scope, nodes, late)
    words = [n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    for number, first in enumerate(words[:8]):
        for second in words[number + 1 : 8]:
            if first.value != second.value:
                exchanged = (first, repr(second.value)), (second, repr(first.value))
                pieces = scope.code.pieces(*exchanged)
                yield Change(first.lineno, scope.name, "text", 2.0 + late, pieces)


def _plain_layer(node: ast.Call) -> bool:
    named = isinstance(node.func, ast.Attribute) and node.func.attr == "Linear"
    return named and not any(k.arg == "bias" for k in node.keywords)


def _axes_together(scope: Scope, nodes: list[ast.AST], late: float) -> Iterator[Change]:
    """One wrong axis in several calls."""
    given: dict[str, list[ast.expr]] = {}
    for node in nodes:
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg in ("dim", "axis"):
                given.setdefault(scope.code.text(keyword.value), []).append(keyword.value)
    for text, found in given.items():
        places = sorted(found, key=lambda p: p.lineno)
        for other in dict.fromkeys((scope.axis, "-1", "-2")) if len(places) > 1 else ():
            if other != text:
                pieces = scope.code.pieces(*((p, other) for p in places))
                more = tuple(sorted({p.lineno for p in places[1:]} - {places[0].lineno}))
                yield Change(places[0].lineno, scope.name, "axis", 1.0 + late, pieces, more)
