"""Read calls and numbers in a submission, and write calls with different arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..function_scope import FunctionScope

Proposals = Iterator[tuple[str, str]]  # the kind of mistake and the new text
ExpressionOperator = Callable[[ast.expr, FunctionScope], Proposals]
StatementOperator = Callable[[ast.stmt, FunctionScope], Proposals]
Nodes = list[tuple[ast.expr | ast.stmt, str]]  # nodes with their new texts


class Several(NamedTuple):
    """An edit of several places: `mistake` on the reported lines, `also` on other lines."""

    kind: str
    mistake: Nodes
    also: Sequence[tuple[ast.expr | ast.stmt, str]] = ()


FunctionOperator = Callable[[FunctionScope, list[ast.AST]], Iterator[Several]]

_LIBRARIES = ("torch", "np", "numpy", "F", "math", "nn")


def called(node: ast.AST | None) -> str:
    """Return the last part of the name that a call calls, or ""."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def number(node: ast.AST | None) -> int | float | None:
    """Return the value of a literal number, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    return None


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def with_keywords(
    node: ast.Call, scope: FunctionScope, added: Mapping[str, str] = {}, drop: str = ""
) -> str:
    """Return a call with keywords added or replaced, and without the keyword `drop`."""
    parts = [scope.text(a) for a in node.args]
    for keyword in node.keywords:
        if keyword.arg is None:
            parts.append(f"**{scope.text(keyword.value)}")
        elif keyword.arg != drop and keyword.arg not in added:
            parts.append(f"{keyword.arg}={scope.text(keyword.value)}")
    parts += [f"{name}={text}" for name, text in added.items()]
    return f"{scope.text(node.func)}({', '.join(parts)})"


def with_arguments(node: ast.Call, scope: FunctionScope, parts: list[str]) -> str:
    """Return a call with different positional arguments."""
    keywords = [f"{k.arg}={scope.text(k.value)}" for k in node.keywords if k.arg]
    return f"{scope.text(node.func)}({', '.join([*parts, *keywords])})"


def with_positional(node: ast.Call, scope: FunctionScope, index: int, text: str) -> str:
    """Return a call with one positional argument replaced."""
    parts = [scope.text(a) for a in node.args]
    parts[index] = text
    return with_arguments(node, scope, parts)


def is_library(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _LIBRARIES


def is_method(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and not is_library(node.func.value)


def is_numpy(node: ast.Call, scope: FunctionScope) -> bool:
    """Return True if a call is to NumPy, or in a function that uses only NumPy."""
    match node.func:
        case ast.Attribute(ast.Name("np" | "numpy")):
            return True
        case ast.Attribute(ast.Name("torch" | "F")):
            return False
    return "np" in scope.used and "torch" not in scope.used


def subject_of(node: ast.Call, scope: FunctionScope) -> str:
    """Return the array that a call works on: its object or its first argument."""
    if isinstance(node.func, ast.Attribute) and not is_library(node.func.value):
        return scope.text(node.func.value)
    return scope.text(node.args[0]) if node.args else ""


def is_returned(node: ast.expr, scope: FunctionScope) -> bool:
    """Return True if an expression is returned, alone or in a tuple."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Tuple):
        parent = scope.parents.get(parent)
    return isinstance(parent, ast.Return) and not isinstance(node, ast.Tuple)


def are_disjoint(nodes: Sequence[ast.AST]) -> bool:
    """Return True if none of the nodes is inside another."""
    inside = {id(n) for node in nodes for n in ast.walk(node) if n is not node}
    return not any(id(node) in inside for node in nodes)
