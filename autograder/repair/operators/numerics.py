"""Numbers: types, devices, gradients, overflow, infinities.

Also missing steps: guards, masks, residuals, normalisations, rescalings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..function_scope import (
    FunctionScope,
    Proposals,
    called,
    is_method,
    names_in,
)
from .names import is_operand

_CREATE = ("arange", "ones", "zeros", "full", "eye", "empty", "tensor", "randn", "linspace")
_CPU = (["cpu"], ["torch.device('cpu')"], ['torch.device("cpu")'])
_CASTS = ("float", "double", "half", "bool", "int", "long")


def gradients(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose stopping a gradient or letting it flow, and keeping the device or dtype."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        inner = scope.text(node.func.value)
        if called(node) in ("detach", "item", "numpy", "clone") and not node.args:
            yield "gradient", inner
        if _moves_to_cpu(node, scope):  # gradients flow through it
            yield "device", inner
        if called(node) == "numpy":
            yield "gradient", f"{inner}.detach().numpy()"
        if called(node) in _CASTS and not node.args:
            yield "kind of number", inner
    if isinstance(node, ast.Attribute) and node.attr == "data":
        yield "gradient", scope.text(node.value)
    if called(node) in ("amax", "max"):
        yield "gradient", f"({scope.text(node)}).detach()"


def _moves_to_cpu(node: ast.Call, scope: FunctionScope) -> bool:
    if called(node) == "cpu":
        return not node.args
    given = [*node.args, *(k.value for k in node.keywords)]
    return called(node) == "to" and [scope.text(g).strip("'\"") for g in given] in _CPU


def overflow(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose subtracting the maximum before exp, and handling infinities."""
    if not isinstance(node, ast.Call):
        return
    text, name, subject = scope.text(node), called(node), scope.subject_of(node)
    numpy = scope.is_numpy(node)
    if name == "exp" and subject:
        library = "np" if numpy else "torch"
        for axis in dict.fromkeys((scope.axis, "-1", "-2")):
            largest = f"({subject}).amax({axis}, keepdim=True)"
            if numpy:
                largest = f"({subject}).max(axis={axis}, keepdims=True)"
            for shift in (largest, f"{library}.nan_to_num({largest}, neginf=0.0)"):
                shifted = f"({subject}) - {shift}"
                exp = f"({shifted}).exp()" if is_method(node) else None
                yield "overflow", exp or f"{scope.text(node.func)}({shifted})"
    if name in ("amax", "max") and not numpy:
        yield "infinity", f"torch.nan_to_num({text}, neginf=0.0)"
    if name == "softmax" and subject:
        axis = next((scope.text(k.value) for k in node.keywords if k.arg == "dim"), "-1")
        hidden = f"torch.isneginf({subject})"
        visible = f"torch.where({hidden}.all({axis}, keepdim=True), 0.0, {subject})"
        yield "empty rows", f"torch.softmax({visible}, dim={axis}).masked_fill({hidden}, 0.0)"
        yield "overflow", f"torch.softmax(({subject}).float(), dim={axis}).to(({subject}).dtype)"


