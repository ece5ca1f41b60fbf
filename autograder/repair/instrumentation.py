"""Instrument a program so that it records the values of its expressions while it runs.

The instrumented version behaves like the original program. Each expression that computes a value is
wrapped in a call of `_kit_note`. The text of `trace_recorder` is appended to the program, so that
it runs wherever the submission runs. Graders use the rows only for what they show to the student,
because a submission can change them.
"""

import ast
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from .function_scope import called, is_self
from .source_text import Code, Definition, parsed
from .trace_recorder import RECORDER

_MAX_NODES = 1500
_UNINITIALIZED = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
_NOT_RECORDED = ("super", "locals", "range", "isinstance", "len", *_UNINITIALIZED)
_LISTS = (ast.List, ast.ListComp)
_VALUES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.IfExp, ast.JoinedStr, *_LISTS)
# Functions and methods that compute the same values as an operator.
_FUNCTIONS = {
    "Add": ("add",),
    "Sub": ("sub", "subtract"),
    "Mult": ("mul", "multiply"),
    "Div": ("div", "divide", "true_divide"),
    "MatMult": ("matmul", "mm", "bmm", "dot", "einsum"),
    "Pow": ("pow", "power"),
}


@dataclass
class TracedExpression:
    """An expression whose values are recorded."""

    line: int
    function: str
    statement: str  # the first line of the statement that contains the expression
    parts: list[int] = field(default_factory=list)  # indices of the recorded subexpressions
    name: str = ""  # the variable if the expression is a single name
    returned: bool = False  # True if the function returns the value
    conditional: bool = False  # True if the expression is in a branch of an `if` statement
    unpacked: bool = False  # True if the value is one of several that an assignment unpacks
    code: str = ""  # the expression as the module writes it
    variable: str = ""  # the variable that gets the value
    operation: str = ""  # the operator, or the name of the called function; "" for other code


@dataclass(frozen=True)
class TracedProgram:
    """The source of an instrumented program, and the expressions that the program records."""

    exercise: str
    source: str
    nodes: list[TracedExpression]


def trace_program(
    source: str, exercise: str, foreign: frozenset[str] = frozenset()
) -> TracedProgram:
    """Instrument the expressions of an exercise and of the definitions that it uses.

    Raise one of UNPARSABLE if the module cannot be parsed or has too many expressions.

    foreign: names of definitions that are not instrumented
    """
    code = parsed(source)
    wanted = {d.lineno for d in code.reachable(exercise, foreign - {exercise})}
    tree = ast.parse(source)  # a new tree, because instrumentation changes it
    marker = _Marker(code)
    for definition in tree.body:
        if isinstance(definition, Definition) and definition.lineno in wanted:
            marker.mark(definition)
    if len(marker.nodes) > _MAX_NODES:
        raise ValueError("too long")
    return TracedProgram(exercise, f"{ast.unparse(tree)}\n{RECORDER}", marker.nodes)


