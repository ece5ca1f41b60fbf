"""Arithmetic: scales, signs, operands, comparisons and the numbers between them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..source_text import Scope, is_root
from .patterns import Texts, called, is_numpy, number, subject_of

_COMPARE: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">=", ">"),
    ast.LtE: ("<", ">", ">="),
    ast.Gt: (">=", "<=", "<"),
    ast.GtE: (">", "<", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
}
_OTHER: dict[type[ast.operator], tuple[str, ...]] = {
    ast.Add: ("-", "*"),
    ast.Sub: ("+",),
    ast.Mult: ("/", "+"),
    ast.Div: ("*",),
    ast.FloorDiv: ("%",),
    ast.BitAnd: ("|",),
    ast.BitOr: ("&",),
}
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.MatMult: "@",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.Mod: "%",
}


_ROOTS = (0.5, -0.5, 0.25, -0.25)


def scales(node: ast.expr, scope: Scope) -> Texts:
    """A scale by a root, missing, doubled, upside down or of another size."""
    text = scope.code.text(node)
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    if product or called(node) in ("matmul", "bmm", "einsum", "dot"):
        left = None
        if isinstance(node, ast.BinOp):
            left = scope.code.text(node.left)
        elif isinstance(node, ast.Call):
            given = [a for a in node.args if not isinstance(a, ast.Constant)]
            if given and isinstance(given[0], ast.List):
                given = given[0].elts
            if given and not isinstance(given[0], ast.Starred):
                left = scope.code.text(given[0])
        if left is not None:
            yield "scale", f"({text}) / ({left}).shape[-1] ** 0.5"
            yield "scale", f"({text}) * ({left}).shape[-1] ** 0.5"
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Mult)):
        left, right = scope.code.text(node.left), scope.code.text(node.right)
        sign = "/" if isinstance(node.op, ast.Div) else "*"
        other = "*" if sign == "/" else "/"
        yield "scale", f"({left}) {sign} ({right}) ** 0.5"
        yield "scale", f"({left}) {other} ({right})"
        yield "scale", f"({left}) {sign} ({right}) ** 2"
        yield "scale", left
        mean = _mean_of(node.left, scope) if sign == "/" else None
        if mean is not None:
            yield "factor", mean
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, power = scope.code.text(node.left), number(node.right)
        if isinstance(power, float):
            yield "scale", f"({base}) ** {-power}"
            yield "scale", f"({base}) ** {power / 2}"
    if called(node) == "sqrt" and isinstance(node, ast.Call) and len(node.args) == 1:
        yield "scale", scope.code.text(node.args[0])


def _mean_of(node: ast.expr, scope: Scope) -> str | None:
    """The mean over all entries in the place of a loss that adds them up."""
    if not isinstance(node, ast.Call):
        return None
    for keyword in node.keywords:
        if keyword.arg == "reduction" and isinstance(keyword.value, ast.Constant):
            adds = keyword.value.value == "sum"
            text, old = scope.code.text(node), scope.code.text(keyword.value)
            return text.replace(old, '"mean"') if adds and text.count(old) == 1 else None
    return None


def roots(node: ast.expr, scope: Scope) -> Texts:
    """The root of a quotient; a root that the function takes elsewhere, taken off here too."""
    text = scope.code.text(node)
    whole = isinstance(node, ast.BinOp)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Mult, ast.Add)):
        yield "scale", f"({text}) ** 0.5"
    if whole and isinstance(node.op, (ast.Mult, ast.MatMult)):  # type: ignore[attr-defined]
        for root in scope.roots[:2]:
            if root not in text:
                yield "scale", f"({text}) / {root}"


def rooted(node: ast.expr, scope: Scope) -> Texts:
    """The root of something else."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Call):
        inside = is_root(parent) and node in parent.args
    else:
        power = parent.right if isinstance(parent, ast.BinOp) else None
        inside = power is not None and node is not power and number(power) in _ROOTS
    if not inside:
        return
    text = scope.code.text(node)
    others = [f"self.{a}" for a in scope.attributes] if "self" in text else scope.names
    for other in others[:12]:
        if other != text:
            yield "scale", other


def factors(node: ast.expr, scope: Scope) -> Texts:
    """Twice or half as much, one more or one less."""
    text = scope.code.text(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Pow)):
        yield "factor", f"({text}) * 2"
        yield "factor", f"({text}) / 2"
    parent = scope.parents.get(node)
    side = isinstance(parent, (ast.BinOp, ast.Compare)) and not isinstance(node, ast.Constant)
    if side and isinstance(node, (ast.Name, ast.Call, ast.BinOp, ast.Attribute, ast.UnaryOp)):
        sums = isinstance(parent, ast.Compare) or isinstance(
            parent.op,  # type: ignore[union-attr]
            (ast.Add, ast.Sub),
        )
        if sums:
            yield "factor", f"({text}) / 2"
            yield "factor", f"({text}) * 2"
            yield "off by one", f"1 + ({text})"
            yield "off by one", f"({text}) - 1"
    if called(node) in ("len", "numel") or _is_extent(node):
        yield "off by one", f"({text}) - 1"
        yield "off by one", f"({text}) + 1"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "factor", f"2 * ({text})"
        yield "sign", scope.code.text(node.operand)


