"""Idioms of array programs that are only half there: an axis moved and not moved back, a running
maximum without its rescaling, a row's sum that was never taken off.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..source_text import Scope
from .patterns import Texts, called, is_module, number, subject_of, with_call

_PICTURES = ("imshow", "matshow", "pcolormesh")
_MOST_NAMES = 10
_LAYERS = {"ReLU": ("GELU",), "GELU": ("ReLU",), "Tanh": ("GELU",), "SiLU": ("GELU",)}


def moved_back(node: ast.expr, scope: Scope) -> Texts:
    """What is returned, with the axes where the argument had them."""
    parent = scope.parents.get(node)
    inside = isinstance(parent, ast.Tuple) and isinstance(scope.parents.get(parent), ast.Return)
    if isinstance(node, ast.Tuple) or not (isinstance(parent, ast.Return) or inside):
        return
    text = scope.code.text(node)
    for first, second in scope.moves:
        yield "order of axes", f"({text}).swapaxes({first}, {second})"
        yield "order of axes", f"({text}).movedim({second}, {first})"


def squeezed(node: ast.expr, scope: Scope) -> Texts:
    """One axis dropped, not all that have one entry."""
    if isinstance(node, ast.Call) and called(node) == "squeeze" and not node.keywords:
        method = isinstance(node.func, ast.Attribute) and not is_module(node.func.value)
        if len(node.args) == (0 if method else 1):
            yield "axis", f"({subject_of(node, scope)}).squeeze({scope.axis})"


def rescaled(node: ast.expr, scope: Scope) -> Texts:
    """A running sum brought to the new maximum before more is added."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return
    for own, more in ((node.left, node.right), (node.right, node.left)):
        if isinstance(own, ast.Name) and own.id in scope.locals:
            for shrink in shrinking(scope):
                yield "sum over rounds", f"{own.id} * {shrink} + ({scope.code.text(more)})"


def shrinking(scope: Scope) -> Iterator[str]:
    """By what the sums of earlier rounds shrink if a maximum has grown."""
    for library, old, new in scope.maxima:
        if library == "tl":
            shrunk = f"tl.where({old} == {new}, 1.0, tl.exp({old} - {new}))"
            yield from (shrunk, f"{shrunk}[:, None]")
        elif library == "torch":
            factor = f"torch.exp(torch.nan_to_num({old} - {new}, nan=0.0))"
            yield from (factor, f"{factor}[..., None]")


def row_sums(node: ast.expr, scope: Scope) -> Texts:
    """A factor less the sum of a row of products with what was never used."""
    parent = scope.parents.get(node)
    factor = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult)
    if not factor or not isinstance(node, ast.Name) or not scope.unused:
        return
    made_of = re.findall(r"\b[A-Za-z_]\w*", scope.definitions.get(node.id, ""))
    for unused in scope.unused[:2]:
        for other in dict.fromkeys((*made_of, node.id)):
            if other in scope.names and other != unused:
                product = f"({other} * {unused}).sum(-1, keepdim=True)"
                yield "unused", f"({node.id} - {product})"


def of_another(node: ast.expr, scope: Scope) -> Texts:
    """What a name stands for, worked out for another argument, where the name serves twice."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    written = scope.definitions.get(node.id)
    if written is None or scope.uses.get(node.id, 0) < 2:
        return
    for old in scope.parameters:
        found = re.compile(rf"\b{re.escape(old)}\b(?!\s*=[^=])")
        if found.search(written):
            for new in scope.parameters:
                if new != old:
                    yield "size", found.sub(new, written)


def rounded_up(node: ast.expr, scope: Scope) -> Texts:
    """A whole number rounded up, or up to an even one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        text = scope.code.text(node)
        left, right = scope.code.text(node.left), scope.code.text(node.right)
        yield "off by one", f"-(-({left}) // ({right}))"
        yield "off by one", f"({text}) + ({text}) % 2"


def shifted_triangles(node: ast.expr, scope: Scope) -> Texts:
    """A triangle whose diagonal begins as far along as there are more columns than rows."""
    if called(node) not in ("tril", "triu") or not isinstance(node, ast.Call):
        return
    subject = node.func.value if isinstance(node.func, ast.Attribute) else None
    if subject is None or is_module(subject):
        subject = node.args[0] if node.args else None
    if not isinstance(subject, ast.Call) or len(subject.args) < 2:
        return
    rows, columns = (scope.code.text(a) for a in subject.args[:2])
    if rows != columns and not node.keywords:
        yield "off by one", with_call(node, scope, {"diagonal": f"({columns}) - ({rows})"})


