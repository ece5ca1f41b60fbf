"""Assignments: in place, lost, overwritten, to the wrong names, or not accumulated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..function_scope import FunctionScope
from .control_flow import written_name
from .omissions import rescaling_factors
from .patterns import Proposals, Several, called

_ORDERS: dict[int, list[tuple[int, ...]]] = {2: [(1, 0)], 3: [(1, 0, 2), (0, 2, 1), (2, 1, 0)]}


def in_place(node: ast.stmt, scope: FunctionScope) -> Proposals:
    """Propose writing into a copy, or assigning a result that is otherwise lost."""
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


def assigned(node: ast.stmt, scope: FunctionScope) -> Proposals:
    """Propose targets in a different order, a finite maximum, a layer, or a running sum."""
    match node:
        case ast.Assign([ast.Tuple(targets)], value):
            parts = [scope.text(e) for e in targets]
            for order in _ORDERS.get(len(parts), ()):
                names = ", ".join(parts[i] for i in order)
                yield "order of values", f"{names} = {scope.text(value)}"
        case ast.Assign([ast.Name(name)], value):
            text = scope.text(value)
            if called(value) in ("amax", "max", "maximum"):
                yield "infinity", f"{name} = torch.nan_to_num({text}, neginf=0.0)"
                yield "infinity", f"{name} = ({text}).masked_fill(torch.isinf({text}), 0.0)"
            for attribute in scope.uncalled:
                yield "missing step", f"{name} = self.{attribute}({text})"
            if isinstance(scope.parents.get(node), (ast.For, ast.While)):
                yield "sum over rounds", f"{name} = {name} + ({text})"


def without_bias(scope: FunctionScope, nodes: list[ast.AST]) -> Iterator[Several]:
    """Propose `bias=False` for all linear layers."""
    layers = [
        n
        for n in nodes
        if isinstance(n, ast.Call) and called(n) == "Linear"
        if not any(k.arg == "bias" for k in n.keywords)
    ]
    if len(layers) > 1:
        texts = ((n, scope.text(n)[:-1].rstrip(", ")) for n in layers)
        yield Several("bias", [(n, f"{text}, bias=False)") for n, text in texts])
