"""Instrument a program so that it records the values of its expressions while it runs.

The instrumented version behaves like the original program. Each expression that computes a value is
wrapped in a call of `_kit_note`. The recorder is appended to the program as text, so it runs
wherever the submission runs. The function named NOTES returns all rows and deletes them. Graders
use the rows only to select a line of the submission itself, because a submission can change them.

A row describes one value by a few numbers, such as sums over its entries. Most of these numbers do
not depend on the order of the entries, so that permuted values can be recognised.
"""

import ast
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from .function_scope import called, is_self
from .source_text import Definition, parsed

NOTES = "_kit_notes"  # name of the function that returns all rows
# Columns: the index of the expression, the kind of value, its dtype, whether it requires a
# gradient, the number of entries, and a number that depends on the shape.
NODE, KIND, TYPE, GRADIENT, COUNT, SHAPE = range(6)
# Sum, sum of squares, sum of magnitudes, largest, smallest, number of non-finite entries, sum of
# cubes; then two sums that depend on the order of the entries.
UNORDERED, ORDERED = slice(6, 13), slice(13, 15)
WIDTH = 15
TEXT, LIST, ADDRESS = 3, 4, 5  # values of KIND; tensors are 0, arrays 1, numbers 2
# The entries of a text are computed from its characters. At most 4 values of an expression and 2000
# rows in all are recorded. NaN is replaced by 0.7, and infinities by 3.3 with their sign, so that
# sums stay finite.
RECORDER = """
def _kit_recorder():
    import math, numpy, torch

    rows, seen, types = [], {}, {}
    waves = [numpy.empty(0), numpy.empty(0)]

    def type_of(x):
        if x.dtype not in types:
            name = str(x.dtype)
            types[x.dtype] = sum(ord(c) * (place + 1) for place, c in enumerate(name))
        return types[x.dtype]

    def noted():
        found = numpy.array(rows or numpy.empty((0, 15)), dtype="float64")
        rows.clear(), seen.clear()
        return torch.from_numpy(found)

    def number(node, x):
        special = not math.isfinite(x)
        if special:
            x = 0.7 if math.isnan(x) else math.copysign(3.3, x)
        rows.append([
            node, 2, 0, 0, 1, 0.0, x, x * x, abs(x), x, x, special, x * x * x, x * math.sin(1.0), x,
        ])

    def numbers(node, kind, type_, gradient, x):
        shape, flat = x.shape, x.reshape(-1)
        finite = numpy.isfinite(flat)
        special = flat.size - int(finite.sum())
        if special:
            other = numpy.where(numpy.isnan(flat), 0.7, numpy.sign(flat) * 3.3)
            flat = numpy.where(finite, flat, other)
        if flat.size > waves[0].size:
            places = numpy.arange(flat.size)
            waves[:] = numpy.sin(places * 1.7 + 1.0), numpy.cos(places * 0.9)
        form = 0.0
        for axis, size in enumerate(shape):
            form += size * (axis + 1.37) ** 2
        high, low = (flat.max(), flat.min()) if flat.size else (0.0, 0.0)
        squares = flat * flat
        one, other = waves[0][: flat.size], waves[1][: flat.size]
        rows.append([
            node, kind, type_, gradient, flat.size, form,
            flat.sum(), squares.sum(), abs(flat).sum(), high, low, special, (squares * flat).sum(),
            (flat * one).sum(), (flat * other).sum(),
        ])

    def text(node, x):
        places = numpy.array([*map(ord, x[:4096])], dtype="float64")
        numbers(node, 3, 0, 0, numpy.sin(places * 1.3 + 0.2))

    def note(node, value):
        if seen.get(node, 0) < 4 and len(rows) < 2000:
            try:
                look(node, value)
            except OverflowError:  # an integer too large for a float
                pass
        return value

    def look(node, value):
        kind = type(value)
        if kind in (int, float, bool):
            seen[node] = seen.get(node, 0) + 1
            number(node, float(value))
        elif isinstance(value, torch.Tensor):
            if value.is_meta or value.is_complex():
                return
            seen[node] = seen.get(node, 0) + 1
            if value.numel() <= 65536:
                x = value.detach().cpu().double().numpy()
                numbers(node, 0, type_of(value), value.requires_grad, x)
        elif isinstance(value, (numpy.ndarray, numpy.generic)):
            if value.dtype.kind in "biuf":
                seen[node] = seen.get(node, 0) + 1
                if value.size <= 65536:
                    numbers(node, 1, type_of(value), 0, value.astype("float64"))
        elif kind is str:
            seen[node] = seen.get(node, 0) + 1
            text(node, value)
        elif kind in (tuple, list) and 0 < len(value) <= 4096:
            kinds = {*map(type, value)}
            if kinds <= {int, float, bool}:
                seen[node] = seen.get(node, 0) + 1
                numbers(node, 4, 0, 0, numpy.array(value, dtype="float64"))
            elif kinds == {str}:
                seen[node] = seen.get(node, 0) + 1
                text(node, chr(31).join(value))
            elif len(value) <= 4:
                for part in value:
                    if isinstance(part, (torch.Tensor, numpy.ndarray)):
                        note(node, part)
        elif kind.__module__.startswith("triton.") and kind.__name__ == "tensor":
            inside = getattr(getattr(value, "handle", None), "data", None)  # of the interpreter
            if not isinstance(inside, numpy.ndarray):
                return
            if inside.size < 2 and inside.dtype.kind != "f":  # a position or a size
                return
            if value.dtype.is_ptr():  # addresses differ between runs
                seen[node] = seen.get(node, 0) + 1
                numbers(node, 5, 0, 0, numpy.zeros(1))
            else:
                note(node, inside)

    return note, noted


_kit_note, _kit_notes = _kit_recorder()
"""