class _Marker(ast.NodeTransformer):
    """Wrap the expressions of definitions in calls that record their values."""

    def __init__(self, code: Code) -> None:
        self.nodes: list[TracedExpression] = []
        self._code = code
        self._function = ""
        self._local: set[str] = set()
        self._statement = ""
        self._assigned: tuple[ast.expr | None, str] = None, ""  # a value and its variable
        self._open: list[list[int]] = []
        self._outputs: list[ast.expr] = []
        # positive in helpers: functions within functions, and methods called by others
        self._nested = 0
        self._branches = 0  # the number of surrounding `if` statements

    def mark(self, node: Definition) -> None:
        if isinstance(node, ast.FunctionDef):
            self._mark_function(node, node.name)
        else:
            calls = (n.func for n in ast.walk(node) if isinstance(n, ast.Call))
            helpers = {f.attr for f in calls if isinstance(f, ast.Attribute) and is_self(f.value)}
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    self._nested = int(method.name in helpers)
                    self._mark_function(method, f"{node.name}.{method.name}")

    def _mark_function(self, node: ast.FunctionDef, name: str) -> None:
        self._function = name
        names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
        self._local = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        self._local |= {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
        self._local -= {"self", "cls", "ctx"}
        body = [self.visit(statement) for statement in node.body]
        node.body = [*chain.from_iterable(b if isinstance(b, list) else [b] for b in body)]

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt):
            self._statement = ast.unparse(node).partition("\n")[0]
            self._assigned = _assignment(node)
        if isinstance(node, (ast.Constant, ast.arguments)):
            return node
        if not isinstance(node, ast.expr) or not self._is_value(node):
            return super().visit(node)
        if isinstance(node, _LISTS):  # a list's parts are also parts of the outer expression
            first = len(self.nodes)
            inside = super().visit(node)
            parts = [*range(first, len(self.nodes))]
        else:
            self._open.append([])
            inside = node if isinstance(node, ast.JoinedStr) else super().visit(node)
            parts = self._open.pop()
        if self._open:
            self._open[-1].append(len(self.nodes))
        value, variable = self._assigned
        return self._recorded(
            node,
            inside,
            parts=parts,
            name=node.id if isinstance(node, ast.Name) else "",
            returned=node in self._outputs
            or (self._statement.startswith("return ") and not self._open and not self._nested),
            conditional=bool(self._branches),
            code=" ".join(self._code.text(node).split()),
            variable=variable if value is node else "",
            operation=_operation(node),
        )

    def _recorded(self, node: ast.expr | ast.stmt, value: ast.expr, **facts: Any) -> ast.Call:
        """Add an expression at a node, and return a call that records its value."""
        number = ast.Constant(len(self.nodes))
        self.nodes.append(TracedExpression(node.lineno, self._function, self._statement, **facts))
        return ast.Call(ast.Name("_kit_note", ast.Load()), [number, value], [])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._nested += 1
        self.generic_visit(node)
        self._nested -= 1
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        condition, node.test = self.visit(node.test), ast.Constant(True)
        self._branches += 1
        self.generic_visit(node)
        self._branches -= 1
        node.test = condition
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        if all(isinstance(target, (ast.Name, ast.Attribute)) for target in node.targets):
            return self.generic_visit(node)
        return self._with_targets(node, node.targets)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        return self._with_targets(node, [node.target])

    def _with_targets(self, node: ast.stmt, targets: list[ast.expr]) -> list[ast.stmt]:
        """Record the variables that a statement changes or unpacks, after the statement."""
        first = len(self.nodes)
        self.generic_visit(node)
        parts = [*range(first, len(self.nodes))]
        names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        facts = {"parts": parts, "unpacked": len(names) > 1}
        notes = (
            self._recorded(node, ast.Name(name, ast.Load()), variable=name, **facts)
            for name in sorted(names & self._local)
        )
        return [node, *map(ast.Expr, notes)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):  # record the object, not the bound method
            node.func.value = self.visit(node.func.value)
            if node.func.attr == "store":  # the outputs of a kernel are the values that it stores
                self._outputs += node.args[1:2]
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
            return called(node) not in _NOT_RECORDED
        if isinstance(node, ast.Attribute):
            return not (isinstance(node.value, ast.Name) and node.value.id not in self._local)
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
        return isinstance(node, _VALUES) and not negative


def _assignment(node: ast.stmt) -> tuple[ast.expr | None, str]:
    """Return the value that a statement assigns to a single variable, and the variable's name."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return value, name
        case ast.AnnAssign(target=ast.Name(id=name), value=value):
            return value, name
    return None, ""


def _operation(node: ast.expr) -> str:
    """Return the operation of an expression; functions get the names of equivalent operators."""
    match node:
        case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.Compare(ops=[op]):
            return type(op).__name__
        case ast.Call():
            name = called(node)
            return next((op for op, names in _FUNCTIONS.items() if name in names), name)
    return ""
