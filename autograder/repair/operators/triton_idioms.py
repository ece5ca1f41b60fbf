"""Triton kernels: masked loads, accumulators, partial tiles, and offsets."""

from __future__ import annotations

import ast
import re

from ..function_scope import FunctionScope
from .patterns import Proposals, called, number

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
