"""One for another: functions mistaken for each other, branches, slices, letters of einsum."""

from __future__ import annotations

import ast
import re

from ..source_text import Scope
from .patterns import Texts, called, is_method, number, with_call, with_positional

# What is called instead of what; each way round.
_PAIRS = (
    *(("mean", "sum"), ("max", "sum"), ("amax", "sum"), ("argmax", "argmin"), ("max", "min")),
    *(("sin", "cos"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("cat", "stack")),
    *(("logical_or", "logical_and"), ("eval", "train"), ("any", "all"), ("maximum", "minimum")),
    *(("cumsum", "sum"), ("floor", "ceil"), ("exp2", "exp"), ("log2", "log"), ("log1p", "log")),
    *(("expm1", "exp"), ("mul", "div"), ("add", "sub"), ("amin", "amax"), ("relu", "gelu")),
    *(("ReLU", "GELU"), ("repeat", "repeat_interleave"), ("tile", "repeat"), ("ljust", "rjust")),
    *(("square", "sqrt"), ("rand", "randn"), ("cumprod", "cumsum"), ("sort", "argsort")),
    *(("append", "extend"), ("abs", "square"), ("SGD", "Adam"), ("softmax", "log_softmax")),
    *(("float32", "float64"), ("floordiv", "div"), ("lstrip", "rstrip"), ("round", "int")),
)
_INSTEAD: dict[str, tuple[str, ...]] = {}
for _one, _other in _PAIRS:
    _INSTEAD[_one] = (*_INSTEAD.get(_one, ()), _other)
    _INSTEAD[_other] = (*_INSTEAD.get(_other, ()), _one)
_LETTERS = re.compile(r"[A-Za-z.]+(?:,[A-Za-z.]+)*(?:->[A-Za-z.]*)?\Z")


def functions(node: ast.expr, scope: Scope) -> Texts:
    """A function that is mistaken for this one; a type that is."""
    if isinstance(node, ast.Attribute):
        for other in _INSTEAD.get(node.attr, ()):
            yield "function", f"{scope.code.text(node.value)}.{other}"
    if isinstance(node, ast.Name) and isinstance(scope.parents.get(node), ast.Call):
        for other in ("max", "min", "sum", "int", "round", "float"):
            if node.id in ("max", "min", "sum", "int", "round", "float") and other != node.id:
                yield "function", other
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        for other in _INSTEAD.get(node.value, ()):
            yield "kind of number", repr(other)


def unwrapped(node: ast.expr, scope: Scope) -> Texts:
    """What is handed to a function, without the function."""
    if not isinstance(node, ast.Call) or node.keywords:
        return
    method = is_method(node)
    if method and not node.args:
        yield "function", scope.code.text(node.func.value)  # type: ignore[attr-defined]  # is one
    elif not method and len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        yield "function", scope.code.text(node.args[0])


def options(node: ast.expr, scope: Scope) -> Texts:
    """A call without one of its options."""
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg and keyword.arg not in _NO_OPTIONS:
                yield "option", with_call(node, scope, drop=(keyword.arg,))


_NO_OPTIONS = ("dim", "axis", "keepdim", "keepdims", "dtype", "device", "mask", "generator")


def pairs_of(scope: Scope) -> list[tuple[list[ast.Attribute], list[ast.Attribute], str, str]]:
    """Functions of one pair that are both called in a function: where each stands."""
    called_here: dict[str, list[ast.Attribute]] = {}
    for node in scope.walk():
        if isinstance(node, ast.Attribute):
            called_here.setdefault(node.attr, []).append(node)
    return [
        (called_here[one], called_here[other], one, other)
        for one, other in _PAIRS
        if one in called_here and other in called_here
    ]


def branches(node: ast.expr, scope: Scope) -> Texts:
    """A condition the other way round, or with one more case."""
    parent = scope.parents.get(node)
    test = isinstance(parent, (ast.If, ast.IfExp, ast.While)) and parent.test is node
    text = scope.code.text(node)
    if test:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield "condition", scope.code.text(node.operand)
        else:
            yield "condition", f"not ({text})"
        if isinstance(parent, ast.If) and any(isinstance(s, ast.Raise) for s in parent.body):
            for name in _names_in(node):
                yield "refusal", f"({text}) or {name} < 0"
                yield "refusal", f"({text}) or {name} <= 0"
    if isinstance(node, ast.BoolOp):
        sign = "or" if isinstance(node.op, ast.And) else "and"
        parts = [scope.code.text(v) for v in node.values]
        yield "condition", f" {sign} ".join(f"({p})" for p in parts)
        for index in range(len(parts)):
            rest = [f"({p})" for i, p in enumerate(parts) if i != index]
            yield "condition", f" {'and' if sign == 'or' else 'or'} ".join(rest)


def _names_in(node: ast.expr) -> list[str]:
    found = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    return list(dict.fromkeys(found))[:3]


def slices(node: ast.expr, scope: Scope) -> Texts:
    """A slice from the other end, one longer or shorter, or none."""
    if not isinstance(node, ast.Subscript) or isinstance(node.ctx, ast.Store):
        return
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    base = scope.code.text(node.value)
    texts = [scope.code.text(p) for p in parts]
    for place, part in enumerate(parts):
        if isinstance(part, ast.Slice) and (part.lower is None) is not (part.upper is None):
            for other in _other_slices(part, scope):
                written = [*texts[:place], other, *texts[place + 1 :]]
                yield "index", f"{base}[{', '.join(written)}]"
        elif isinstance(part, ast.Slice) and part.step is not None:
            start = 1 - (number(part.lower) or 0) if part.lower else 1
            other = f"{start}::{scope.code.text(part.step)}"
            yield "index", f"{base}[{', '.join([*texts[:place], other, *texts[place + 1 :]])}]"


def dealt_out(node: ast.expr, scope: Scope) -> Texts:
    """A block of neighbours where every so-manieth is taken, or the other way round."""
    if not isinstance(node, ast.Subscript) or isinstance(node.ctx, ast.Store):
        return
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    texts = [scope.code.text(p) for p in parts]
    for place, part in enumerate(parts):
        axis = place - len(parts) if "..." in texts[:place] else place
        size = f"{scope.code.text(node.value)}.shape[{axis}]"
        other = _dealt_out(part, size, scope) if isinstance(part, ast.Slice) else ""
        if other:
            written = ", ".join([*texts[:place], other, *texts[place + 1 :]])
            yield "order of axes", f"{scope.code.text(node.value)}[{written}]"


def _dealt_out(part: ast.Slice, size: str, scope: Scope) -> str:
    """The other way to take a share of an axis: of `i::n`, and of `i * d : (i + 1) * d`."""
    text = scope.code.text
    if part.lower and part.step and not part.upper:
        begins, many = text(part.lower), f"({size} // ({text(part.step)}))"
        return f"({begins}) * {many} : (({begins}) + 1) * {many}"
    match part.lower, part.upper, part.step:
        case ast.BinOp(first, ast.Mult(), width), ast.BinOp(_, ast.Mult(), again), None:
            if text(width) == text(again):
                return f"{text(first)} :: {size} // ({text(width)})"
    return ""


def _other_slices(part: ast.Slice, scope: Scope) -> list[str]:
    bound = scope.code.text(part.lower or part.upper)  # type: ignore[arg-type]  # one is there
    plain = bound.lstrip("-").strip()
    every = [f"-({plain}):", f":{plain}", f"{plain}:", f":-({plain})"]
    head, tail = ("", ":") if part.lower else (":", "")
    every += [f"{head}({bound}) + 1{tail}", f"{head}({bound}) - 1{tail}"]
    return [s for s in every if s.replace("(", "").replace(")", "") != scope.code.text(part)]


def letters(node: ast.expr, scope: Scope) -> Texts:
    """The subscripts of an einsum with two letters of one operand exchanged."""
    parent = scope.parents.get(node)
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return
    written = node.value.replace(" ", "")
    if called(parent or node) != "einsum" or not _LETTERS.match(written):
        return
    for start in range(len(written) - 1):
        one, other = written[start], written[start + 1]
        if one.isalpha() and other.isalpha():
            yield "order of axes", repr(written[:start] + other + one + written[start + 2 :])
    known = sorted(set(filter(str.isalpha, written)))
    for place, letter in enumerate(written):
        for other in known if letter.isalpha() else ():
            if other != letter:
                yield "order of axes", repr(written[:place] + other + written[place + 1 :])


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
        yield "mask", with_positional(node, scope, index, f"~({scope.code.text(node.args[index])})")
    if isinstance(node, ast.Compare) or called(node) in ("tril", "triu", "bool"):
        yield "mask", f"~({text})"
        yield "kind of number", f"({text}).bool()"
