"""Idioms of array libraries: similar functions, options, masks, slices, shared memory.

In Triton kernels: masked loads, accumulators, partial tiles and offsets.
"""

from __future__ import annotations

import ast
import re

from ..function_scope import (
    FunctionScope,
    Proposals,
    called,
    is_method,
    number,
)

# Functions and types that are mistaken for each other.
_SIMILAR = (
    *(("mean", "sum"), ("max", "sum"), ("amax", "sum"), ("argmax", "argmin"), ("max", "min")),
    *(("sin", "cos"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("cat", "stack")),
    *(("logical_or", "logical_and"), ("eval", "train"), ("any", "all"), ("maximum", "minimum")),
    *(("cumsum", "sum"), ("floor", "ceil"), ("exp2", "exp"), ("log2", "log"), ("log1p", "log")),
    *(("expm1", "exp"), ("mul", "div"), ("add", "sub"), ("amin", "amax"), ("relu", "gelu")),
    *(("ReLU", "GELU"), ("Tanh", "GELU"), ("SiLU", "GELU"), ("repeat", "repeat_interleave")),
    *(("tile", "repeat"), ("ljust", "rjust"), ("square", "sqrt"), ("rand", "randn")),
    *(("cumprod", "cumsum"), ("sort", "argsort"), ("append", "extend"), ("abs", "square")),
    *(("SGD", "Adam"), ("softmax", "log_softmax"), ("float32", "float64"), ("floordiv", "div")),
    *(("lstrip", "rstrip"), ("round", "int")),
)
_INSTEAD: dict[str, list[str]] = {}
for _one, _other in _SIMILAR:
    _INSTEAD.setdefault(_one, []).append(_other)
    _INSTEAD.setdefault(_other, []).append(_one)
_BUILTINS = ("max", "min", "sum", "int", "round", "float")
_PICTURES = ("imshow", "matshow", "pcolormesh")
# Handled by the operators of axes, types and masks.
_NO_OPTIONS = ("dim", "axis", "keepdim", "keepdims", "dtype", "device", "mask", "generator")


def functions(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a similar function or type, and the argument itself in place of a call."""
    match node:
        case ast.Attribute(owner, name):
            for other in _INSTEAD.get(name, ()):
                yield "function", f"{scope.text(owner)}.{other}"
        case ast.Name(name) if name in _BUILTINS and called(scope.parents.get(node)):
            for other in _BUILTINS:
                if other != name:
                    yield "function", other
        case ast.Constant(str(value)):
            for other in _INSTEAD.get(value, ()):
                yield "kind of number", repr(other)


def without_call(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose the only argument of a call, or the array that it reduces, instead of the call."""
    if not isinstance(node, ast.Call):
        return
    only = len(node.args) == (0 if is_method(node) else 1) and not node.keywords
    if only and not any(isinstance(a, ast.Starred) for a in node.args):
        yield "function", scope.subject_of(node)
    elif called(node) in ("mean", "sum", "amax") and is_method(node):
        yield "operand", scope.subject_of(node)


def options(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a call without one of its options, and a buffer that is not saved."""
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        if keyword.arg and keyword.arg not in _NO_OPTIONS and isinstance(node, ast.Call):
            yield "option", scope.with_keywords(node, drop=keyword.arg)
    if called(node) == "register_buffer" and isinstance(node, ast.Call) and not node.keywords:
        yield "option", scope.with_keywords(node, {"persistent": "False"})


def masks(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose an inverted mask or the opposite triangle."""
    text, parent = scope.text(node), scope.parents.get(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Invert, ast.Not)):
        yield "mask", scope.text(node.operand)
    passed = isinstance(parent, ast.Call) and node is not parent.func
    if isinstance(node, ast.Name) and "mask" in node.id and passed:
        yield "mask", f"~{text}"
    if isinstance(node, ast.Compare) or called(node) in ("tril", "triu", "bool"):
        yield "mask", f"~({text})"
        yield "kind of number", f"({text}).bool()"
    if not isinstance(node, ast.Call):
        return
    if called(node) in ("tril", "triu"):
        opposite = "triu" if called(node) == "tril" else "tril"
        yield "mask", re.sub(rf"\b{called(node)}\b", opposite, text, count=1)
    if called(node) in ("masked_fill", "where") and len(node.args) > 1:
        yield "mask", scope.with_positional(node, 0, f"~({scope.text(node.args[0])})")
    if called(node) == "logical_not":
        yield "mask", scope.subject_of(node)


def slices(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a slice from the opposite end, a slice longer or shorter by one, or the array."""
    if not isinstance(node, ast.Subscript) or isinstance(node.ctx, ast.Store):
        return
    yield "index", scope.text(node.value)
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    texts = [scope.text(p) for p in parts]
    for place, part in enumerate(parts):
        for other in _other_slices(part, scope) if isinstance(part, ast.Slice) else ():
            written = ", ".join([*texts[:place], other, *texts[place + 1 :]])
            yield "index", f"{scope.text(node.value)}[{written}]"


def _other_slices(part: ast.Slice, scope: FunctionScope) -> list[str]:
    match part.lower, part.upper, part.step:
        case _, _, ast.expr() as step if not (part.upper and not part.lower):
            return [f"{1 - (number(part.lower) or 0)}::{scope.text(step)}"]
        case ast.expr() as bound, None, None:
            before, after = "", ":"
        case None, ast.expr() as bound, None:
            before, after = ":", ""
        case _:
            return []
    text = scope.text(bound)
    plain = text.lstrip("-").strip()
    others = [f"-({plain}):", f":{plain}", f"{plain}:", f":-({plain})"]
    others += [f"{before}({text}) + 1{after}", f"{before}({text}) - 1{after}"]
    same = scope.text(part)
    return [s for s in others if s.replace("(", "").replace(")", "") != same]


def copies(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a copy of a parameter's data or of a repeated layer, which would share memory."""
    parent = scope.parents.get(node)
    if called(parent) == "Parameter" and isinstance(parent, ast.Call) and node in parent.args:
        yield "shared", f"({scope.text(node)}).detach().clone()"
    match node:
        case ast.BinOp(ast.List([only]), ast.Mult(), times):
            text = scope.text(only)
            made = scope.assigned_once.get(text, "") if isinstance(only, ast.Name) else text
            if "(" in made:
                yield "shared", f"[{made} for _ in range({scope.text(times)})]"


def pictures(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose the same colour scale for every image, with the first row at the top."""
    if isinstance(node, ast.Call) and called(node) in _PICTURES:
        given = {k.arg: k.value for k in node.keywords}
        if "vmin" not in given or any(number(given.get(k)) is None for k in ("vmin", "vmax")):
            yield "colours", scope.with_keywords(node, {"vmin": "0.0", "vmax": "1.0"})
        if "origin" not in given:
            yield "order of axes", scope.with_keywords(node, {"origin": '"upper"'})


def gradient_counts(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose that `backward` returns one value for each argument of `forward`."""
    is_result = isinstance(scope.parents.get(node), ast.Return)
    if scope.name.endswith(".backward") and isinstance(node, ast.Tuple) and is_result:
        parts = [scope.text(e) for e in node.elts]
        for count in (1, 2):
            yield "count", ", ".join([*parts, *["None"] * count])
            if len(parts) > count + 1 and set(parts[-count:]) == {"None"}:
                yield "count", ", ".join(parts[:-count])


_LOWEST = ('float("-inf")', "-1e38")  # -inf minus -inf is NaN


def fill_values(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different fill value for masked loads, and a lower initial maximum."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.keyword) and parent.arg == "other":
        yield "constant", "0.0" if number(node) is None else 'float("-inf")'
    if isinstance(parent, ast.Assign) and number(node) is not None:
        running = {old for _, old, _ in scope.running_maxima}
        if any(isinstance(t, ast.Name) and t.id in running for t in parent.targets):
            yield from (("constant", lowest) for lowest in _LOWEST)


def accumulators(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose accumulating in float32."""
    if isinstance(node, ast.Call) and called(node) in ("zeros", "full") and node.args:
        function, last = scope.text(node.func), scope.text(node.args[-1])
        if function.startswith("tl.") and last != "tl.float32":
            parts = [*map(scope.text, node.args[:-1]), "tl.float32"]
            yield "kind of number", f"{function}({', '.join(parts)})"


def partial_tiles(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose counting the last, partial tile, and a grid with its axes swapped."""
    match node:
        case ast.BinOp(left, ast.FloorDiv(), right) if "tl" in scope.used:
            yield "off by one", f"tl.cdiv({scope.text(left)}, {scope.text(right)})"
        case ast.Tuple([first, second]) if called(first) == called(second) == "cdiv":
            yield "order of values", f"{scope.text(second)}, {scope.text(first)}"


def offsets(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose the position in the whole array in place of the position in a tile."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
        return  # probably the definition of the position in the whole array
    part = re.compile(rf"(?:{re.escape(node.id)} \+ \S.*|.*\S \+ {re.escape(node.id)})\Z")
    for name, written in scope.assigned_once.items():
        if name != node.id and part.match(written):
            yield "name", name
