"""Changes of one expression: the operators, each with the kind of mistake that it would mend.

Each takes an expression and its function and gives texts that could stand in its place. They hold
for any array program; nothing here knows an exercise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations

from .code import Scope

Texts = Iterator[tuple[str, str]]  # kind, text
Operator = Callable[[ast.expr, Scope], Texts]

_REDUCE = frozenset(
    ["max", "min", "sum", "mean", "amax", "amin", "argmax", "any", "all", "logsumexp", "norm"]
)
_ALONG = _REDUCE | frozenset(
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
_SHAPED = ("reshape", "view")
_MAKERS = ("arange", "ones", "zeros", "full", "eye", "empty", "tensor", "randn", "linspace")
_COMPARE: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">=", ">"),
    ast.LtE: ("<", ">", ">="),
    ast.Gt: (">=", "<=", "<"),
    ast.GtE: (">", "<", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
}
_OTHER: dict[type[ast.operator], tuple[str, ...]] = {
    ast.Add: ("-",),
    ast.Sub: ("+",),
    ast.Mult: ("/",),
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


def called(node: ast.AST) -> str:
    """The last name of what a call calls, or nothing."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _number(node: ast.AST) -> int | float | None:
    """A literal number, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    return None


def _with_call(
    node: ast.Call, scope: Scope, added: Mapping[str, str] = {}, drop: tuple[str, ...] = ()
) -> str:
    """The call with keywords added, replaced or dropped."""
    parts = [scope.code.text(a) for a in node.args]
    for keyword in node.keywords:
        if keyword.arg is None:
            parts.append(f"**{scope.code.text(keyword.value)}")
        elif keyword.arg not in drop and keyword.arg not in added:
            parts.append(f"{keyword.arg}={scope.code.text(keyword.value)}")
    parts += [f"{name}={text}" for name, text in added.items()]
    return f"{scope.code.text(node.func)}({', '.join(parts)})"


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("torch", "np", "numpy", "F", "math", "nn")


def _numpy(node: ast.Call, scope: Scope) -> bool:
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        if node.func.value.id in ("np", "numpy"):
            return True
        if node.func.value.id in ("torch", "F"):
            return False
    return "np" in scope.used and "torch" not in scope.used


def _subject(node: ast.Call, scope: Scope) -> str:
    """What a reduction or the like works on: its object, or its first argument."""
    if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
        return scope.code.text(node.func.value)
    return scope.code.text(node.args[0]) if node.args else ""


# The operators, the likeliest first


def axes(node: ast.expr, scope: Scope) -> Texts:
    """Another axis, kept axes, an axis where there is none."""
    if not isinstance(node, ast.Call) or called(node) not in _ALONG:
        return
    name = called(node)
    numpy = _numpy(node, scope)
    axis, keep = ("axis", "keepdims") if numpy else ("dim", "keepdim")
    given = {k.arg: k.value for k in node.keywords}
    place = given.get("dim", given.get("axis"))
    method = isinstance(node.func, ast.Attribute) and not _is_module(node.func.value)
    first = 0 if method else 1
    positional = node.args[first] if len(node.args) > first else None
    wanted = list(dict.fromkeys((scope.axis, "-1", "-2", "-3", "0", "1", "2")))
    if place is not None:
        used = "dim" if "dim" in given else "axis"
        for text in wanted:
            if text != scope.code.text(place):
                yield "axis", _with_call(node, scope, {used: text})
    elif positional is not None and (
        _number(positional) is not None or scope.code.text(positional) in ("dim", "axis")
    ):
        for text in wanted:
            if text != scope.code.text(positional):
                yield "axis", _positional(node, scope, first, text)
    elif name in _REDUCE:
        subject = _subject(node, scope)
        function = {"max": "amax", "min": "amin"}.get(name, name)
        for text in dict.fromkeys((scope.axis, "-1", "-2")):
            if numpy:
                yield "axis", _with_call(node, scope, {"axis": text, "keepdims": "True"})
            else:
                yield "axis", f"torch.{function}({subject}, dim={text}, keepdim=True)"
            yield "axis", _with_call(node, scope, {axis: text})
    if name in _REDUCE and (place is not None or positional is not None):
        if keep not in given:
            yield "kept axis", _with_call(node, scope, {keep: "True"})
        else:
            yield "kept axis", _with_call(node, scope, drop=(keep,))


def _positional(node: ast.Call, scope: Scope, index: int, text: str) -> str:
    parts = [scope.code.text(a) for a in node.args]
    parts[index] = text
    parts += [f"{k.arg}={scope.code.text(k.value)}" for k in node.keywords if k.arg]
    return f"{scope.code.text(node.func)}({', '.join(parts)})"


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
            if given and not isinstance(given[0], (ast.List, ast.Starred)):
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
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, power = scope.code.text(node.left), _number(node.right)
        if isinstance(power, float):
            yield "scale", f"({base}) ** {-power}"
            yield "scale", f"({base}) ** {power / 2}"
    if called(node) == "sqrt" and isinstance(node, ast.Call) and len(node.args) == 1:
        yield "scale", scope.code.text(node.args[0])


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
        axis = _number(node.slice)
        if node.value.attr == "shape" and isinstance(axis, int):
            return node.value.value, axis
    if isinstance(node, ast.Call) and called(node) == "size" and len(node.args) == 1:
        axis = _number(node.args[0])
        if isinstance(node.func, ast.Attribute) and isinstance(axis, int):
            return node.func.value, axis
    return None


def masks(node: ast.expr, scope: Scope) -> Texts:
    """A mask read the other way round; the other triangle."""
    text = scope.code.text(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Invert, ast.Not)):
        yield "mask", scope.code.text(node.operand)
    parent = scope.parents.get(node)
    passed = isinstance(parent, ast.Call) and node is not parent.func
    if isinstance(node, ast.Name) and passed and "mask" in node.id:
        yield "mask", f"~{text}"
    if called(node) in ("tril", "triu") and isinstance(node, ast.Call):
        swapped = "triu" if called(node) == "tril" else "tril"
        yield "mask", re.sub(rf"\b{called(node)}\b", swapped, text, count=1)
    if (
        isinstance(node, ast.Call)
        and called(node) in ("masked_fill", "where")
        and len(node.args) > 1
    ):
        index = 0
        yield "mask", _positional(node, scope, index, f"~({scope.code.text(node.args[index])})")
    if isinstance(node, ast.Compare) or called(node) in ("tril", "triu", "bool"):
        yield "mask", f"~({text})"
        yield "kind of number", f"({text}).bool()"


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
    if name in _SHAPED and not _is_module(node.func.value):
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
    if _is_module(node.func.value):  # type: ignore[attr-defined]
        subject, parts = scope.code.text(node.args[0]), node.args[1:]
    else:
        parts = node.args
    given = tuple(_number(a) for a in parts)
    parent = scope.parents.get(node)
    joined = isinstance(parent, ast.Attribute) and parent.attr in _SHAPED
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
    if not isinstance(inner, ast.Call) or called(inner) not in _SHAPED or len(inner.args) != 4:
        return
    subject = scope.code.text(inner.func.value)  # type: ignore[attr-defined]
    parts = [scope.code.text(a) for a in inner.args]
    swapped = [parts[0], parts[1], parts[3], parts[2]]
    yield "order of axes", f"{subject}.reshape({', '.join(swapped)}).permute(0, 2, 1, 3)"


def constants(node: ast.expr, scope: Scope) -> Texts:
    """Another number: one more, one less, the other sign, nothing, infinity."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", str(not node.value)
        return
    value = _number(node)
    if value is None or _number(scope.parents.get(node, node)) not in (None, value):
        return
    if isinstance(value, float) or abs(value) > 1000:
        if abs(value) > 1000 or abs(value) < 1e-3:
            yield "constant", 'float("-inf")'
            yield "constant", "0.0"
            return
        yield "constant", repr(-value)
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
    if sign in "-/@":
        yield "operand order", f"({right}) {sign} ({left})"
    if sign in ("+", "-", "*", "/", "&", "|"):
        yield "operand", left
        if sign in "+*&|":
            yield "operand", right
    if sign == "@":
        yield "order of axes", f"({left}) @ ({right}).swapaxes(-1, -2)"
        yield "order of axes", f"({left}).swapaxes(-1, -2) @ ({right})"


