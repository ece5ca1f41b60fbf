"""The statements of a module, one by one: which of them run on import, and what they bind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
_LONGEST_SUM = 50  # parts that a string is put together from


def flat_statements(
    statements: list[ast.stmt], guarded: bool = False
) -> Iterator[tuple[ast.stmt, bool]]:
    """A module's statements, those under `if` and `try` one by one; not those under `__main__`.

    With each, whether a `try:` catches what its import raises.
    """
    for statement in statements:
        if isinstance(statement, ast.If):
            if not _is_main_guard(statement.test):
                yield ast.copy_location(ast.Expr(statement.test), statement), guarded
                yield from flat_statements(statement.body, guarded)
            yield from flat_statements(statement.orelse, guarded)
        elif isinstance(statement, ast.Try):
            yield from flat_statements(statement.body, guarded or bool(statement.handlers))
            for handler in statement.handlers:
                yield from flat_statements(handler.body, guarded)
            yield from flat_statements([*statement.orelse, *statement.finalbody], guarded)
        else:
            yield statement, guarded


def _is_main_guard(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and isinstance(test.ops[0], ast.Eq)
    )


def module_imports(statement: ast.stmt) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements in a compound statement that bind names of the module."""
    if isinstance(statement, (*DEFINITIONS, ast.Expr, ast.Assign)):
        return
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, IMPORTS):
            yield node
        elif not isinstance(node, (*DEFINITIONS, ast.expr)):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def bound_names(statement: ast.stmt) -> list[str]:
    """The names of the module that a statement binds, imports aside."""
    if isinstance(statement, DEFINITIONS):
        return [statement.name]
    if isinstance(statement, (*IMPORTS, ast.Expr)):
        return []
    return [
        n.name if isinstance(n, DEFINITIONS) else n.id
        for n in ast.walk(statement)
        if isinstance(n, DEFINITIONS) or (isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    ]


def literal_text(node: ast.expr) -> str:
    """The text of a string, also of one that is put together from literals; else nothing."""
    text = ""
    for _ in range(_LONGEST_SUM):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value + text
        right = node.right if isinstance(node, ast.BinOp) else None
        if not isinstance(right, ast.Constant) or not isinstance(right.value, str):
            return ""
        assert isinstance(node, ast.BinOp)
        node, text = node.left, right.value + text
    return ""
