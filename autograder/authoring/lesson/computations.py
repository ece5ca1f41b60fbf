"""Reduce Python code to the computations that it performs, to compare code across weeks.

A computation is a tree of operations. Names and constants are dropped, a local variable stands for
the expression assigned to it, a layer counts as a matrix product, and operations that only move
axes or select entries are skipped, so `self.W_q(x)[:, :, None]` and `(x @ W).unsqueeze(-2)` are
equal. Rewritten mathematics is not recognised.
"""

import ast
from collections.abc import Iterator

Computation = tuple[object, ...]  # an operation and its operands; `LEAF` for any name or constant
LEAF: Computation = ("_",)
_SKIPPED = frozenset(
    (
        *("transpose", "swapaxes", "permute", "movedim", "unsqueeze", "squeeze", "reshape", "view"),
        *("expand", "expand_as", "flatten", "unflatten", "contiguous", "clone", "T", "mT"),
    )
)
_CONVERSIONS = frozenset(("to", "float", "double", "half", "cpu", "cuda", "type", "astype"))
_PRODUCTS = frozenset(("matmul", "mm", "bmm", "mv", "dot", "einsum", "linear"))
_LIBRARIES = frozenset(("torch", "np", "numpy", "math", "nn", "F", "functional", "plt"))
_MAX_SIZE = 60  # operations of a computation; larger ones are cut


def computations(source: str) -> Iterator[tuple[str, int, Computation]]:
    """Yield the top-level definition, the line and the computation of each statement's value."""
    for node in ast.parse(source).body:
        yield from _statements([node], getattr(node, "name", ""), {})


def parts(computation: Computation) -> Iterator[Computation]:
    """Yield a computation and all computations within it."""
    yield computation
    for operand in computation[1:]:
        if isinstance(operand, tuple):
            yield from parts(operand)


def size(computation: Computation) -> int:
    """Return the number of operations."""
    return sum(part != LEAF for part in parts(computation))


def _statements(
    body: list[ast.stmt], owner: str, computed: dict[str, Computation]
) -> Iterator[tuple[str, int, Computation]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _statements(node.body, owner, {})
            continue
        value = getattr(node, "value", None)
        if isinstance(value, ast.expr):
            reduced = _reduced(value, computed)
            yield owner, node.lineno, reduced
            _remember(node, value, reduced, computed)
        for block in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, block, []), owner, computed)


def _remember(
    node: ast.stmt, value: ast.expr, reduced: Computation, computed: dict[str, Computation]
) -> None:
    for target in getattr(node, "targets", []):
        if isinstance(target, ast.Name):
            computed[target.id] = reduced
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for name, part in zip(target.elts, value.elts, strict=False):
                if isinstance(name, ast.Name):
                    computed[name.id] = _reduced(part, computed)


def _reduced(node: ast.expr, computed: dict[str, Computation]) -> Computation:
    found = _operation(node, computed)
    return found if size(found) <= _MAX_SIZE else LEAF


def _operation(node: ast.expr, computed: dict[str, Computation]) -> Computation:
    match node:
        case ast.Name():
            return computed.get(node.id, LEAF)
        case ast.Subscript() | ast.Starred():
            return _reduced(node.value, computed)
        case ast.IfExp():
            return _reduced(node.body, computed)
        case ast.Tuple() | ast.List():
            return _call("()", [_reduced(part, computed) for part in node.elts])
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=0.5)):
            return ("sqrt", _reduced(node.left, computed))
        case ast.BinOp():
            sides = [_reduced(node.left, computed), _reduced(node.right, computed)]
            if isinstance(node.op, ast.Add | ast.Mult):
                sides.sort(key=repr)
            return (type(node.op).__name__, *sides)
        case ast.UnaryOp(operand=ast.Constant()):
            return LEAF
        case ast.UnaryOp():
            return (type(node.op).__name__, _reduced(node.operand, computed))
        case ast.Attribute() if node.attr in _SKIPPED:
            return _reduced(node.value, computed)
        case ast.Attribute() if isinstance(node.value, ast.Call):
            return (node.attr, _reduced(node.value, computed))
        case ast.Call():
            return _called(node, computed)
    return LEAF


def _called(node: ast.Call, computed: dict[str, Computation]) -> Computation:
    operands = [_reduced(arg, computed) for arg in (*node.args, *(k.value for k in node.keywords))]
    if isinstance(node.func, ast.Name):
        return _call(node.func.id, operands)
    if not isinstance(node.func, ast.Attribute):
        return LEAF
    name, owner = node.func.attr, node.func.value
    if isinstance(owner, ast.Name) and owner.id == "self":
        return ("MatMult", operands[0] if operands else LEAF, LEAF)  # a layer
    if not (isinstance(owner, ast.Name) and owner.id in _LIBRARIES):
        operands.insert(0, _reduced(owner, computed))
    if name in _SKIPPED:
        return operands[0] if operands else LEAF
    if name in _CONVERSIONS:
        return operands[0] if operands[0][0] == "to" else ("to", operands[0])
    if name in _PRODUCTS and len(operands) > 1:
        return ("MatMult", operands[0], operands[1])
    return _call(name, operands)


def _call(name: str, operands: list[Computation]) -> Computation:
    return (name, *([operand for operand in operands if operand != LEAF] or [LEAF]))
