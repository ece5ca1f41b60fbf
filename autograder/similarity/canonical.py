"""A module without what a copier changes first: layout, comments, docstrings, annotations, names.

Every statement is written anew from its syntax tree on a line of its own, and the line remembers
which lines of the student's text it stands for. What is no Python stays as it is.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

_NAME = "v"
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


@dataclass(frozen=True)
class SourcePart:
    """A definition at the top of a module, or a run of other lines between two (name "")."""

    name: str
    text: str
    spans: tuple[tuple[int, int], ...]  # for each line of the text, lines of the source


def parts(source: str) -> list[SourcePart]:
    """The module in parts; imports are left out."""
    try:
        tree = ast.parse(source)
        return [part for node in tree.body if (part := _part(node)) is not None]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        lines = source.split("\n")
        return [SourcePart("", source, tuple((n, n) for n in range(1, len(lines) + 1)))]


def _part(node: ast.stmt) -> SourcePart | None:
    if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
        return None
    bound = _bound(node)
    lines = _written(_Plain(bound).visit(copy.deepcopy(node)))
    name = getattr(node, "name", "")
    return SourcePart(name, "\n".join(text for text, _ in lines), tuple(span for _, span in lines))


def _is_text(node: ast.AST) -> bool:
    """A docstring, or an ellipsis that stands for nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _bound(node: ast.AST) -> frozenset[str]:
    """Names that are given here: they may be anything."""
    found = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.arg):
            found.add(inner.arg)
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            found.add(inner.id)
    return frozenset(found)


class _Plain(ast.NodeTransformer):
    """Takes away annotations and texts that do nothing; names that are given become one."""

    def __init__(self, bound: frozenset[str]) -> None:
        self.bound = bound

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.copy_location(ast.arg(_NAME), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.bound:
            node.id = _NAME
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if _is_text(node):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)


def _written(node: ast.AST) -> list[tuple[str, tuple[int, int]]]:
    """A statement's lines: its head, then what stands in it."""
    if isinstance(node, ast.Pass):
        return []
    head = copy.copy(node)
    inner: list[ast.AST] = []
    for block in _BLOCKS:
        found = getattr(node, block, None)
        if isinstance(found, list) and found:
            inner += found
            blank = [ast.Pass()] if block == "body" else []
            setattr(head, block, blank)
    span = _span(node, inner)
    if isinstance(node, ast.ExceptHandler | ast.match_case):
        caught = getattr(node, "type", None) or getattr(node, "pattern", None)
        text = f"except {ast.unparse(caught)}:" if caught is not None else "except:"
    elif isinstance(node, ast.Try):
        text = "try:"
    elif isinstance(node, ast.Match):
        text = f"match {ast.unparse(node.subject)}:"
    else:
        text = ast.unparse(ast.fix_missing_locations(head))
        if inner:
            text = text.rsplit("\n", 1)[0]
    lines = [(line, span) for line in text.split("\n")]
    for child in inner:
        lines += _written(child)
    return lines


def _span(node: ast.AST, inner: list[ast.AST]) -> tuple[int, int]:
    """The lines of the head of a statement."""
    first = getattr(node, "lineno", 0) or getattr(inner[0], "lineno", 1)
    last = getattr(node, "end_lineno", first) or first
    if inner:
        below = getattr(inner[0], "lineno", first)
        last = max(first, below - 1) if below > first else first
    return first, last
