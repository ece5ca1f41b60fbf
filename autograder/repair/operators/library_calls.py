"""Propose edits of library calls: functions, options, masks, slices, dtypes, devices, gradients.

Some operators add a missing step: a guard against NaN, a normalisation or a rescaling.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from ..function_scope import FunctionScope, Proposals, called, is_method, names_in, number
from .expressions import is_operand

_PAIRS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["pairs"]
_SIMILAR_NAMES: dict[str, list[str]] = {}
for _one, _other in (pair.split("/") for pair in _PAIRS.split()):
    _SIMILAR_NAMES.setdefault(_one, []).append(_other)
    _SIMILAR_NAMES.setdefault(_other, []).append(_one)
_BUILTINS = ("max", "min", "sum", "int", "round", "float")
# Options that `options` does not remove, because other operators handle most of them.
_NO_OPTIONS = ("dim", "axis", "keepdim", "keepdims", "dtype", "device", "mask", "generator")


def functions(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a function or type that students confuse with the given one."""
    match node:
        case ast.Attribute(owner, name):
            for other in _SIMILAR_NAMES.get(name, ()):
                yield "function", f"{scope.owner_text(owner)}.{other}"
        case ast.Name(name) if name in _BUILTINS and called(scope.parents.get(node)):
            yield from (("function", other) for other in _BUILTINS)
        case ast.Constant(str(value)):
            for other in _SIMILAR_NAMES.get(value, ()):
                yield "kind of number", repr(other)


def without_call(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a call's argument in place of the call, or an array in place of its reduction."""
    if not isinstance(node, ast.Call):
        return
    only = len(node.args) == (0 if is_method(node) else 1) and not node.keywords
    if only and not any(isinstance(a, ast.Starred) for a in node.args):
        yield "function", scope.subject_of(node)
    elif called(node) in ("mean", "sum", "amax") and is_method(node):
        yield "operand", scope.subject_of(node)


def options(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a call without one of its options, or a buffer that is not in the state dict."""
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        if keyword.arg and keyword.arg not in _NO_OPTIONS and isinstance(node, ast.Call):
            yield "option", scope.with_keywords(node, drop=keyword.arg)
    if called(node) == "register_buffer" and isinstance(node, ast.Call) and not node.keywords:
        yield "option", scope.with_keywords(node, {"persistent": "False"})


def masks(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose an inverted mask, the opposite triangle, or a Boolean mask."""
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
    """Propose the whole array, a slice of the opposite end, or one more or one less element."""
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
    """Propose a copy of a parameter's data, or separate layers where a list repeats one layer."""
    parent = scope.parents.get(node)
    if called(parent) == "Parameter" and isinstance(parent, ast.Call) and node in parent.args:
        yield "shared", f"({scope.text(node)}).detach().clone()"
    match node:
        case ast.BinOp(ast.List([only]), ast.Mult(), times):
            text = scope.text(only)
            made = scope.assigned_once.get(text, "") if isinstance(only, ast.Name) else text
            if "(" in made:
                yield "shared", f"[{made} for _ in range({scope.text(times)})]"


_PICTURES = ("imshow", "matshow", "pcolormesh")


def pictures(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a colour scale from 0 to 1 for every image, and an origin at the top."""
    if isinstance(node, ast.Call) and called(node) in _PICTURES:
        given = {k.arg: k.value for k in node.keywords}
        if "vmin" not in given or any(number(given.get(k)) is None for k in ("vmin", "vmax")):
            yield "colours", scope.with_keywords(node, {"vmin": "0.0", "vmax": "1.0"})
        if "origin" not in given:
            yield "order of axes", scope.with_keywords(node, {"origin": '"upper"'})


def partial_tiles(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose rounding up the number of tiles in a Triton kernel, to include a partial tile."""
    match node:
        case ast.BinOp(left, ast.FloorDiv(), right) if "tl" in scope.used:
            yield "off by one", f"tl.cdiv({scope.text(left)}, {scope.text(right)})"


_LOWEST = ('float("-inf")', "-1e38")  # -1e38 because -inf minus -inf is NaN


def fill_values(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different fill value for masked loads, or a lower start for a running maximum."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.keyword) and parent.arg == "other":
        yield "constant", "0.0" if number(node) is None else 'float("-inf")'
    if isinstance(parent, ast.Assign) and number(node) is not None:
        running = {old for _, old, _ in scope.running_maxima}
        if any(isinstance(t, ast.Name) and t.id in running for t in parent.targets):
            yield from (("constant", lowest) for lowest in _LOWEST)


_CREATE = ("arange", "ones", "zeros", "full", "eye", "empty", "tensor", "randn", "linspace")
_CPU = (["cpu"], ["torch.device('cpu')"], ['torch.device("cpu")'])
_CASTS = ("float", "double", "half", "bool", "int", "long")


def gradients(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose detaching a value or keeping its gradient, or keeping the device or dtype."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        inner = scope.text(node.func.value)
        if called(node) in ("detach", "item", "numpy", "clone") and not node.args:
            yield "gradient", inner
        if _moves_to_cpu(node, scope):  # a move to the CPU keeps the gradient
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
    """Propose subtracting the maximum before `exp`, replacing infinities, or a float32 softmax."""
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


def types(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a different dtype or device for a new array, or a linear layer without bias."""
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
    """Propose a result that is converted, detached, transposed, negated or passed to a layer."""
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
    """Propose a quotient that is finite for a zero divisor, or zero weights where masked."""
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
    """Propose adding a variable of the function to an assigned or returned value."""
    if not isinstance(scope.parents.get(node), (ast.Assign, ast.Return)):
        return
    inside = names_in(node)
    taken = [n for n in scope.names if n not in inside or isinstance(node, ast.Call)]
    for name in taken[:8] if is_operand(node, scope) else ():
        yield "missing step", f"({scope.text(node)}) + {name}"


def normalisation(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose dividing an expression by its sum."""
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
    """Yield the factors that rescale a running sum when the running maximum grows."""
    for library, old, new in scope.running_maxima:
        if library == "tl":
            factor = f"tl.where({old} == {new}, 1.0, tl.exp({old} - {new}))"
            yield from (factor, f"{factor}[:, None]")
        elif library == "torch":
            factor = f"torch.exp(torch.nan_to_num({old} - {new}, nan=0.0))"
            yield from (factor, f"{factor}[..., None]")
