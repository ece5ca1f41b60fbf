"""Steps that are missing: a guard, a mask, a residual, a normalisation, a rescaling."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..function_scope import FunctionScope
from .names import is_operand
from .patterns import Proposals, called, is_numpy, names_in

_PARTS = ("clamp", "exp", "relu", "where", "masked_fill")
_POSITIVE = ("relu", "clamp", "clamp_min", "clip", "maximum")


def guards(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose a quotient that handles a zero divisor, and weights that are zero where masked."""
    text = scope.text(node)
    match node:
        case ast.BinOp(left, ast.Div(), right) if not isinstance(right, (ast.Constant, ast.BinOp)):
            if called(right) != "sqrt":
                one, two = scope.text(left), scope.text(right)
                yield "empty rows", f"({one}) / ({two}).masked_fill(({two}) == 0, 1.0)"
                yield "empty rows", f"torch.nan_to_num(({one}) / ({two}), 0.0)"
        case ast.Call() if called(node) == "softmax" and not is_numpy(node, scope):
            for mask in (n for n in scope.names if "mask" in n or "allowed" in n):
                hidden = f"({text}).masked_fill(~{mask}, 0.0)"
                yield "empty rows", hidden
                yield "empty rows", f"({text} if {mask} is None else {hidden})"


def addends(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose adding a name of the function to an assigned or returned value."""
    if not isinstance(scope.parents.get(node), (ast.Assign, ast.Return)):
        return
    inside = names_in(node)
    taken = [n for n in scope.names if n not in inside or isinstance(node, ast.Call)]
    for name in taken[:8] if is_operand(node, scope) else ():
        yield "missing step", f"({scope.text(node)}) + {name}"


def residuals(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose adding a name to the result of a method, where a residual is likely to be missing."""
    if scope.owner is not None and isinstance(scope.parents.get(node), ast.Return):
        yield from addends(node, scope)


def normalisation(node: ast.expr, scope: FunctionScope) -> Proposals:
    """Propose dividing by the sum."""
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
    """Yield the factors by which running sums shrink when a maximum grows."""
    for library, old, new in scope.running_maxima:
        if library == "tl":
            factor = f"tl.where({old} == {new}, 1.0, tl.exp({old} - {new}))"
            yield from (factor, f"{factor}[:, None]")
        elif library == "torch":
            factor = f"torch.exp(torch.nan_to_num({old} - {new}, nan=0.0))"
            yield from (factor, f"{factor}[..., None]")