def infinities(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose subtracting a maximum only where it is finite."""
    match node:
        case ast.BinOp(left, ast.Sub(), ast.Name(top)) if top in scope.locals:
            yield "infinity", f"({scope.text(left)}) - torch.nan_to_num({top}, neginf=0.0)"
        case ast.Subscript(inner) | ast.Attribute(inner) if called(inner) == "max":
            yield "infinity", f"torch.nan_to_num({scope.text(node)}, neginf=0.0)"


def types(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different dtype or device where a tensor is created."""
    if not isinstance(node, ast.Call):
        return
    name, text, subject = called(node), scope.text(node), scope.subject_of(node)
    given = {k.arg for k in node.keywords}
    if "dtype" in given:
        yield "kind of number", scope.with_keywords(node, drop="dtype")
        for parameter in scope.parameters[:2]:
            yield "kind of number", scope.with_keywords(node, {"dtype": f"{parameter}.dtype"})
    if name == "astype" and is_method(node):
        yield "kind of number", subject
    if name in ("astype", "array", "asarray", "float64") and subject:
        floats = f"{subject}.dtype.kind == 'f'"
        yield "kind of number", f"{subject} if {floats} else {text}"
        yield "kind of number", f"{subject}.copy() if {floats} else {text}"
    if name == "sqrt" and text.startswith(("np.", "numpy.")):
        yield "kind of number", f"float({text})"
    if name in _CREATE and text.startswith("torch."):
        for device in ("device", *(f"{p}.device" for p in scope.parameters[:3])):
            if "device" not in given and (device != "device" or device in scope.parameters):
                yield "device", scope.with_keywords(node, {"device": device})
        if "dtype" not in given:
            kinds = ("torch.bool", *(["dtype"] if "dtype" in scope.parameters else []))
            for kind in kinds:
                yield "kind of number", scope.with_keywords(node, {"dtype": kind})
    if name == "Linear" and "bias" not in given:
        yield "bias", scope.with_keywords(node, {"bias": "False"})


def results(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a result with a different dtype, sign or axes, without NaN, or as a Python number."""
    text, parent = scope.text(node), scope.parents.get(node)
    appended = called(parent) == "append" and isinstance(parent, ast.Call) and node in parent.args
    if appended or (isinstance(node, ast.Name) and isinstance(parent, ast.Return)):
        yield "kind of number", f"({text}).item()"
        yield "kind of number", f"({text}).detach()"
    if not scope.is_returned(node):
        return
    cast = "astype" if "np" in scope.used and "torch" not in scope.used else "to"
    for parameter in scope.parameters[:2]:
        yield "kind of number", f"({text}).{cast}({parameter}.dtype)"
    yield "order of axes", f"({text}).transpose(1, 2)"
    yield "order of axes", f"({text}).squeeze(0)"
    yield "order of axes", f"({text}).unsqueeze(1)"
    yield "infinity", f"torch.nan_to_num({text}, 0.0)"
    yield "operator", f"-({text})"
    yield "text", f"({text}).rstrip()"
    for attribute in scope.uncalled:
        yield "missing step", f"self.{attribute}({text})"


_PARTS = ("clamp", "exp", "relu", "where", "masked_fill")
_POSITIVE = ("relu", "clamp", "clamp_min", "clip", "maximum")


def guards(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a quotient that handles a zero divisor, and weights that are zero where masked."""
    text = scope.text(node)
    match node:
        case ast.BinOp(left, ast.Div(), right) if not isinstance(right, (ast.Constant, ast.BinOp)):
            if called(right) != "sqrt":
                one, two = scope.text(left), scope.text(right)
                yield "empty rows", f"({one}) / ({two}).masked_fill(({two}) == 0, 1.0)"
                yield "empty rows", f"torch.nan_to_num(({one}) / ({two}), 0.0)"
        case ast.Call() if called(node) == "softmax" and not scope.is_numpy(node):
            for mask in (n for n in scope.names if "mask" in n or "allowed" in n):
                hidden = f"({text}).masked_fill(~{mask}, 0.0)"
                yield "empty rows", hidden
                yield "empty rows", f"({text} if {mask} is None else {hidden})"


def addends(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose adding a name of the function to an assigned or returned value."""
    if not isinstance(scope.parents.get(node), (ast.Assign, ast.Return)):
        return
    inside = names_in(node)
    taken = [n for n in scope.names if n not in inside or isinstance(node, ast.Call)]
    for name in taken[:8] if is_operand(node, scope) else ():
        yield "missing step", f"({scope.text(node)}) + {name}"


def residuals(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose adding a name to the result of a method, where a residual is likely to be missing."""
    if scope.owner is not None and isinstance(scope.parents.get(node), ast.Return):
        yield from addends(node, scope)


def normalisation(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose dividing by the sum."""
    text = scope.text(node)
    total = f"({text}).sum({scope.axis}, keepdim=True)"
    assigned = isinstance(scope.parents.get(node), (ast.Assign, ast.Return))
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    if assigned and (product or called(node) in _POSITIVE):
        yield "share", f"({text}) / ({total} + ({total} == 0))"
    if called(node) in _PARTS or (assigned and not isinstance(node, (ast.Tuple, ast.Call))):
        yield "share", f"({text}) / {total}"


def rescaling(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose rescaling a running sum to the new maximum before adding to it."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for total, more in ((node.left, node.right), (node.right, node.left)):
            if isinstance(total, ast.Name) and total.id in scope.locals:
                for factor in rescaling_factors(scope):
                    yield "sum over rounds", f"{total.id} * {factor} + ({scope.text(more)})"


def rescaling_factors(scope: FunctionScope) -> Iterator[str]:
    """Yield the factors by which running sums shrink when a maximum grows."""
    for library, old, new in scope.running_maxima:
        if library == "tl":
            factor = f"tl.where({old} == {new}, 1.0, tl.exp({old} - {new}))"
            yield from (factor, f"{factor}[:, None]")
        elif library == "torch":
            factor = f"torch.exp(torch.nan_to_num({old} - {new}, nan=0.0))"
            yield from (factor, f"{factor}[..., None]")
