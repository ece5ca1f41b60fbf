"""What was overlooked: an axis that a parameter names, a default that is written out, an offset,
the places beyond the end.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..source_text import Scope
from .patterns import Texts, called, number, with_call

_MOST_BOUNDS = 4
_LOWEST = ('float("-inf")', "-1e38")  # the second one can be taken from itself


def defaults(node: ast.expr, scope: Scope) -> Texts:
    """A number that is the default of a parameter, where the parameter belongs."""
    value = number(node)
    if value is None or isinstance(node, ast.UnaryOp):
        return
    arguments = scope.node.args
    named = [*arguments.posonlyargs, *arguments.args]
    last = named[len(named) - len(arguments.defaults) :]
    given = [*zip(last, arguments.defaults, strict=True)]
    given += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
    for argument, default in given:
        if number(default) == value:
            yield "argument", argument.arg


def dropped_unless_kept(node: ast.expr, scope: Scope) -> Texts:
    """What has kept an axis, beside something that has lost it."""
    parent = scope.parents.get(node)
    if not isinstance(node, ast.Name) or not isinstance(parent, ast.BinOp):
        return
    if "keepdim=True" not in scope.definitions.get(node.id, "keepdim=True"):
        return
    keep = next((p for p in scope.parameters if p in ("keepdim", "keepdims")), "")
    if keep:
        yield "kept axis", f"{node.id} if {keep} else {node.id}.squeeze({scope.axis})"


def laid_along(node: ast.expr, scope: Scope) -> Texts:
    """Numbers in a row, along the axis that a parameter names."""
    if called(node) == "arange" and scope.axis in scope.parameters:
        axis = scope.axis
        for name in [p for p in scope.parameters if p != axis][:2]:
            ones = f"[1] * ((-1 - {axis}) % {name}.ndim)"
            yield "axis", f"({scope.code.text(node)}).reshape([-1] + {ones})"


def new_figures(node: ast.expr, scope: Scope) -> Texts:
    """A figure of its own, not the one that is open."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr == "gca":
        yield "function", f"{scope.code.text(function.value)}.subplots()[1]"


def special_tokens(node: ast.expr, scope: Scope) -> Texts:
    """A text cut up with the tokens that a tokenizer puts around it."""
    if called(node) in ("tokenize", "encode", "convert_ids_to_tokens") and isinstance(
        node, ast.Call
    ):
        yield "option", with_call(node, scope, {"add_special_tokens": "True"})


def one_for_each(node: ast.expr, scope: Scope) -> Texts:
    """One value for each argument of the forward pass."""
    if not scope.name.endswith(".backward") or not isinstance(node, ast.Tuple):
        return
    if isinstance(scope.parents.get(node), ast.Return):
        parts = [scope.code.text(e) for e in node.elts]
        for more in (1, 2):
            yield "count", ", ".join([*parts, *["None"] * more])
        for fewer in (1, 2):
            if len(parts) > fewer + 1 and set(parts[-fewer:]) == {"None"}:
                yield "count", ", ".join(parts[:-fewer])


def anew(node: ast.expr, scope: Scope) -> Texts:
    """A list of one object many times over, with an object of its own in each place."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return
    for some, times in ((node.left, node.right), (node.right, node.left)):
        if isinstance(some, ast.List) and len(some.elts) == 1:
            only = some.elts[0]
            text = scope.code.text(only)
            made = scope.definitions.get(text, "") if isinstance(only, ast.Name) else text
            if made and "(" in made:
                yield "shared", f"[{made} for _ in range({scope.code.text(times)})]"


def halved(node: ast.expr, scope: Scope) -> Texts:
    """Half or twice what gets a name."""
    assigned = isinstance(scope.parents.get(node), ast.Assign)
    if assigned and isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield "factor", f"({scope.code.text(node)}) / 2"
        yield "factor", f"({scope.code.text(node)}) * 2"


def offsets(node: ast.expr, scope: Scope) -> Texts:
    """The number of a place within a part, where the place in the whole has a name."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    part = re.compile(rf"(?:{re.escape(node.id)} \+ \S.*|.*\S \+ {re.escape(node.id)})\Z")
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
        return  # that may be where the name of the whole is made
    for name, written in scope.definitions.items():
        if name != node.id and part.match(written):
            yield "name", name


def starts(node: ast.expr, scope: Scope) -> Texts:
    """Below everything, where a running maximum begins."""
    parent = scope.parents.get(node)
    if number(node) is None or not isinstance(parent, ast.Assign):
        return
    if any(isinstance(t, ast.Name) and t.id in scope.running for t in parent.targets):
        for lowest in _LOWEST:
            yield "constant", lowest


def steps(node: ast.expr, scope: Scope) -> Texts:
    """As many rounds as there are parts, the last one of which may be shorter."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        left, right = scope.code.text(node.left), scope.code.text(node.right)
        if "tl" in scope.used:
            yield "off by one", f"tl.cdiv({left}, {right})"


def grids(node: ast.expr, scope: Scope) -> Texts:
    """The axes of a kernel's grid exchanged."""
    sizes = node.elts if isinstance(node, ast.Tuple) else []
    if len(sizes) == 2 and all(called(e) == "cdiv" for e in sizes):
        first, second = map(scope.code.text, sizes)
        yield "order of values", f"{second}, {first}"


def beyond_the_end(node: ast.expr, scope: Scope) -> Texts:
    """A product of tiles, with nothing where its columns are past the end."""
    product = isinstance(node, ast.BinOp) and any(
        called(side) == "dot" for side in (node.left, node.right)
    )
    if not (product or called(node) == "dot") or "tl" not in scope.used:
        return
    if isinstance(scope.parents.get(node), ast.Assign):
        for place, size in _bounds(scope):
            seen = f"{place}[None, :] < {size}"
            yield "mask", f'tl.where({seen}, {scope.code.text(node)}, float("-inf"))'


def _bounds(scope: Scope) -> Iterator[tuple[str, str]]:
    """The places and the sizes that a kernel compares, of the ones named last first."""
    found: dict[tuple[str, str], None] = {}
    for node in ast.walk(scope.node):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt):
            left = node.left.value if isinstance(node.left, ast.Subscript) else node.left
            size = node.comparators[0]
            if isinstance(left, ast.Name) and isinstance(size, ast.Name):
                found[left.id, size.id] = None
    yield from [*reversed(found)][:_MOST_BOUNDS]
