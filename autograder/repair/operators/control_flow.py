"""Propose inverting conditions, and removing, swapping, moving or adding statements."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from ..function_scope import (
    FunctionScope,
    Nodes,
    Proposals,
    Several,
    are_disjoint,
    called,
    is_library,
    names_in,
)
from .library_calls import rescaling_factors

_MODES = ("eval", "train")


def conditions(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose an inverted or shortened condition, `and` for `or`, or a check that rejects more."""
    text, parent = scope.text(node), scope.parents.get(node)
    if isinstance(parent, (ast.If, ast.IfExp, ast.While)) and parent.test is node:
        negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        yield "condition", scope.text(node.operand) if negated else f"not ({text})"  # type: ignore[attr-defined]
        if isinstance(parent, ast.If) and any(isinstance(s, ast.Raise) for s in parent.body):
            for name in sorted(names_in(node))[:3]:
                yield "refusal", f"({text}) or {name} < 0"
                yield "refusal", f"({text}) or {name} <= 0"
    if isinstance(node, ast.BoolOp):
        sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        parts = [f"({scope.text(v)})" for v in node.values]
        yield "condition", f" {other} ".join(parts)
        for index in range(len(parts)):
            yield "condition", f" {sign} ".join(parts[:index] + parts[index + 1 :])


def removed(node: ast.stmt, scope: FunctionScope) -> Proposals:
    """Propose removing a statement."""
    if isinstance(node, (ast.Expr, ast.AugAssign, ast.Assign)) and not _is_docstring(node):
        yield "statement", "pass"


def refusals(node: ast.stmt, scope: FunctionScope) -> Proposals:
    """Propose a ValueError whose message contains the arguments.

    The ValueError replaces an assertion or a different exception, or rejects negative arguments or
    unknown keys.
    """
    values = " ".join("{" + name + "!r}" for name in scope.parameters)
    match node:
        case ast.Assert(test):
            condition = scope.text(test)
            yield "refusal", f"if not ({condition}): raise ValueError(f'{values}')"
            if "self" not in condition:
                message = f"{values} {{{condition.split(' %')[0]}}}"
                yield "refusal", f"if not ({condition}): raise ValueError(f'{message}')"
        case ast.Raise(ast.Call()):
            yield "refusal", f"raise ValueError(f'{values}')"
        case ast.If(test, [ast.Raise()], []):
            for name in scope.parameters[:3]:
                condition = f"({scope.text(test)}) or bool((torch.as_tensor({name}) < 0).any())"
                yield "refusal", f"if {condition}: raise ValueError(f'{values}')"
        case ast.Return() | ast.Assign():
            for part in ast.walk(node):
                match part:
                    case ast.Subscript(table, ast.Name(key)) if key in scope.parameters:
                        refusal = f"raise ValueError(f'{{{key}!r}}')"
                        condition = f"if {key} not in {scope.text(table)}: {refusal}"
                        yield "refusal", _before(condition, node, scope)


def gradient_modes(node: ast.stmt, scope: FunctionScope) -> Proposals:
    """Propose a block that computes gradients in place of a `with torch.no_grad()` block."""
    if isinstance(node, ast.With) and len(node.items) == 1:
        context = node.items[0].context_expr
        if called(context) in ("no_grad", "inference_mode"):
            rest = scope.text(node).removeprefix("with ").removeprefix(scope.text(context))
            yield "gradient", f"if True{rest}"


def missing_lines(node: ast.stmt, scope: FunctionScope) -> Proposals:
    """Propose a missing line: `zero_grad`, a copy or cast of an argument, `train` or `eval`."""
    text = scope.text(node)
    if isinstance(node, (ast.Expr, ast.Assign)) and "backward(" in text:
        for name, value in sorted(scope.assigned_once.items()):
            if "optim" in value:
                yield "missing step", _before(f"{name}.zero_grad()", node, scope)
    body = [s for s in scope.node.body if not _is_docstring(s)] or scope.node.body
    if node in body[:3] and "model" in scope.parameters:
        for mode in _MODES:
            yield "missing step", f"{text}\n{' ' * node.col_offset}model.{mode}()"
    if node is not body[0]:
        return
    written = _written_names(scope.node)  # `in_place` proposes copies of these arrays
    for name in scope.parameters[:2]:
        if name not in written:
            yield "kind of number", _before(f"{name} = {name}.clone()", node, scope)
        cast = f"{name} = {name}.float()"
        if "np" in scope.used:
            cast = f"if {name}.dtype.kind != 'f': {name} = {name}.astype(float)"
        yield "kind of number", _before(cast, node, scope)
    for mode in _MODES if "model" in scope.parameters else ():
        yield "missing step", _before(f"model.{mode}()", node, scope)


def early_returns(node: ast.stmt, scope: FunctionScope) -> Proposals:
    """Propose returning after a loop, in place of the last statement in its body."""
    match node, scope.parents.get(node):
        case ast.Return(), (ast.For(orelse=[]) | ast.While(orelse=[])) as loop if (
            loop.body[-1] is node
        ):
            yield "early return", f"pass\n{' ' * loop.col_offset}{scope.text(node)}"


