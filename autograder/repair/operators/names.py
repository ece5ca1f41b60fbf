"""Names and arguments: another one, another order, one too many, one forgotten."""

from __future__ import annotations

import ast
from itertools import permutations

from ..source_text import Scope
from .patterns import Texts, called, with_arguments, with_call

_FEW = 8  # names that come together


def arguments(node: ast.expr, scope: Scope) -> Texts:
    """Arguments exchanged, forgotten or one too many."""
    several = isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load)
    if several and len(node.elts) in (2, 3):  # type: ignore[attr-defined]
        parts = [scope.code.text(e) for e in node.elts]  # type: ignore[attr-defined]
        for order in permutations(range(len(parts))):
            if list(order) != sorted(order):
                written = ", ".join(parts[i] for i in order)
                yield "order of values", f"[{written}]" if isinstance(node, ast.List) else written
    if not isinstance(node, ast.Call):
        return
    parts = [scope.code.text(a) for a in node.args]
    target = scope.code.definitions.get(called(node))
    if target is not None or called(node) in scope.used or len(parts) in (2, 3):
        for first in range(len(parts) - 1):
            for second in range(first + 1, len(parts)):
                swapped = list(parts)
                swapped[first], swapped[second] = swapped[second], swapped[first]
                yield "argument order", with_arguments(node, scope, swapped)
    yield from _forgotten(node, scope, parts, target)


def _forgotten(node: ast.Call, scope: Scope, parts: list[str], target: ast.AST | None) -> Texts:
    given = {k.arg for k in node.keywords}
    if isinstance(target, ast.FunctionDef):
        takes = [a.arg for a in target.args.args]
        for name in takes[len(parts) :]:
            for text in (name, f"self.{name}"):
                known = name in scope.names or name in scope.attributes
                if name not in given and known and (text in scope.names or "self." in text):
                    yield "argument", with_call(node, scope, {name: text})
    for name in ("generator",):
        if name in scope.parameters and name not in given and called(node) in _RANDOM:
            yield "argument", with_call(node, scope, {name: name})
    passed = set(parts) | {scope.code.text(k.value) for k in node.keywords}
    owned = isinstance(node.func, ast.Name) and node.func.id[:1].isupper()
    for name in scope.parameters if owned else ():
        if name not in passed:
            yield "argument", with_arguments(node, scope, [*parts, name])


_RANDOM = ("multinomial", "randn", "rand", "normal", "randint")


def indices(node: ast.expr, scope: Scope) -> Texts:
    """A part taken where the whole was meant; an infinite maximum, with its place or without."""
    if isinstance(node, ast.Subscript):
        yield "index", scope.code.text(node.value)
    inner = node.value if isinstance(node, (ast.Subscript, ast.Attribute)) else None
    if inner is not None and called(inner) == "max":
        yield "infinity", f"torch.nan_to_num({scope.code.text(node)}, neginf=0.0)"


def likely_names(node: ast.expr, scope: Scope) -> Texts:
    """A name that came with this one, or that the function never uses."""
    if _is_exchangeable(node, scope):
        assert isinstance(node, ast.Name)
        came = sorted(scope.siblings.get(node.id, ()))
        if len(came) > _FEW:  # as a kernel's sizes and strides
            came = [n for n in came if n[0] == node.id[0] or n[-1] == node.id[-1]]
        for other in (*came, *scope.unused):
            if other != node.id:
                yield "name", other


def counts(node: ast.expr, scope: Scope) -> Texts:
    """Another whole number, where one says which part is taken or how many there are."""
    parent: ast.AST | None = scope.parents.get(node)
    if isinstance(node, ast.BinOp) and isinstance(parent, (ast.Subscript, ast.Tuple)):
        yield from _counts_in(node, scope)
    if not isinstance(node, ast.Name) or node.id not in scope.counts:
        return
    while isinstance(parent, (ast.BinOp, ast.Slice, ast.Tuple)):
        parent = scope.parents.get(parent)
    if isinstance(parent, ast.Subscript) or (parent and called(parent) in _OF_COUNTS):
        for other in scope.counts:
            if other != node.id:
                yield "name", other


def _counts_in(node: ast.BinOp, scope: Scope) -> Texts:
    """One of the whole numbers of which an index is made."""
    parent = scope.parents.get(node)
    index = scope.parents.get(parent) if isinstance(parent, ast.Tuple) else parent
    if isinstance(index, ast.Subscript) and index.slice in (node, parent):
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in scope.counts:
                yield "index", part.id


_OF_COUNTS = ("range", "arange")


def uncalled(node: ast.expr, scope: Scope) -> Texts:
    """A layer of the object that its method never names, in the place of one that it calls."""
    parent = scope.parents.get(node)
    own = node.value if isinstance(node, ast.Attribute) else None
    if isinstance(own, ast.Name) and own.id == "self" and isinstance(parent, ast.Call):
        for other in scope.uncalled if parent.func is node else ():
            if other in scope.layers:
                yield "name", f"self.{other}"


def names(node: ast.expr, scope: Scope) -> Texts:
    """Another name of the function in its place, one more or one less."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id == "self":
            for other in scope.attributes:
                if other != node.attr:
                    yield "name", f"self.{other}"
    elif isinstance(node, ast.Constant) and isinstance(scope.parents.get(node), ast.Subscript):
        for other in scope.keys if isinstance(node.value, str) else ():
            if other != node.value:
                yield "name", repr(other)
    elif _is_exchangeable(node, scope):
        assert isinstance(node, ast.Name)
        for other in scope.names:
            if other != node.id:
                yield "name", other


def _is_exchangeable(node: ast.expr, scope: Scope) -> bool:
    """Return True if a name of the function is read, and not called."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return False
    parent = scope.parents.get(node)
    return node.id in scope.names and not (isinstance(parent, ast.Call) and parent.func is node)


def sums_of_names(node: ast.expr, scope: Scope) -> Texts:
    """A size that another one has to be added to."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Call) and node in parent.args and _is_exchangeable(node, scope):
        for other in scope.names[:10]:
            if other != scope.code.text(node):
                yield "operand", f"{scope.code.text(node)} + {other}"


def places(node: ast.expr, scope: Scope) -> Texts:
    """Positions that begin elsewhere."""
    if isinstance(node, ast.Call) and called(node) == "arange" and len(node.args) == 1:
        inner = scope.code.text(node.args[0])
        for name in scope.names[:12]:
            if name != inner:
                yield "off by one", f"({scope.code.text(node)} + {name})"
        yield "off by one", f"({scope.code.text(node)} + 1)"
    if isinstance(node, ast.Call) and called(node) == "arange" and len(node.args) == 2:
        yield "off by one", f"({scope.code.text(node)} - 1)"