_MAX_NODES = 1500
_UNINITIALIZED = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
_NOT_RECORDED = ("super", "locals", "range", "isinstance", "len", *_UNINITIALIZED)
_LISTS = (ast.List, ast.ListComp)
_VALUES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.IfExp, ast.JoinedStr, *_LISTS)


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


@dataclass(frozen=True)
class TracedProgram:
    """The source of an instrumented program, and the expressions that the program records."""

    source: str
    nodes: list[TracedExpression]


def trace_program(source: str, name: str, foreign: frozenset[str] = frozenset()) -> TracedProgram:
    """Instrument the expressions of a definition and of the definitions that it uses.

    Raise one of UNPARSABLE if the module cannot be parsed or has too many expressions.

    foreign: names of definitions that are not instrumented
    """
    code = parsed(source)
    wanted = {d.lineno for d in code.reachable(name, foreign - {name})}
    tree = ast.parse(source)  # a new tree, because instrumentation changes it
    marker = _Marker()
    for definition in tree.body:
        if isinstance(definition, Definition) and definition.lineno in wanted:
            marker.mark(definition)
    if len(marker.nodes) > _MAX_NODES:
        raise ValueError("too long")
    return TracedProgram(f"{ast.unparse(tree)}\n{RECORDER}", marker.nodes)


class _Marker(ast.NodeTransformer):
    """Wrap the expressions of definitions in calls that record their values."""

    def __init__(self) -> None:
        self.nodes: list[TracedExpression] = []
        self._function = ""
        self._local: set[str] = set()
        self._statement = ""
        self._open: list[list[int]] = []
        self._outputs: list[ast.expr] = []
        self._nested = (
            0  # positive in helpers: functions within functions, methods called by others
        )
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
        number, name = len(self.nodes), node.id if isinstance(node, ast.Name) else ""
        returned = node in self._outputs or (
            self._statement.startswith("return ") and not self._open and not self._nested
        )
        place = node.lineno, self._function, self._statement
        self.nodes.append(TracedExpression(*place, parts, name, returned, bool(self._branches)))
        if self._open:
            self._open[-1].append(number)
        note = ast.Name("_kit_note", ast.Load())
        return ast.Call(note, [ast.Constant(number), inside], [])

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
        first, place = len(self.nodes), (node.lineno, self._function, self._statement)
        self.generic_visit(node)
        parts = [*range(first, len(self.nodes))]
        names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        added: list[ast.stmt] = []
        for name in sorted(names & self._local):
            several = len(names) > 1
            self.nodes.append(TracedExpression(*place, parts, unpacked=several))
            number = ast.Constant(len(self.nodes) - 1)
            value, note = ast.Name(name, ast.Load()), ast.Name("_kit_note", ast.Load())
            added.append(ast.Expr(ast.Call(note, [number, value], [])))
        return [node, *added]

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
