"""Propose edits of axes: a different axis, order or size, and kept or dropped axes."""

import ast
from collections.abc import Iterator
from itertools import permutations

from ..function_scope import (
    FunctionScope,
    Proposals,
    Several,
    called,
    is_library,
    is_method,
    number,
)

_REDUCE = frozenset(
    ["max", "min", "sum", "mean", "amax", "amin", "argmax", "any", "all", "logsumexp", "norm"]
)
_ALONG = _REDUCE.union(
    ["softmax", "log_softmax", "cumsum", "sort", "argsort", "cat", "stack", "concatenate"],
    ["squeeze", "unsqueeze", "flatten", "gather", "chunk", "split"],
)
_SHAPED = ("reshape", "view")


def axes(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different axis, adding a missing axis, or keeping or dropping a reduced axis."""
    if not isinstance(node, ast.Call) or called(node) not in _ALONG:
        return
    axis, keep = ("axis", "keepdims") if scope.is_numpy(node) else ("dim", "keepdim")
    given = {k.arg: k.value for k in node.keywords}
    named = next((n for n in ("dim", "axis") if n in given), "")
    first = 0 if is_method(node) else 1
    positional = node.args[first] if len(node.args) > first else None
    candidates = dict.fromkeys((scope.axis, "-1", "-2", "-3", "0", "1", "2"))
    if named:
        for text in candidates:
            if text != scope.text(given[named]):
                yield "axis", scope.with_keywords(node, {named: text})
    elif positional is not None and (
        number(positional) is not None or scope.text(positional) in ("dim", "axis")
    ):
        for text in candidates:
            if text != scope.text(positional):
                yield "axis", scope.with_positional(node, first, text)
    elif called(node) in _REDUCE:
        yield from _added_axes(node, scope, axis)
    elif called(node) == "squeeze":
        yield "axis", f"({scope.subject_of(node)}).squeeze({scope.axis})"
    if called(node) in _REDUCE and (named or positional is not None):
        if keep in given:
            yield "kept axis", scope.with_keywords(node, drop=keep)
        else:
            yield "kept axis", scope.with_keywords(node, {keep: "True"})


def _added_axes(node: ast.Call, scope: FunctionScope, axis: str) -> Proposals:
    """Propose reducing along one axis instead of reducing the whole array."""
    name = called(node)
    function = {"max": "amax", "min": "amin"}.get(name, name)
    for text in dict.fromkeys((scope.axis, "-1", "-2")):
        if axis == "axis":
            yield "axis", scope.with_keywords(node, {"axis": text, "keepdims": "True"})
        else:
            yield "axis", f"torch.{function}({scope.subject_of(node)}, dim={text}, keepdim=True)"
        yield "axis", scope.with_keywords(node, {axis: text})


def sizes(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose the size of a different array or axis."""
    match node:
        case ast.Subscript(ast.Attribute(array, "shape"), index):
            axis = number(index)
        case ast.Call(ast.Attribute(array, "size"), [index]):
            axis = number(index)
        case _:
            return
    if not isinstance(axis, int):
        return
    for other in dict.fromkeys((axis, -1, -2, 0, 1)):
        if other != axis:
            yield "size", f"{scope.text(array)}.shape[{other}]"
    for name in [n for n in scope.names if n != scope.text(array)][:8]:
        yield "size", f"{name}.shape[{axis}]"


def orders(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different order of axes, or a transpose before or after a reshape."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield "order of axes", f"{scope.owner_text(node.value)}.swapaxes(-1, -2)"
        yield "order of axes", scope.text(node.value)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    name, subject = node.func.attr, scope.owner_text(node.func.value)
    if name in _SHAPED and not is_library(node.func.value):
        parts = [scope.text(a) for a in node.args]
        if len(parts) == 4:
            a, b, c, d = parts
            yield "order of axes", f"{subject}.reshape({a}, {c}, {b}, {d}).transpose(1, 2)"
            yield "order of axes", f"{subject}.reshape({a}, {b}, {d}, {c}).transpose(2, 3)"
            yield "order of axes", f"{scope.text(node)}.transpose(1, 2)"
        yield "order of axes", f"{subject}.transpose(1, 2).reshape({', '.join(parts)})"
        yield "order of axes", f"{subject}.transpose(-1, -2).reshape({', '.join(parts)})"
        if name == "view":
            yield "memory", f"{subject}.reshape({', '.join(parts)})"
    if name in ("permute", "transpose", "swapaxes") and node.args:
        yield from _other_orders(node, scope)


def _other_orders(node: ast.Call, scope: FunctionScope) -> Proposals:
    method = is_method(node)
    subject, parts = scope.subject_of(node), node.args if method else node.args[1:]
    given = tuple(number(a) for a in parts)
    if called(node) == "permute" and len(given) in (3, 4) and None not in given:
        for order in permutations(range(len(given))):
            if order != given:
                yield "order of axes", f"{subject}.permute{order}"
        return
    for pair in ((-1, -2), (1, 2), (0, 1), (2, 3)):
        if pair != given:
            yield "order of axes", f"{subject}.swapaxes{pair}"
    yield "order of axes", subject


def moved_back(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose moving axes of a returned value back to where they were in the argument."""
    if scope.is_returned(node):
        for first, second in scope.moves:
            yield "order of axes", f"({scope.text(node)}).swapaxes({first}, {second})"
            yield "order of axes", f"({scope.text(node)}).movedim({second}, {first})"


def same_wrong_axis(scope: FunctionScope, nodes: list[ast.AST]) -> Iterator[Several]:
    """Propose a different axis for all calls with the same axis in a function or a statement."""
    given = list(_given_axes(nodes))
    statements = (n for n in nodes if isinstance(n, (ast.Assign, ast.Return)))
    for part in (nodes, *(list(ast.walk(s)) for s in statements)):
        inside = set(part)
        by_text: dict[str, list[ast.expr]] = {}
        for call, place in given:
            if call in inside:
                by_text.setdefault(scope.text(place), []).append(place)
        for text, places in by_text.items():
            for other in dict.fromkeys((scope.axis, "-1", "-2")) if len(places) > 1 else ():
                if other != text:
                    yield Several("axis", [(p, other) for p in places])


def _given_axes(nodes: list[ast.AST]) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Yield each call that has an axis argument, and the expression of this argument."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        named = [k.value for k in node.keywords if k.arg in ("dim", "axis")]
        first = 0 if is_method(node) else 1
        if called(node) in _ALONG and not named and len(node.args) > first:
            named = [a for a in node.args[first : first + 1] if number(a) is not None]
        yield from ((node, place) for place in named)