def _is_extent(node: ast.expr) -> bool:
    shape = node.value if isinstance(node, ast.Subscript) else None
    return isinstance(shape, ast.Attribute) and shape.attr == "shape"


def regrouped(node: ast.expr, scope: Scope) -> Texts:
    """The same operands with the brackets elsewhere."""
    if not isinstance(node, ast.BinOp) or type(node.op) not in _SIGNS:
        return
    sign, right = _SIGNS[type(node.op)], scope.code.text(node.right)
    if isinstance(node.left, ast.BinOp) and type(node.left.op) in _SIGNS:
        first, second = scope.code.text(node.left.left), scope.code.text(node.left.right)
        inner = _SIGNS[type(node.left.op)]
        if inner != sign:
            yield "brackets", f"({first}) {inner} (({second}) {sign} ({right}))"
            yield "brackets", f"(({first}) {sign} ({right})) {inner} ({second})"
    if isinstance(node.right, ast.BinOp) and type(node.right.op) in _SIGNS:
        left = scope.code.text(node.left)
        second, third = scope.code.text(node.right.left), scope.code.text(node.right.right)
        inner = _SIGNS[type(node.right.op)]
        if inner != sign:
            yield "brackets", f"(({left}) {sign} ({second})) {inner} ({third})"


def divisors(node: ast.expr, scope: Scope) -> Texts:
    """A quotient by another name of the function."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return
    if isinstance(node.right, ast.Name):
        return  # `names` exchanges it
    left, right = scope.code.text(node.left), scope.code.text(node.right)
    for name in scope.names[:12]:
        if name != right:
            yield "operand", f"({left}) / {name}"


def constants(node: ast.expr, scope: Scope) -> Texts:
    """Another number: one more, one less, the other sign, nothing, infinity."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", str(not node.value)
        return
    value = number(node)
    if value is None or number(scope.parents.get(node, node)) not in (None, value):
        return
    if isinstance(value, float) or abs(value) > 1000:
        if abs(value) > 1000 or abs(value) < 1e-3:
            yield "constant", 'float("-inf")'
            yield "constant", "0.0"
            yield "constant", repr(value * 10)
            yield "constant", repr(value / 10)
            return
        yield "constant", repr(-value)
        if abs(value) >= 10 or 0 < abs(value) < 0.1:
            yield "constant", repr(value * 10)
            yield "constant", repr(value / 10)
        if value:
            yield "constant", repr(1.0 / value)
            yield "constant", repr(value / 2)
            yield "constant", repr(value * 2)
        return
    for other in dict.fromkeys((value + 1, value - 1, -value)):
        if other != value:
            yield "constant", str(other)


def comparisons(node: ast.expr, scope: Scope) -> Texts:
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return
    left, right = scope.code.text(node.left), scope.code.text(node.comparators[0])
    for sign in _COMPARE.get(type(node.ops[0]), ()):
        yield "comparison", f"{left} {sign} {right}"


def operands(node: ast.expr, scope: Scope) -> Texts:
    """Operands exchanged or left out, another sign between them."""
    if not isinstance(node, ast.BinOp):
        return
    left, right = scope.code.text(node.left), scope.code.text(node.right)
    sign = _SIGNS.get(type(node.op))
    if sign is None:
        return
    for other in _OTHER.get(type(node.op), ()):
        yield "operator", f"({left}) {other} ({right})"
    if sign in "-/@" or (sign == "**" and number(node.right) not in (*_ROOTS, 2, 3)):
        yield "operand order", f"({right}) {sign} ({left})"
    if sign in ("+", "-", "*", "/", "&", "|"):
        yield "operand", left
        if sign in "+*&|":
            yield "operand", right
    if sign == "@":
        yield "order of axes", f"({left}) @ ({right}).swapaxes(-1, -2)"
        yield "order of axes", f"({left}).swapaxes(-1, -2) @ ({right})"


def logs(node: ast.expr, scope: Scope) -> Texts:
    """Something added to a logarithm; a maximum taken out of its sum of exponentials."""
    if called(node) != "log":
        return
    text, axis = scope.code.text(node), scope.axis
    for name in scope.locals[:10]:
        for added in _with_or_without_axis(name, scope):
            yield "operand", f"({text}) + {added}"
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and called(inner) == "exp" and not is_numpy(inner, scope):
            subject = subject_of(inner, scope)
            top = f"torch.nan_to_num(({subject}).amax({axis}, keepdim=True), neginf=0.0)"
            if subject:
                shifted = text.replace(scope.code.text(inner), f"torch.exp(({subject}) - {top})")
                for added in _with_or_without_axis(top, scope):
                    yield "overflow", f"({shifted}) + {added}"


def _with_or_without_axis(text: str, scope: Scope) -> Iterator[str]:
    yield text
    yield f"({text}).squeeze({scope.axis})"
    if "keepdim" in scope.parameters:
        yield f"({text} if keepdim else ({text}).squeeze({scope.axis}))"