def filled(node: ast.expr, scope: Scope) -> Texts:
    """What stands in for entries outside, in a load of a kernel."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.keyword) and parent.arg == "other":
        nothing = number(node)
        if nothing is not None:
            yield "constant", 'float("-inf")'
        else:
            yield "constant", "0.0"


def copies(node: ast.expr, scope: Scope) -> Texts:
    """A copy in the place of what somebody else holds too."""
    parent = scope.parents.get(node)
    if called(parent or node) == "Parameter" and parent is not node:
        yield "shared", f"({scope.code.text(node)}).detach().clone()"


def colours(node: ast.expr, scope: Scope) -> Texts:
    """One range of colours for all pictures, where each has its own."""
    if isinstance(node, ast.Call) and called(node) in _PICTURES:
        given = {k.arg: k.value for k in node.keywords}
        if any(k in given and number(given[k]) is None for k in ("vmin", "vmax")):
            yield "colours", with_call(node, scope, {"vmin": "0.0", "vmax": "1.0"})


def numbered(node: ast.expr, scope: Scope) -> Texts:
    """A number in a text, one more or one less."""
    if isinstance(node, ast.JoinedStr):
        whole = scope.code.text(node)
        for name in scope.names:
            if "{" + name + "}" in whole:
                yield "off by one", whole.replace("{" + name + "}", "{" + name + " + 1}")
                yield "off by one", whole.replace("{" + name + "}", "{" + name + " - 1}")


def widths(node: ast.expr, scope: Scope) -> Texts:
    """The root of the last size of something."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp) and parent.left is node:
        inside = isinstance(parent.op, ast.Pow) and number(parent.right) in (0.5, -0.5)
    else:
        inside = called(parent or node) == "sqrt" and parent is not node
    if inside and not isinstance(node, ast.Constant):
        for name in scope.names[:_MOST_NAMES]:
            if f"{name}.shape[-1]" != scope.code.text(node):
                yield "scale", f"{name}.shape[-1]"


def finite_maximum(node: ast.expr, scope: Scope) -> Texts:
    """Something less its maximum, which may be infinite."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        top = node.right
        if isinstance(top, ast.Name) and top.id in scope.locals:
            left = scope.code.text(node.left)
            yield "infinity", f"({left}) - torch.nan_to_num({top.id}, neginf=0.0)"


def turned_masks(node: ast.expr, scope: Scope) -> Texts:
    """A mask without its negation."""
    if called(node) == "logical_not" and isinstance(node, ast.Call):
        yield "mask", subject_of(node, scope)


def renormalised(node: ast.expr, scope: Scope) -> Texts:
    """A product, or what is above zero, that is divided by its sum, where that is not nothing."""
    whole = isinstance(scope.parents.get(node), (ast.Assign, ast.Return))
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    if whole and (product or called(node) in ("relu", "clamp", "clamp_min", "clip", "maximum")):
        text = scope.code.text(node)
        total = f"({text}).sum({scope.axis}, keepdim=True)"
        yield "share", f"({text}) / ({total} + ({total} == 0))"


def exchanged_layers(node: ast.expr, scope: Scope) -> Texts:
    """A layer, or what it is told when it is made, that is mistaken for this one."""
    if isinstance(node, ast.Attribute):
        for other in _LAYERS.get(node.attr, ()):
            yield "function", f"{scope.code.text(node.value)}.{other}"
    if called(node) == "register_buffer" and isinstance(node, ast.Call) and not node.keywords:
        yield "option", with_call(node, scope, {"persistent": "False"})


def unreduced(node: ast.expr, scope: Scope) -> Texts:
    """What is reduced along an axis, as it was before."""
    if isinstance(node, ast.Call) and called(node) in ("mean", "sum", "amax"):
        method = isinstance(node.func, ast.Attribute) and not is_module(node.func.value)
        if method and (node.keywords or node.args):
            yield "operand", subject_of(node, scope)


def accumulators(node: ast.expr, scope: Scope) -> Texts:
    """A tile of a kernel that is filled in float32."""
    if called(node) in ("zeros", "full") and isinstance(node, ast.Call) and node.args:
        last = scope.code.text(node.args[-1])
        if scope.code.text(node.func).startswith("tl.") and last != "tl.float32":
            parts = [*map(scope.code.text, node.args[:-1]), "tl.float32"]
            yield "kind of number", f"{scope.code.text(node.func)}({', '.join(parts)})"
