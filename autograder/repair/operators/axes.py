"""Axes: which one, in which order, kept or not, and the sizes that are read from them."""

from __future__ import annotations

import ast
from itertools import permutations

from ..source_text import Scope
from .patterns import (
    Texts,
    called,
    is_module,
    is_numpy,
    number,
    subject_of,
    with_call,
    with_positional,
)

_REDUCE = frozenset(
    ["max", "min", "sum", "mean", "amax", "amin", "argmax", "any", "all", "logsumexp", "norm"]
)


ALONG = _REDUCE | frozenset(
    [
        "softmax",
        "log_softmax",
        "cumsum",
        "sort",
        "argsort",
        "cat",
        "stack",
        "concatenate",
        "squeeze",
        "unsqueeze",
        "flatten",
        "gather",
        "chunk",
        "split",
    ]
)


SHAPED = ("reshape", "view")


def axes(node: ast.expr, scope: Scope) -> Texts:
    """Another axis, kept axes, an axis where there is none."""
    if not isinstance(node, ast.Call) or called(node) not in ALONG:
        return
    name = called(node)
    numpy = is_numpy(node, scope)
    axis, keep = ("axis", "keepdims") if numpy else ("dim", "keepdim")
    given = {k.arg: k.value for k in node.keywords}
    place = given.get("dim", given.get("axis"))
    method = isinstance(node.func, ast.Attribute) and not is_module(node.func.value)
    first = 0 if method else 1
    positional = node.args[first] if len(node.args) > first else None
    wanted = list(dict.fromkeys((scope.axis, "-1", "-2", "-3", "0", "1", "2")))
    if place is not None:
        used = "dim" if "dim" in given else "axis"
        for text in wanted:
            if text != scope.code.text(place):
                yield "axis", with_call(node, scope, {used: text})
    elif positional is not None and (
        number(positional) is not None or scope.code.text(positional) in ("dim", "axis")
    ):
        for text in wanted:
            if text != scope.code.text(positional):
                yield "axis", with_positional(node, scope, first, text)
    elif name in _REDUCE:
        subject = subject_of(node, scope)
        function = {"max": "amax", "min": "amin"}.get(name, name)
        for text in dict.fromkeys((scope.axis, "-1", "-2")):
            if numpy:
                yield "axis", with_call(node, scope, {"axis": text, "keepdims": "True"})
            else:
                yield "axis", f"torch.{function}({subject}, dim={text}, keepdim=True)"
            yield "axis", with_call(node, scope, {axis: text})
    if name in _REDUCE and (place is not None or positional is not None):
        if keep not in given:
            yield "kept axis", with_call(node, scope, {keep: "True"})
        else:
            yield "kept axis", with_call(node, scope, drop=(keep,))


def diagonals(node: ast.expr, scope: Scope) -> Texts:
    """A triangle that begins one diagonal earlier or later."""
    if not isinstance(node, ast.Call) or called(node) not in ("tril", "triu"):
        return
    named = {k.arg: k.value for k in node.keywords}
    given = named.get("diagonal", node.args[-1] if node.args else None)
    value = None if given is None else number(given)
    if value is None or given is None:
        return
    for other in dict.fromkeys((0, value + 1, value - 1, -value)):
        if other != value and "diagonal" in named:
            yield "off by one", with_call(node, scope, {"diagonal": str(other)})
        elif other != value:
            yield "off by one", with_positional(node, scope, len(node.args) - 1, str(other))


def sizes(node: ast.expr, scope: Scope) -> Texts:
    """The size of another array or of another axis."""
    found = _size(node)
    if found is None:
        return
    array, axis = found
    others = [p for p in scope.names if p != scope.code.text(array)]
    for text in dict.fromkeys((axis, -1, -2, 0, 1)):
        if text != axis:
            yield "size", f"{scope.code.text(array)}.shape[{text}]"
    for other in others[:8]:
        yield "size", f"{other}.shape[{axis}]"


def _size(node: ast.expr) -> tuple[ast.expr, int] | None:
    """The array and the axis of `x.shape[i]` or `x.size(i)`."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        axis = number(node.slice)
        if node.value.attr == "shape" and isinstance(axis, int):
            return node.value.value, axis
    if isinstance(node, ast.Call) and called(node) == "size" and len(node.args) == 1:
        axis = number(node.args[0])
        if isinstance(node.func, ast.Attribute) and isinstance(axis, int):
            return node.func.value, axis
    return None


def orders(node: ast.expr, scope: Scope) -> Texts:
    """Axes in another order, cut or joined after the wrong move."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
            inner = scope.code.text(node.value)
            yield "order of axes", f"{inner}.swapaxes(-1, -2)"
            yield "order of axes", inner
        return
    name, text = node.func.attr, scope.code.text(node)
    subject = scope.code.text(node.func.value)
    if name in SHAPED and not is_module(node.func.value):
        parts = [scope.code.text(a) for a in node.args]
        if len(parts) == 4:
            swapped = [parts[0], parts[2], parts[1], parts[3]]
            yield "order of axes", f"{subject}.reshape({', '.join(swapped)}).transpose(1, 2)"
            swapped = [parts[0], parts[1], parts[3], parts[2]]
            yield "order of axes", f"{subject}.reshape({', '.join(swapped)}).transpose(2, 3)"
            yield "order of axes", f"{text}.transpose(1, 2)"
        yield "order of axes", f"({subject}).transpose(1, 2).reshape({', '.join(parts)})"
        yield "order of axes", f"({subject}).transpose(-1, -2).reshape({', '.join(parts)})"
        if name == "view":
            yield "memory", f"{subject}.reshape({', '.join(parts)})"
    if name in ("permute", "transpose", "swapaxes") and node.args:
        yield from _other_orders(node, scope, subject, name)


def _other_orders(node: ast.Call, scope: Scope, subject: str, name: str) -> Texts:
    if is_module(node.func.value):  # type: ignore[attr-defined]
        subject, parts = scope.code.text(node.args[0]), node.args[1:]
    else:
        parts = node.args
    given = tuple(number(a) for a in parts)
    parent = scope.parents.get(node)
    joined = isinstance(parent, ast.Attribute) and parent.attr in SHAPED
    if name == "permute" and len(given) in (3, 4) and None not in given:
        for order in permutations(range(len(given))):
            if order != given:
                yield "order of axes", f"{subject}.permute{order}"
                if not joined and len(given) == 4:
                    continue
        return
    for order in ((-1, -2), (1, 2), (0, 1), (2, 3)):
        if order != given:
            yield "order of axes", f"{subject}.swapaxes{order}"
    yield "order of axes", subject


def dealt(node: ast.expr, scope: Scope) -> Texts:
    """Axes cut off in the other order and moved back: (…, d, H) for (…, H, d)."""
    if called(node) not in ("permute", "transpose") or not isinstance(node, ast.Call):
        return
    inner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if not isinstance(inner, ast.Call) or called(inner) not in SHAPED or len(inner.args) != 4:
        return
    subject = scope.code.text(inner.func.value)  # type: ignore[attr-defined]
    parts = [scope.code.text(a) for a in inner.args]
    swapped = [parts[0], parts[1], parts[3], parts[2]]
    yield "order of axes", f"{subject}.reshape({', '.join(swapped)}).permute(0, 2, 1, 3)"
