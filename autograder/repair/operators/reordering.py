"""Changes of several places: out of a loop, into a call, on every load of a kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from ..source_text import Pieces, Scope
from .patterns import called, number

# The first line, the kind, the weight, what replaces what, other lines that it changes.
Moved = tuple[int, str, float, Pieces, tuple[int, ...]]
_MOST = 40
_MODES = ("eval", "train")


def moving(scope: Scope, nodes: list[ast.AST]) -> Iterator[Moved]:
    """All changes of this kind."""
    yield from _out_of_loops(scope, nodes)
    yield from _asked_before(scope, nodes)
    yield from _kept_for_later(scope, nodes)
    yield from _mode_given_back(scope, nodes)
    yield from _finite_maxima(scope, nodes)
    yield from _masked_loads(scope, nodes)


def _blocks(scope: Scope, nodes: list[ast.AST]) -> Iterator[list[ast.stmt]]:
    for node in (scope.node, *nodes):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield [s for s in block if isinstance(s, ast.stmt)]


def _reads(node: ast.AST) -> set[str]:
    names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(n.ctx, ast.Load)}


def _stores(node: ast.AST) -> set[str]:
    names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(n.ctx, ast.Store)}


def _out_of_loops(scope: Scope, nodes: list[ast.AST]) -> Iterator[Moved]:
    """What is made anew in every round, made once before; what is made once, in every round."""
    code = scope.code
    for loop in (n for n in nodes if isinstance(n, (ast.For, ast.While))):
        indent = " " * loop.col_offset
        head = code.span(loop)[0]
        for first in loop.body[:3]:
            rounds = _stores(loop.target) if isinstance(loop, ast.For) else set()
            if isinstance(first, ast.Assign) and not _reads(first.value) & rounds:
                made = (head, head, f"{code.text(first)}\n{indent}".encode())
                pieces = tuple(sorted((*code.pieces((first, "pass")), made), reverse=True))
                yield first.lineno, "order of lines", 1.3, pieces, ()
    for block in _blocks(scope, nodes):
        for before, after in pairwise(block):
            does = isinstance(before, ast.Expr) and isinstance(before.value, ast.Call)
            movable = does or isinstance(before, ast.Assign)
            if movable and isinstance(after, (ast.For, ast.While)):
                start = code.span(after.body[0])[0]
                inner = " " * after.body[0].col_offset
                made = (start, start, f"{code.text(before)}\n{inner}".encode())
                pieces = tuple(sorted((*code.pieces((before, "pass")), made), reverse=True))
                if after.body[0].lineno > after.lineno:
                    weight = 0.9 if does else 1.5  # few lines make nothing and only do something
                    yield before.lineno, "order of lines", weight, pieces, ()


def _asked_before(scope: Scope, nodes: list[ast.AST]) -> Iterator[Moved]:
    """A refusal in the middle of a loop: before it, for all of its rounds."""
    code = scope.code
    for loop in (n for n in nodes if isinstance(n, ast.For) and called(n.iter) == "range"):
        rounds = loop.iter.args  # type: ignore[attr-defined]  # a call
        for test in (s for s in loop.body if isinstance(s, ast.If) and len(rounds) == 1):
            refused = test.body[0]
            compared = test.test
            if not isinstance(refused, ast.Raise) or not isinstance(compared, ast.Compare):
                continue
            head, indent = code.span(loop)[0], " " * loop.col_offset
            left, right = code.text(compared.left), code.text(compared.comparators[0])
            full = f"if ({left}) + ({code.text(rounds[0])}) > ({right}):"
            text = f"{full}\n{indent}    {code.text(refused)}\n{indent}"
            pieces = ((head, head, text.encode()),)
            yield test.lineno, "order of lines", 0.9, pieces, ()


def _kept_for_later(scope: Scope, nodes: list[ast.AST]) -> Iterator[Moved]:
    """A name that gets another value too soon: the value only where a call takes it."""
    code = scope.code
    for block in _blocks(scope, nodes):
        for first, second in pairwise(block):
            if not isinstance(first, ast.Assign) or not isinstance(first.targets[0], ast.Name):
                continue
            name = first.targets[0].id
            if name not in _reads(first.value) or "\n" in code.text(first):
                continue
            uses = [n for n in ast.walk(second) if isinstance(n, ast.Name) and n.id == name]
            uses = [n for n in uses if isinstance(n.ctx, ast.Load)]
            for use in uses if len(uses) > 1 else ():
                if isinstance(scope.parents.get(use), ast.Call):
                    pieces = code.pieces((first, "pass"), (use, f"({code.text(first.value)})"))
                    yield first.lineno, "overwritten", 1.2, pieces, (second.lineno,)


def _mode_given_back(scope: Scope, nodes: list[ast.AST]) -> Iterator[Moved]:
    """The mode that a model came with, in the place of one that is set at last."""
    calls = [
        n
        for n in nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in _MODES
        if isinstance(n.func.value, ast.Name) and isinstance(scope.parents.get(n), ast.Expr)
    ]
    calls.sort(key=lambda n: n.lineno)
    if len(calls) < 2:
        return
    first, last = calls[0], calls[-1]
    model = scope.code.text(first.func.value)  # type: ignore[attr-defined]  # a method
    if model != scope.code.text(last.func.value):  # type: ignore[attr-defined]  # a method
        return
    kept = f"_came = {model}.training\n{' ' * first.col_offset}{scope.code.text(first)}"
    pieces = scope.code.pieces((first, kept), (last, f"{model}.train(_came)"))
    yield last.lineno, "missing step", 0.9, pieces, ()


def _finite_maxima(scope: Scope, nodes: list[ast.AST]) -> Iterator[Moved]:
    """A running maximum that is taken off while it still is infinite."""
    for library, _, new in scope.maxima:
        if library not in ("tl", "torch"):
            continue
        nothing = f'{library}.where({new} == float("-inf"), 0.0, {new})'
        found = [
            n
            for n in nodes
            if isinstance(n, ast.Name) and n.id == new and isinstance(n.ctx, ast.Load)
            if _is_taken_off(n, scope)
        ]
        if found:
            lines = sorted({n.lineno for n in found})
            pieces = scope.code.pieces(*((n, nothing) for n in found))
            yield lines[0], "infinity", 1.0, pieces, tuple(lines[1:])


def _is_taken_off(node: ast.AST, scope: Scope) -> bool:
    """Whether a name, or a part of it, stands on the right of a minus."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Subscript):
        node, parent = parent, scope.parents.get(parent)
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub) and parent.right is node


