"""One mistake made in several places: the same call everywhere, two things exchanged."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from .operators.axes import ALONG
from .operators.patterns import called, is_method, number, with_call
from .operators.reordering import moving
from .operators.swaps import pairs_of
from .source_text import Pieces, Scope

# The first line, the kind, the weight, what replaces what, other lines that it changes.
Several = tuple[int, str, float, Pieces, tuple[int, ...]]


def together(scope: Scope, nodes: list[ast.AST]) -> Iterator[Several]:
    """One mistake made in several places: the same call everywhere, two texts exchanged."""
    layers = [n for n in nodes if isinstance(n, ast.Call) and _plain_layer(n)]
    if len(layers) > 1:
        replaced = [(n, f"{scope.code.text(n)[:-1].rstrip(', ')}, bias=False)") for n in layers]
        pieces = scope.code.pieces(*replaced)
        more = tuple(sorted({n.lineno for n in layers[1:]}))
        yield layers[0].lineno, "bias", 1.0, pieces, more
    yield from _axes_together(scope, nodes)
    yield from _copies(scope, nodes)
    yield from _functions_exchanged(scope)
    yield from _statements_exchanged(scope, nodes)
    yield from _overwritten(scope, nodes)
    yield from _passed_on_together(scope, nodes)
    yield from _normalised_late(scope, nodes)
    yield from _mode_kept(scope, nodes)
    yield from moving(scope, nodes)
    words = [n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    for place, first in enumerate(words[:8]):
        for second in words[place + 1 : 8]:
            if first.value != second.value:
                exchanged = (first, repr(second.value)), (second, repr(first.value))
                pieces = scope.code.pieces(*exchanged)
                yield first.lineno, "text", 2.0, pieces, ()


def _plain_layer(node: ast.Call) -> bool:
    named = isinstance(node.func, ast.Attribute) and node.func.attr == "Linear"
    return named and not any(k.arg == "bias" for k in node.keywords)


def _axes_together(scope: Scope, nodes: list[ast.AST]) -> Iterator[Several]:
    """One wrong axis in several calls: of the whole function, or of one statement."""
    given = list(_axes_given(nodes))
    for part in (nodes, *(n for n in nodes if isinstance(n, (ast.Assign, ast.Return)))):
        inside = set(nodes if isinstance(part, list) else ast.walk(part))
        by_text: dict[str, list[ast.expr]] = {}
        for call, place in given:
            if call in inside:
                by_text.setdefault(scope.code.text(place), []).append(place)
        for text, found in by_text.items():
            places = sorted(found, key=lambda p: p.lineno)
            for other in dict.fromkeys((scope.axis, "-1", "-2")) if len(places) > 1 else ():
                if other != text:
                    pieces = scope.code.pieces(*((p, other) for p in places))
                    more = tuple(sorted({p.lineno for p in places[1:]} - {places[0].lineno}))
                    yield places[0].lineno, "axis", 1.0, pieces, more


def _axes_given(nodes: list[ast.AST]) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls that are told an axis, with where they are told."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        named = [k.value for k in node.keywords if k.arg in ("dim", "axis")]
        first = 0 if is_method(node) else 1
        if called(node) in ALONG and not named and len(node.args) > first:
            named = [a for a in node.args[first : first + 1] if number(a) is not None]
        for place in named:
            yield node, place


def _copies(scope: Scope, nodes: list[ast.AST]) -> Iterator[Several]:
    """Copies in all places of what somebody else holds too."""
    held = [
        n.args[0]
        for n in nodes
        if isinstance(n, ast.Call) and called(n) == "Parameter" and n.args
        if isinstance(n.args[0], (ast.Name, ast.Attribute))
    ]
    if len(held) > 1:
        copied = ((h, f"{scope.code.text(h)}.detach().clone()") for h in held)
        lines = sorted({h.lineno for h in held})
        yield lines[0], "shared", 0.9, scope.code.pieces(*copied), tuple(lines[1:])


def _functions_exchanged(scope: Scope) -> Iterator[Several]:
    """Two functions of a pair, each called where the other belongs."""
    for ones, others, one, other in pairs_of(scope):
        replaced = [(n, f"{scope.code.text(n.value)}.{other}") for n in ones]
        replaced += [(n, f"{scope.code.text(n.value)}.{one}") for n in others]
        lines = sorted({n.lineno for n, _ in replaced})
        if all(_apart(a, b) for a, _ in replaced for b, _ in replaced if a is not b):
            pieces = scope.code.pieces(*replaced)
            yield lines[0], "order of values", 1.2, pieces, tuple(lines[1:])


def _apart(a: ast.expr, b: ast.expr) -> bool:
    return not (any(n is b for n in ast.walk(a)) or any(n is a for n in ast.walk(b)))


def _statements_exchanged(scope: Scope, nodes: list[ast.AST]) -> Iterator[Several]:
    """Two statements, one after the other, that belong the other way round."""
    for node in (scope.node, *nodes):
        for block in ("body", "orelse"):
            statements = getattr(node, block, None)
            for first, second in _neighbours(statements):
                texts = scope.code.text(first), scope.code.text(second)
                if "\n" not in texts[0] + texts[1] and texts[0] != texts[1]:
                    pieces = scope.code.pieces((first, texts[1]), (second, texts[0]))
                    yield first.lineno, "order of lines", 1.3, pieces, (second.lineno,)


def _neighbours(statements: object) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    plain = (ast.Assign, ast.AugAssign, ast.Expr)
    if isinstance(statements, list):
        for first, second in pairwise(statements):
            if isinstance(first, plain) and isinstance(second, plain):
                yield first, second


def _overwritten(scope: Scope, nodes: list[ast.AST]) -> Iterator[Several]:
    """A name that gets another value, where its first one is returned."""
    returns = [n for n in nodes if isinstance(n, ast.Return) and n.value is not None]
    for node in nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name, indent = node.targets[0].id, " " * node.col_offset
        read = [n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)]
        given = [
            n
            for r in returns
            for n in ast.walk(r)
            if isinstance(n, ast.Name) and n.id == name and r.lineno > node.lineno
        ]
        if name in read and given:
            before = f"{name}_before = {name}\n{indent}{scope.code.text(node)}"
            pieces = scope.code.pieces((node, before), *((n, f"{name}_before") for n in given))
            yield node.lineno, "overwritten", 1.3, pieces, ()


def _passed_on_together(scope: Scope, nodes: list[ast.AST]) -> Iterator[Several]:
    """What every tensor that is made should be told: its type, its device."""
    for option, kind in (("dtype", "kind of number"), ("device", "device")):
        if option not in scope.parameters:
            continue
        made = [
            n
            for n in nodes
            if isinstance(n, ast.Call) and called(n) in _MADE and _is_torch(n)
            if not any(k.arg == option for k in n.keywords)
        ]
        if made and all(_apart(a, b) for a in made for b in made if a is not b):
            replaced = [(n, with_call(n, scope, {option: option})) for n in made]
            lines = sorted({n.lineno for n in made})
            yield lines[0], kind, 1.0, scope.code.pieces(*replaced), tuple(lines[1:])


_MADE = ("zeros", "empty", "ones", "full")


def _is_torch(node: ast.Call) -> bool:
    function = node.func
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "torch"
    )


def _normalised_late(scope: Scope, nodes: list[ast.AST]) -> Iterator[Several]:
    """A layer around a sum, `n(x + f(x))`, that belongs within it: `x + f(n(x))`."""
    replaced: list[tuple[ast.expr | ast.stmt, str]] = []
    for node in nodes:
        if not isinstance(node, ast.Call) or len(node.args) != 1 or not _own_layer(node):
            continue
        whole = node.args[0]
        if not isinstance(whole, ast.BinOp) or not isinstance(whole.op, ast.Add):
            continue
        for kept, work in ((whole.left, whole.right), (whole.right, whole.left)):
            if isinstance(work, ast.Call) and work.args and _own_layer(work):
                text = scope.code.text
                given = ", ".join(
                    [f"{text(node.func)}({text(work.args[0])})", *map(text, work.args[1:])]
                )
                replaced.append((node, f"({text(kept)} + {text(work.func)}({given}))"))
                break
    if replaced and all(_apart(a, b) for a, _ in replaced for b, _ in replaced if a is not b):  # type: ignore[arg-type]
        lines = sorted({n.lineno for n, _ in replaced})
        yield (
            lines[0],
            "order of lines",
            1.0,
            scope.code.pieces(*replaced),
            tuple(lines[1:]),
        )


def _own_layer(node: ast.Call) -> bool:
    function = node.func
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)


def _mode_kept(scope: Scope, nodes: list[ast.AST]) -> Iterator[Several]:
    """A model's mode, set and never set back."""
    returns = [n for n in nodes if isinstance(n, ast.Return) and n.value is not None]
    for node in nodes:
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr not in ("eval", "train") or not isinstance(call.func.value, ast.Name):
            continue
        model, indent = call.func.value.id, " " * node.col_offset  # type: ignore[attr-defined]
        before = f"_came = {model}.training\n{indent}{scope.code.text(call)}"
        after = [
            (
                r,
                f"_gives = {scope.code.text(r.value)}\n{' ' * r.col_offset}{model}.train(_came)\n"  # type: ignore[arg-type]
                f"{' ' * r.col_offset}return _gives",
            )
            for r in returns
        ]
        if after:
            pieces = scope.code.pieces((call, before), *after)
            yield call.lineno, "missing step", 1.0, pieces, ()
