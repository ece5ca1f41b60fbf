"""Normalise a module, so that changed names and layout do not hide a copy.

Comments, docstrings and annotations are removed, and names that are bound in a definition become
one name. Each line of the result is mapped to the lines of the source that it stands for. A module
that is not valid Python is not changed.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

_NAME = "v"


@dataclass(frozen=True)
class ModulePart:
    """A top-level definition, or another top-level statement (name "").

    spans: for each line of the text, the first and last line of the source
    """

    name: str
    text: str
    spans: tuple[tuple[int, int], ...]


def module_parts(source: str) -> list[ModulePart]:
    """Return the normalised parts of a module, without imports and docstrings."""
    try:
        statements = ast.parse(source).body
        return [_normalized(s) for s in statements if not _is_ignored(s)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        lines = range(1, source.count("\n") + 2)
        return [ModulePart("", source, tuple((n, n) for n in lines))]


def _is_ignored(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom) or _is_constant(statement)


def _is_constant(statement: ast.stmt) -> bool:
    """Return True for a docstring, or an ellipsis in place of a body."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _normalized(statement: ast.stmt) -> ModulePart:
    bound = {
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    }
    plain = _Normalizer(bound).visit(copy.deepcopy(statement))
    text = ast.unparse(plain)
    written = {
        unparsed.lineno: _head(original)
        for original, unparsed in zip(_statements(plain), _statements(ast.parse(text)), strict=True)
    }
    spans = [_head(plain)]
    for number in range(1, text.count("\n") + 2):
        spans.append(written.get(number, spans[-1]))  # `else:` is not a statement
    return ModulePart(getattr(statement, "name", ""), text, tuple(spans[1:]))


def _statements(tree: ast.AST) -> list[ast.stmt]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def _head(statement: ast.stmt) -> tuple[int, int]:
    """Return the lines of a statement without its body."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    if body := getattr(statement, "body", None):
        last = max(first, body[0].lineno - 1)
    return first, last


class _Normalizer(ast.NodeTransformer):
    """Remove annotations, docstrings and the names in `bound`."""

    def __init__(self, bound: set[str]) -> None:
        self._bound = bound

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [statement for statement in body if not _is_constant(statement)]
            node.body = kept or [ast.copy_location(ast.Pass(), body[0])]  # type: ignore[attr-defined]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.copy_location(ast.arg(_NAME), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return (
            ast.copy_location(ast.Name(_NAME, node.ctx), node) if node.id in self._bound else node
        )

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)
