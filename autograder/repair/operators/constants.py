"""What numbers are: their kind, their device, their gradient, and what becomes of infinite ones."""

from __future__ import annotations

import ast

from ..source_text import Scope
from .patterns import Texts, called, is_method, is_numpy, subject_of, with_call

_MAKERS = ("arange", "ones", "zeros", "full", "eye", "empty", "tensor", "randn", "linspace")
_CPU = (["cpu"], ["torch.device('cpu')"], ['torch.device("cpu")'])
_FINITE = "torch.nan_to_num({}, neginf=0.0)"


def gradients(node: ast.expr, scope: Scope) -> Texts:
    """What cuts the gradient, or fails to."""
    text = scope.code.text(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        inner = scope.code.text(node.func.value)
        if called(node) in ("detach", "item", "numpy", "clone") and not node.args:
            yield "gradient", inner
        if _moves_to_cpu(node, scope):  # which keeps gradients, and integers have none
            yield "device", inner
        if called(node) == "numpy":
            yield "gradient", f"{inner}.detach().numpy()"
        if called(node) in ("float", "double", "half", "bool", "int", "long") and not node.args:
            yield "kind of number", inner
    if isinstance(node, ast.Attribute) and node.attr == "data":
        yield "gradient", scope.code.text(node.value)
    if called(node) in ("amax", "max"):
        yield "gradient", f"({text}).detach()"


def _moves_to_cpu(node: ast.Call, scope: Scope) -> bool:
    """Whether a tensor is moved to the CPU, whatever device it came on."""
    if called(node) == "cpu":
        return not node.args
    given = [*node.args, *(k.value for k in node.keywords)]
    return called(node) == "to" and [scope.code.text(g).strip("'\"") for g in given] in _CPU


def stability(node: ast.expr, scope: Scope) -> Texts:
    """A maximum taken off before exp; infinities taken care of."""
    if not isinstance(node, ast.Call):
        return
    text = scope.code.text(node)
    name, subject = called(node), subject_of(node, scope)
    axis = scope.axis
    if name == "exp" and subject:
        function = None if is_method(node) else scope.code.text(node.func)
        numpy = is_numpy(node, scope)
        for place in dict.fromkeys((axis, "-1", "-2")):
            top = (
                f"({subject}).max(axis={place}, keepdims=True)"
                if numpy
                else f"({subject}).amax({place}, keepdim=True)"
            )
            finite = f"np.nan_to_num({top}, neginf=0.0)" if numpy else _FINITE.format(top)
            for shift in (top, finite):
                shifted = f"({subject}) - {shift}"
                yield "overflow", f"{function}({shifted})" if function else f"({shifted}).exp()"
    if name in ("amax", "max") and not is_numpy(node, scope):
        yield "infinity", f"torch.nan_to_num({text}, neginf=0.0)"
    if name == "softmax" and subject:
        place = next((scope.code.text(k.value) for k in node.keywords if k.arg == "dim"), "-1")
        hidden = f"torch.isneginf({subject})"
        seen = f"torch.where({hidden}.all({place}, keepdim=True), 0.0, {subject})"
        yield "empty rows", f"torch.softmax({seen}, dim={place}).masked_fill({hidden}, 0.0)"
        yield "overflow", f"torch.softmax(({subject}).float(), dim={place}).to(({subject}).dtype)"


def types(node: ast.expr, scope: Scope) -> Texts:
    """Another kind of number, or another device."""
    if not isinstance(node, ast.Call):
        return
    name, text = called(node), scope.code.text(node)
    given = {k.arg: k.value for k in node.keywords}
    if "dtype" in given:
        yield "kind of number", with_call(node, scope, drop=("dtype",))
        for parameter in scope.parameters[:2]:
            yield "kind of number", with_call(node, scope, {"dtype": f"{parameter}.dtype"})
    subject = subject_of(node, scope)
    if name == "astype" and isinstance(node.func, ast.Attribute):
        yield "kind of number", subject
    if name in ("astype", "array", "asarray", "float64") and subject:
        floats = f"{subject}.dtype.kind == 'f'"
        yield "kind of number", f"{subject} if {floats} else {text}"
        yield "kind of number", f"{subject}.copy() if {floats} else {text}"
    if name == "sqrt" and text.startswith(("np.", "numpy.")):
        yield "kind of number", f"float({text})"
    if name in _MAKERS and text.startswith("torch.") and "device" not in given:
        if "device" in scope.parameters:
            yield "device", with_call(node, scope, {"device": "device"})
        for parameter in scope.parameters[:3]:
            yield "device", with_call(node, scope, {"device": f"{parameter}.device"})
    if name in _MAKERS and text.startswith("torch.") and "dtype" not in given:
        yield "kind of number", with_call(node, scope, {"dtype": "torch.bool"})
    if name == "Linear" and "bias" not in given:
        yield "bias", with_call(node, scope, {"bias": "False"})


def wrapped(node: ast.expr, scope: Scope) -> Texts:
    """What is returned: cast back, moved, without an axis."""
    parent = scope.parents.get(node)
    inside = isinstance(parent, ast.Tuple) and isinstance(scope.parents.get(parent), ast.Return)
    if not (isinstance(parent, ast.Return) or inside) or isinstance(node, ast.Tuple):
        return
    text = scope.code.text(node)
    for parameter in scope.parameters[:2]:
        if "np" in scope.used and "torch" not in scope.used:
            yield "kind of number", f"({text}).astype({parameter}.dtype)"
        else:
            yield "kind of number", f"({text}).to({parameter}.dtype)"
    yield "order of axes", f"({text}).transpose(1, 2)"
    yield "order of axes", f"({text}).squeeze(0)"
    yield "order of axes", f"({text}).unsqueeze(1)"
    yield "infinity", f"torch.nan_to_num({text}, 0.0)"
    yield "operator", f"-({text})"
    yield "text", f"({text}).rstrip()"
    for attribute in scope.attributes:
        if attribute not in {n.attr for n in ast.walk(scope.node) if isinstance(n, ast.Attribute)}:
            yield "missing step", f"self.{attribute}({text})"
