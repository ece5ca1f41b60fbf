"""Instrument a program, so that it records the value of every expression while it runs.

The traced version behaves like the program. Every expression that is a value is wrapped in a call
of `_kit_note`, which records a few numbers (`trace_recorder`). The traced version has an additional
function that returns all rows.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from .function_scope import is_store
from .source_text import Definition, parsed
from .trace_recorder import RECORDER

_MAX_NODES = 1500
_NOT_RECORDED = ("super", "locals", "range", "isinstance", "len")
_LISTS = (ast.List, ast.ListComp)
_VALUES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.IfExp, ast.JoinedStr, *_LISTS)


@dataclass
class TracedExpression:
    """An expression whose values are recorded.

    statement: the first line of its statement
    parts: the indices of its subexpressions
    is_name: whether it is only a name
    returned: whether its value is returned
    """

    line: int
    function: str
    statement: str
    parts: list[int] = field(default_factory=list)
    is_name: bool = False
    returned: bool = False


@dataclass(frozen=True)
class TracedProgram:
    """A traced version: its text, and its expressions by number."""

    source: str
    nodes: list[TracedExpression]


def trace_program(source: str, name: str, foreign: frozenset[str] = frozenset()) -> TracedProgram:
    """Trace the expressions of a definition and of its helpers except `foreign`.

    Raise one of UNPARSABLE, also if the definitions are too long.
    """
    code = parsed(source)
    wanted = {d.lineno for d in code.reachable(name, foreign - {name})}
    tree = ast.parse(source)  # parsed again, because the tree is changed below
    marker = _Marker()
    for definition in tree.body:
        if isinstance(definition, Definition) and definition.lineno in wanted:
            marker.mark(definition)
    if len(marker.nodes) > _MAX_NODES:
        raise ValueError("too long")
    return TracedProgram(f"{ast.unparse(tree)}\n{RECORDER}", marker.nodes)


class _Marker(ast.NodeTransformer):
    """Wraps every value of a definition in a call that records it."""

    def __init__(self) -> None:
        self.nodes: list[TracedExpression] = []
        self._function = ""
        self._local: set[str] = set()
        self._statement = ""
        self._open: list[list[int]] = []

    def mark(self, node: Definition) -> None:
        if isinstance(node, ast.FunctionDef):
            self._mark_function(node, node.name)
        else:
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    self._mark_function(method, f"{node.name}.{method.name}")

    def _mark_function(self, node: ast.FunctionDef, name: str) -> None:
        self._function = name
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and is_store(n)}
        self._local = stored | {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
        self._local -= {"self", "cls", "ctx"}
        node.body = [self.visit(statement) for statement in node.body]

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt):
            self._statement = ast.unparse(node).partition("\n")[0]
        if isinstance(node, (ast.Constant, ast.arguments)):
            return node
        if not isinstance(node, ast.expr) or not self._is_value(node):
            return super().visit(node)
        if isinstance(node, _LISTS):  # its parts are also parts of the expression around it
            first = len(self.nodes)
            inside = super().visit(node)
            parts = [*range(first, len(self.nodes))]
        else:
            self._open.append([])
            inside = node if isinstance(node, ast.JoinedStr) else super().visit(node)
            parts = self._open.pop()
        number, is_name = len(self.nodes), isinstance(node, ast.Name)
        returned = self._statement.startswith("return ") and not self._open
        place = node.lineno, self._function, self._statement
        self.nodes.append(TracedExpression(*place, parts, is_name, returned))
        if self._open:
            self._open[-1].append(number)
        note = ast.Name("_kit_note", ast.Load())
        return ast.Call(note, [ast.Constant(number), inside], [])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):  # a method is not recorded, but its object may be
            node.func.value = self.visit(node.func.value)
        node.args = [self.visit(a) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def _is_value(self, node: ast.expr) -> bool:
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            return False
        if isinstance(node, ast.Name):
            return node.id in self._local
        if isinstance(node, ast.Call):
            return not (isinstance(node.func, ast.Name) and node.func.id in _NOT_RECORDED)
        if isinstance(node, ast.Attribute):
            return not (isinstance(node.value, ast.Name) and node.value.id not in self._local)
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
        return isinstance(node, _VALUES) and not negative