def arguments(node: ast.expr, scope: Scope) -> Texts:
    """Arguments exchanged, forgotten or one too many."""
    if isinstance(node, ast.Tuple) and len(node.elts) in (2, 3) and isinstance(node.ctx, ast.Load):
        parts = [scope.code.text(e) for e in node.elts]
        for order in permutations(range(len(parts))):
            if list(order) != sorted(order):
                yield "order of values", ", ".join(parts[i] for i in order)
    if not isinstance(node, ast.Call):
        return
    parts = [scope.code.text(a) for a in node.args]
    target = scope.code.definitions.get(called(node))
    if target is not None or called(node) in scope.used:
        for first in range(len(parts) - 1):
            for second in range(first + 1, len(parts)):
                swapped = list(parts)
                swapped[first], swapped[second] = swapped[second], swapped[first]
                yield "argument order", _with_arguments(node, scope, swapped)
    yield from _forgotten(node, scope, parts, target)


def _forgotten(node: ast.Call, scope: Scope, parts: list[str], target: ast.AST | None) -> Texts:
    given = {k.arg for k in node.keywords}
    if isinstance(target, ast.FunctionDef):
        takes = [a.arg for a in target.args.args]
        for name in takes[len(parts) :]:
            for text in (name, f"self.{name}"):
                known = name in scope.names or name in scope.attributes
                if name not in given and known and (text in scope.names or "self." in text):
                    yield "argument", _with_call(node, scope, {name: text})
    for name in ("generator",):
        if name in scope.parameters and name not in given and called(node) in _RANDOM:
            yield "argument", _with_call(node, scope, {name: name})
    passed = set(parts) | {scope.code.text(k.value) for k in node.keywords}
    owned = isinstance(node.func, ast.Name) and node.func.id[:1].isupper()
    for name in scope.parameters if owned else ():
        if name not in passed:
            yield "argument", _with_arguments(node, scope, [*parts, name])


