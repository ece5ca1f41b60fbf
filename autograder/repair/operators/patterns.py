"""Reading calls and numbers of a stranger's program, and writing a call with other arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from ..source_text import Scope

Texts = Iterator[tuple[str, str]]  # kind, text
Operator = Callable[[ast.expr, Scope], Texts]


def called(node: ast.AST) -> str:
    """The last name of what a call calls, or nothing."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def number(node: ast.AST) -> int | float | None:
    """A literal number, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    return None


def with_call(
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


def is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("torch", "np", "numpy", "F", "math", "nn")


def is_numpy(node: ast.Call, scope: Scope) -> bool:
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        if node.func.value.id in ("np", "numpy"):
            return True
        if node.func.value.id in ("torch", "F"):
            return False
    return "np" in scope.used and "torch" not in scope.used


def subject_of(node: ast.Call, scope: Scope) -> str:
    """What a reduction or the like works on: its object, or its first argument."""
    if isinstance(node.func, ast.Attribute) and not is_module(node.func.value):
        return scope.code.text(node.func.value)
    return scope.code.text(node.args[0]) if node.args else ""


def with_positional(node: ast.Call, scope: Scope, index: int, text: str) -> str:
    parts = [scope.code.text(a) for a in node.args]
    parts[index] = text
    parts += [f"{k.arg}={scope.code.text(k.value)}" for k in node.keywords if k.arg]
    return f"{scope.code.text(node.func)}({', '.join(parts)})"


def is_method(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and not is_module(node.func.value)


def with_arguments(node: ast.Call, scope: Scope, parts: list[str]) -> str:
    keywords = [f"{k.arg}={scope.code.text(k.value)}" for k in node.keywords if k.arg]
    return f"{scope.code.text(node.func)}({', '.join([*parts, *keywords])})"
