"""Instrument a program, so that it records the value of every expression while it runs.

The traced version behaves like the program. Every expression that is a value is wrapped in a call
of `_kit_note`, which records a few numbers (`trace_recorder`). An additional
function of the traced version returns all rows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .function_scope import is_store
from .operators.patterns import called
from .source_text import Definition, parsed
from .trace_recorder import RECORDER

FILLED = "filled"  # the head of a value into which a statement writes
_MAX_NODES = 1500
_NOT_RECORDED = ("super", "locals", "range", "isinstance", "len")
_LISTS = (ast.List, ast.ListComp)
_VALUES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.IfExp, ast.JoinedStr, *_LISTS)


@dataclass
class TracedExpression:
    """An expression whose values are recorded.

    head: what combines its parts: an operator or the name of a function
    parts: the numbers of the expressions that it combines
    statement: the number of its statement
    returned: whether it is returned, directly or as a part
    """

    line: int
    function: str
    head: str
    parts: list[int] = field(default_factory=list)
    statement: int = 0
    returned: bool = False

    @property
    def is_name(self) -> bool:
        return self.head == "Name"


@dataclass(frozen=True)
class TracedProgram:
    """A traced version: its text, its expressions by number, and its statements in words."""

    source: str
    nodes: list[TracedExpression]
    statements: list[str]


def trace_program(
    source: str, names: Iterable[str], foreign: frozenset[str] = frozenset()
) -> TracedProgram:
    """Trace the expressions of these definitions and of their helpers except `foreign`.

    Raises one of UNPARSABLE, also if the definitions are too long.
    """
    code = parsed(source)
    wanted = {id(d) for name in names for d in code.reachable(name, foreign - {name})}
    marker = _Marker()
    pieces = []
    for definition in code.tree.body:
        if isinstance(definition, Definition) and id(definition) in wanted:
            start, end = code.span(definition)
            # parsed again, on its own lines, because the tree is changed
            text = "\n" * (definition.lineno - 1) + code.data[start:end].decode()
            (marked,) = ast.parse(text).body
            if not isinstance(marked, Definition):
                raise ValueError("the definition is not at the start of its line")
            marker.mark(marked)
            pieces.append((start, end, ast.unparse(marked).encode()))
    if len(marker.nodes) > _MAX_NODES:
        raise ValueError("too long")
    whole = code.data
    for start, end, text_bytes in reversed(pieces):
        whole = whole[:start] + text_bytes + whole[end:]
    return TracedProgram(f"{whole.decode()}\n{RECORDER}", marker.nodes, marker.statements)


def statements(source: str) -> Iterator[str]:
    """Yield the statements of a module's functions in words, as in a traced version."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.stmt) and node is not function:
                    yield _in_words(node)


class _Marker(ast.NodeTransformer):
    """Wraps every value of a definition in a call that records it."""

    def __init__(self) -> None:
        self.nodes: list[TracedExpression] = []
        self.statements: list[str] = []
        self._function = ""
        self._local: set[str] = set()
        self._filled: set[ast.stmt] = set()
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
        self._filled = set(_filled_once(node))
        body: list[ast.stmt] = []
        for statement in node.body:
            made = self.visit(statement)
            body += made if isinstance(made, list) else [made]
        node.body = body

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, ast.stmt):
            return self._visit_expression(node)
        self.statements.append(_in_words(node))
        return self._record_filled(node) if node in self._filled else super().visit(node)

    def _visit_expression(self, node: ast.AST) -> Any:
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
        number, statement = len(self.nodes), len(self.statements) - 1
        returned = not self._open and self.statements[statement].startswith("Return ")
        self.nodes.append(
            TracedExpression(node.lineno, self._function, _head(node), parts, statement, returned)
        )
        if self._open:
            self._open[-1].append(number)
        note = ast.Name("_kit_note", ast.Load())
        return ast.Call(note, [ast.Constant(number), inside], [])

    def _record_filled(self, node: ast.stmt) -> list[ast.AST]:
        """Record the value into which a statement writes, after the statement."""
        text, statement = ast.unparse(_written(node) or node), len(self.statements) - 1
        made = super().visit(node)
        self.nodes.append(TracedExpression(node.lineno, self._function, FILLED, [], statement))
        return [made, ast.parse(f"_kit_note({len(self.nodes) - 1}, {text})").body[0]]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):  # a method is not a value, its object may be
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


def _written(node: ast.stmt) -> ast.expr | None:
    """Return the array that a statement writes into: `x` of `x[...] = y`."""
    match node:
        case ast.Assign([ast.Subscript((ast.Name() | ast.Attribute()) as base)]):
            return base
    return None


def _filled_once(node: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Yield the statements outside of loops that are the only ones to write into an array."""
    written = (_written(n) for n in ast.walk(node) if isinstance(n, ast.stmt))
    texts = [ast.unparse(base) for base in written if base is not None]
    waiting = list(node.body)
    for statement in waiting:
        if isinstance(statement, (ast.With, ast.If)):
            waiting += statement.body
        base = _written(statement)
        if base is not None and texts.count(ast.unparse(base)) == 1:
            yield statement


def _in_words(node: ast.stmt) -> str:
    """Return a statement without the statements in it, or "" for a docstring."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return ""
    parts = (v for n, v in ast.iter_fields(node) if n not in ("body", "orelse", "finalbody"))
    words: list[str] = []
    for part in parts:
        if isinstance(part, (ast.AST, list)):
            words += [_dumped(p) for p in (part if isinstance(part, list) else [part])]
    return f"{type(node).__name__} {' '.join(words)}"


def _dumped(node: object) -> str:
    return ast.dump(node) if isinstance(node, ast.AST) else str(node)


def _head(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return called(node) or "call"
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return type(node.op).__name__
    if isinstance(node, ast.Attribute):
        return node.attr
    return type(node).__name__
