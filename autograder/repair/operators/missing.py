"""What is not there: something that was computed and never used, a guard, a share of the whole."""

from __future__ import annotations

import ast

from ..source_text import Scope
from .patterns import Texts, called, is_numpy

_PARTS = ("clamp", "exp", "relu", "where", "masked_fill")
_AXES = ("", "[..., None]", "[:, None]")


def unused(node: ast.expr, scope: Scope) -> Texts:
    """What the function computed or was given and never used: taken off, divided by, passed on."""
    if not scope.unused or not _is_value(node, scope):
        return
    text = scope.code.text(node)
    for name in scope.unused[:3]:
        if name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
            continue
        for axis in _AXES:
            for sign in "-/*+":
                yield "unused", f"({text}) {sign} {name}{axis}"
        yield "unused", name


def unused_argument(node: ast.expr, scope: Scope) -> Texts:
    """A call that is handed what was never used."""
    if not isinstance(node, ast.Call):
        return
    parts = [scope.code.text(a) for a in node.args]
    words = [f"{k.arg}={scope.code.text(k.value)}" for k in node.keywords if k.arg]
    for name in scope.unused[:4]:
        yield "argument", f"{scope.code.text(node.func)}({', '.join([*parts, name, *words])})"
        yield (
            "argument",
            f"{scope.code.text(node.func)}({', '.join([*parts, *words, f'{name}={name}'])})",
        )
    if called(node) in ("tril", "triu") and len(parts) + len(words) <= 1:
        for name in ("1", "-1", *scope.names[:8]):
            given = ", ".join([*parts, *words, f"diagonal={name}"])
            yield "off by one", f"{scope.code.text(node.func)}({given})"


def layers(node: ast.expr, scope: Scope) -> Texts:
    """A layer of the object that no method calls."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Tuple):
        parent = scope.parents.get(parent)
    product = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.MatMult)
    used = product or isinstance(parent, (ast.Call, ast.Return))
    if not used or not _is_value(node, scope):
        return
    for attribute in scope.uncalled:
        yield "missing step", f"self.{attribute}({scope.code.text(node)})"


def guards(node: ast.expr, scope: Scope) -> Texts:
    """A quotient whose divisor may be nothing; what a mask hides made exactly nothing."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        left, right = scope.code.text(node.left), scope.code.text(node.right)
        if not _plain_number(node.right):
            yield "empty rows", f"({left}) / ({right}).masked_fill(({right}) == 0, 1.0)"
            yield "empty rows", f"torch.nan_to_num(({left}) / ({right}), 0.0)"
    if called(node) == "softmax" and isinstance(node, ast.Call) and not is_numpy(node, scope):
        text = scope.code.text(node)
        for mask in (n for n in scope.names if "mask" in n or "allowed" in n):
            hidden = f"({text}).masked_fill(~{mask}, 0.0)"
            yield "empty rows", hidden
            yield "empty rows", f"({text} if {mask} is None else {hidden})"


def hidden(node: ast.expr, scope: Scope) -> Texts:
    """Exponentials, and nothing where a mask of the function hides."""
    if called(node) != "exp" or not isinstance(node, ast.Call):
        return
    text = scope.code.text(node)
    for mask in scope.masks[:4]:
        if is_numpy(node, scope):
            yield from (("missing step", f"{text} * {sign}{mask}") for sign in ("", "~"))
        else:
            for sign in ("~", ""):
                yield "missing step", f"({text}).masked_fill({sign}{mask}, 0.0)"


def residual(node: ast.expr, scope: Scope) -> Texts:
    """What a method returns, with what it began with or made on the way."""
    if scope.owner is not None and isinstance(scope.parents.get(node), ast.Return):
        yield from added(node, scope)


def added(node: ast.expr, scope: Scope) -> Texts:
    """What should have been added to a value: something that the function has by another name."""
    parent = scope.parents.get(node)
    if not isinstance(parent, (ast.Assign, ast.Return)) or not _is_value(node, scope):
        return
    text = scope.code.text(node)
    inside = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    taken = [n for n in scope.names if n not in inside or isinstance(node, ast.Call)]
    for name in taken[:8]:
        yield "missing step", f"({text}) + {name}"


def normalised(node: ast.expr, scope: Scope) -> Texts:
    """Shares of the whole instead of the parts."""
    whole = isinstance(scope.parents.get(node), (ast.Assign, ast.Return))
    plain = whole and not isinstance(node, (ast.Tuple, ast.Call))
    if not plain and called(node) not in _PARTS:
        return
    text = scope.code.text(node)
    yield "share", f"({text}) / ({text}).sum({scope.axis}, keepdim=True)"


def numbers_only(node: ast.expr, scope: Scope) -> Texts:
    """A plain number instead of a tensor that holds one."""
    parent = scope.parents.get(node)
    appended = isinstance(parent, ast.Call) and called(parent) == "append" and node in parent.args
    if appended or (isinstance(node, ast.Name) and isinstance(parent, ast.Return)):
        yield "kind of number", f"({scope.code.text(node)}).item()"
        yield "kind of number", f"({scope.code.text(node)}).detach()"


def pictures(node: ast.expr, scope: Scope) -> Texts:
    """Colours that mean the same in every picture; the picture the right way up."""
    if called(node) in ("imshow", "matshow", "pcolormesh") and isinstance(node, ast.Call):
        given = {k.arg for k in node.keywords}
        inner = scope.code.text(node)[:-1].rstrip().rstrip(",")
        if "vmin" not in given:
            yield "colours", f"{inner}, vmin=0.0, vmax=1.0)"
        if "origin" not in given:
            yield "order of axes", f'{inner}, origin="upper")'


def _is_value(node: ast.expr, scope: Scope) -> bool:
    """Return True if an expression stands for a value of its own, and not for a callable."""
    parent = scope.parents.get(node)
    if isinstance(node, (ast.Constant, ast.Tuple, ast.List, ast.Compare, ast.BoolOp)):
        return False
    return not (isinstance(parent, (ast.Attribute, ast.keyword)) or _is_called(node, parent))


def _is_called(node: ast.expr, parent: ast.AST | None) -> bool:
    return isinstance(parent, ast.Call) and parent.func is node


def _plain_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or called(node) == "sqrt" or isinstance(node, ast.BinOp)