def _masked_loads(scope: Scope, nodes: list[ast.AST]) -> Iterator[Moved]:
    """Loads of a kernel whose mask leaves out one of the places that they go by."""
    loads = [n for n in nodes if called(n) == "load" and isinstance(n, ast.Call) and n.args]
    lacking: list[tuple[ast.expr, str]] = []
    for load in loads:
        mask = next((k.value for k in load.keywords if k.arg == "mask"), None)
        if mask is None:
            continue
        known = scope.code.text(mask)
        for part in ast.walk(load.args[0]):
            if isinstance(part, ast.Subscript) and scope.code.text(part) not in known:
                lacking.append((mask, scope.code.text(part)))
    for size in _bounds(scope, nodes) if lacking else ():
        replaced = {
            id(m): (m, f"({scope.code.text(m)}) & ({place} < {size})") for m, place in lacking
        }
        lines = sorted({m.lineno for m, _ in lacking})
        pieces = scope.code.pieces(*replaced.values())
        yield lines[0], "mask", 1.0, pieces, tuple(lines[1:])


def _bounds(scope: Scope, nodes: list[ast.AST]) -> list[str]:
    """The parameters that something is compared with, or counted to."""
    places = (n for n in nodes if isinstance(n, ast.Compare) or called(n) in ("range", "cdiv"))
    read = set().union(*map(_reads, places))
    return [p for p in scope.parameters if p in read]


def contiguous(node: ast.expr, scope: Scope) -> Iterator[tuple[str, str]]:
    """What a kernel is given, in one piece."""
    parent = scope.parents.get(node)
    kernel = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Subscript)
    if kernel and isinstance(node, ast.Name) and node.id in scope.parameters:
        yield "memory", f"{node.id}.contiguous()"


def whole_factors(node: ast.expr, scope: Scope) -> Iterator[tuple[str, str]]:
    """A number that is given a name: twice or half of it, one more or less."""
    parent = scope.parents.get(node)
    if not isinstance(parent, ast.Assign) or number(node) is not None:
        return
    if isinstance(node, ast.Name) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)
    ):
        text = scope.code.text(node)
        yield "factor", f"2 * ({text})"
        yield "off by one", f"({text}) + 1"
        yield "off by one", f"({text}) - 1"