def exchanged_statements(scope: FunctionScope, nodes: list[ast.AST]) -> Iterator[Several]:
    """Propose swapping two consecutive statements."""
    for first, second in _consecutive(scope, nodes):
        texts = scope.text(first), scope.text(second)
        plain = isinstance(first, _SIMPLE) and isinstance(second, _SIMPLE)
        if plain and "\n" not in texts[0] + texts[1] and texts[0] != texts[1]:
            yield Several("order of lines", [(first, texts[1]), (second, texts[0])])


_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)


def moved_across_loops(scope: FunctionScope, nodes: list[ast.AST]) -> Iterator[Several]:
    """Propose moving a statement from a loop to before the loop, or the other way round."""
    for loop in (n for n in nodes if isinstance(n, (ast.For, ast.While))):
        counters = names_in(loop.target) if isinstance(loop, ast.For) else set()
        for first in loop.body[:3]:
            if isinstance(first, ast.Assign) and not names_in(first.value) & counters:
                # Replacing an empty node at the start of the loop inserts text.
                start = ast.Pass(lineno=loop.lineno, col_offset=loop.col_offset)
                start.end_lineno, start.end_col_offset = loop.lineno, loop.col_offset
                text = f"{scope.text(first)}\n{' ' * loop.col_offset}"
                yield Several("order of lines", [(first, "pass")], [(start, text)])
    for before, after in _consecutive(scope, nodes):
        if isinstance(after, (ast.For, ast.While)) and isinstance(before, (ast.Assign, ast.Expr)):
            inner = after.body[0]
            if not _is_docstring(before) and inner.lineno > after.lineno:
                moved = _before(scope.text(before), inner, scope)
                yield Several("order of lines", [(before, "pass")], [(inner, moved)])


def _consecutive(scope: FunctionScope, nodes: list[ast.AST]) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    for node in (scope.node, *nodes):
        for block in ("body", "orelse"):
            statements = getattr(node, block, None)
            if isinstance(statements, list):
                yield from pairwise(statements)


def normalised_late(scope: FunctionScope, nodes: list[ast.AST]) -> Iterator[Several]:
    """Propose `x + f(norm(x))` for every `norm(x + f(x))`."""
    replaced: Nodes = []
    for node in nodes:
        match node:
            case ast.Call(ast.Attribute() as norm, [ast.BinOp(left, ast.Add(), right)]):
                pass
            case _:
                continue
        for kept, work in ((left, right), (right, left)):
            match work:
                case ast.Call(ast.Attribute() as layer, [argument, *rest]) if not is_library(
                    layer.value
                ):
                    given = [f"{scope.text(norm)}({scope.text(argument)})", *map(scope.text, rest)]
                    text = f"({scope.text(kept)} + {scope.text(layer)}({', '.join(given)}))"
                    replaced.append((node, text))
                    break
    if replaced and are_disjoint([n for n, _ in replaced]):
        yield Several("order of lines", replaced)


def _before(line: str, node: ast.stmt, scope: FunctionScope) -> str:
    """Return the text of a statement with a line inserted before the statement."""
    return f"{line}\n{' ' * node.col_offset}{scope.text(node)}"


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _written_names(function: ast.AST) -> set[str]:
    """Return the names of arrays that a function changes by in-place methods or assignments."""
    found = set[str]()
    for node in ast.walk(function):
        match node:
            case ast.Call(ast.Attribute(subject, method)) if method.endswith("_"):
                found.add(written_name(subject))
            case ast.Subscript(subject, _, ast.Store()):
                found.add(written_name(subject))
    return found


def written_name(node: ast.expr) -> str:
    """Return the name of an array or of the array behind `.data`, or "" for other expressions."""
    while isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def in_place(node: ast.stmt, scope: FunctionScope) -> Proposals:
    """Propose writing to a copy, rescaling a running sum, or assigning an unused result."""
    text = scope.text(node)
    match node:
        case ast.AugAssign(ast.Name(name), op, value):
            sign = text[len(name) :].split("=", 1)[0].strip()
            yield "in place", f"{name} = {name} {sign} ({scope.text(value)})"
            yield "operator", f"{name} = {scope.text(value)}"
            for factor in rescaling_factors(scope) if isinstance(op, ast.Add) else ():
                yield "sum over rounds", f"{name} = {name} * {factor} + ({scope.text(value)})"
        case ast.Expr(ast.Call(ast.Attribute(subject, method))):
            name = written_name(subject)
            if name in scope.names and isinstance(subject, ast.Name):
                yield "lost result", f"{name} = {text}"
            if name in scope.names and method.endswith("_"):
                yield "in place", f"{name} = {name}.clone(); {text}"
        case ast.Assign([ast.Subscript(ast.Name(name), index), *_], value):
            yield "in place", f"{name} = {name}.clone(); {text}"
            for filling in (scope.text(value), 'float("-inf")'):
                yield "in place", f"{name} = {name}.masked_fill({scope.text(index)}, {filling})"