_RANDOM = ("multinomial", "randn", "rand", "normal", "randint")


def _with_arguments(node: ast.Call, scope: Scope, parts: list[str]) -> str:
    keywords = [f"{k.arg}={scope.code.text(k.value)}" for k in node.keywords if k.arg]
    return f"{scope.code.text(node.func)}({', '.join([*parts, *keywords])})"


def gradients(node: ast.expr, scope: Scope) -> Texts:
    """What cuts the gradient, or fails to."""
    text = scope.code.text(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        inner = scope.code.text(node.func.value)
        if called(node) in ("detach", "item", "numpy", "clone", "cpu") and not node.args:
            yield "gradient", inner
        if called(node) == "numpy":
            yield "gradient", f"{inner}.detach().numpy()"
        if called(node) in ("float", "double", "half", "bool", "int", "long") and not node.args:
            yield "kind of number", inner
    if isinstance(node, ast.Attribute) and node.attr == "data":
        yield "gradient", scope.code.text(node.value)
    if called(node) in ("amax", "max"):
        yield "gradient", f"({text}).detach()"


def stability(node: ast.expr, scope: Scope) -> Texts:
    """A maximum taken off before exp; infinities taken care of."""
    if not isinstance(node, ast.Call):
        return
    text = scope.code.text(node)
    name, subject = called(node), _subject(node, scope)
    axis = scope.axis
    if name == "exp" and subject:
        function = None if _is_method(node) else scope.code.text(node.func)
        numpy = _numpy(node, scope)
        for place in dict.fromkeys((axis, "-1", "-2")):
            top = (
                f"({subject}).max(axis={place}, keepdims=True)"
                if numpy
                else f"({subject}).amax({place}, keepdim=True)"
            )
            shifted = f"({subject}) - {top}"
            yield "overflow", f"{function}({shifted})" if function else f"({shifted}).exp()"
    if name in ("amax", "max") and not _numpy(node, scope):
        yield "infinity", f"torch.nan_to_num({text}, neginf=0.0)"
    if name == "softmax" and subject:
        place = next((scope.code.text(k.value) for k in node.keywords if k.arg == "dim"), "-1")
        hidden = f"torch.isneginf({subject})"
        seen = f"torch.where({hidden}.all({place}, keepdim=True), 0.0, {subject})"
        yield "empty rows", f"torch.softmax({seen}, dim={place}).masked_fill({hidden}, 0.0)"
        yield "overflow", f"torch.softmax(({subject}).float(), dim={place}).to(({subject}).dtype)"


def _is_method(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and not _is_module(node.func.value)


def types(node: ast.expr, scope: Scope) -> Texts:
    """Another kind of number, or another device."""
    if not isinstance(node, ast.Call):
        return
    name, text = called(node), scope.code.text(node)
    given = {k.arg: k.value for k in node.keywords}
    if "dtype" in given:
        yield "kind of number", _with_call(node, scope, drop=("dtype",))
        for parameter in scope.parameters[:2]:
            yield "kind of number", _with_call(node, scope, {"dtype": f"{parameter}.dtype"})
    subject = _subject(node, scope)
    if name == "astype" and isinstance(node.func, ast.Attribute):
        yield "kind of number", subject
    if name in ("astype", "array", "asarray", "float64") and subject:
        yield "kind of number", f"{subject} if {subject}.dtype.kind == 'f' else {text}"
    if name == "sqrt" and text.startswith(("np.", "numpy.")):
        yield "kind of number", f"float({text})"
    if name in _MAKERS and text.startswith("torch.") and "device" not in given:
        if "device" in scope.parameters:
            yield "device", _with_call(node, scope, {"device": "device"})
        for parameter in scope.parameters[:3]:
            yield "device", _with_call(node, scope, {"device": f"{parameter}.device"})
    if name in _MAKERS and text.startswith("torch.") and "dtype" not in given:
        yield "kind of number", _with_call(node, scope, {"dtype": "torch.bool"})
    if name == "Linear" and "bias" not in given:
        yield "bias", _with_call(node, scope, {"bias": "False"})


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


def logs(node: ast.expr, scope: Scope) -> Texts:
    """Something added to a logarithm; a maximum taken out of its sum of exponentials."""
    if called(node) != "log":
        return
    text, axis = scope.code.text(node), scope.axis
    for name in scope.locals[:10]:
        for added in _with_or_without_axis(name, scope):
            yield "operand", f"({text}) + {added}"
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and called(inner) == "exp" and not _numpy(inner, scope):
            subject = _subject(inner, scope)
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


def indices(node: ast.expr, scope: Scope) -> Texts:
    """A part taken where the whole was meant; an infinite maximum, with its place or without."""
    if isinstance(node, ast.Subscript):
        yield "index", scope.code.text(node.value)
    inner = node.value if isinstance(node, (ast.Subscript, ast.Attribute)) else None
    if inner is not None and called(inner) == "max":
        yield "infinity", f"torch.nan_to_num({scope.code.text(node)}, neginf=0.0)"


def names(node: ast.expr, scope: Scope) -> Texts:
    """Another name of the function in its place, one more or one less."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id == "self":
            for other in scope.attributes:
                if other != node.attr:
                    yield "name", f"self.{other}"
        return
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    parent = scope.parents.get(node)
    if node.id not in scope.names or (isinstance(parent, ast.Call) and parent.func is node):
        return
    for other in scope.names:
        if other != node.id:
            yield "name", other


def texts(node: ast.expr, scope: Scope) -> Texts:
    """A text of the function for another of its texts; a number in a text one more or less."""
    if isinstance(node, ast.JoinedStr):
        whole = scope.code.text(node)
        for name in scope.names:
            if "{" + name + "}" in whole:
                yield "off by one", whole.replace("{" + name + "}", "{" + name + " + 1}")
                yield "off by one", whole.replace("{" + name + "}", "{" + name + " - 1}")
    if isinstance(node, ast.Call) and called(node) == "arange" and len(node.args) == 1:
        inner = scope.code.text(node.args[0])
        for name in scope.names[:12]:
            if name != inner:
                yield "off by one", f"({scope.code.text(node)} + {name})"
        yield "off by one", f"({scope.code.text(node)} + 1)"
    if isinstance(node, ast.Call) and called(node) == "arange" and len(node.args) == 2:
        yield "off by one", f"({scope.code.text(node)} - 1)"


OPERATORS: tuple[tuple[Operator, float], ...] = (
    (axes, 1.0),
    (scales, 1.0),
    (masks, 1.0),
    (comparisons, 1.0),
    (stability, 1.0),
    (gradients, 1.2),
    (orders, 1.2),
    (dealt, 1.0),
    (operands, 1.5),
    (arguments, 1.5),
    (sizes, 1.8),
    (types, 1.8),
    (constants, 2.0),
    (wrapped, 2.2),
    (logs, 1.6),
    (indices, 1.8),
    (texts, 2.2),
    (names, 3.0),
)
