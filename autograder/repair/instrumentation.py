"""What the expressions of a program come to, noted while it runs.

A traced version does what the program does. Beside it, of every expression that is a value it notes
a few numbers: sums of the entries, some in their order, some in none, so that a value is recognised
that another program computes in other words. The version answers one more call with all it noted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .operators.patterns import called
from .source_text import Definition, is_store, parsed

NOTES = "_kit_notes"  # what the traced version is asked for
# Columns of a row: which expression, of what kind, its shape, what its entries add up to. Kinds are
# tensors, arrays, numbers, and what is noted of texts and of lists: numbers for their characters.
NODE, KIND, TYPE, GRADIENT, COUNT, SHAPE = range(6)
UNORDERED, ORDERED = slice(6, 13), slice(13, 15)
TEXT, LIST = 3, 4  # of KIND
WIDTH = 15
FILLED = "filled"  # the head of what a statement has written into
_MOST_NODES = 1500
_NOTING = """
def _kit_noting():
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
        odd = not math.isfinite(x)
        if odd:
            x = 0.7 if math.isnan(x) else math.copysign(3.3, x)
        rows.append([
            node, 2, 0, 0, 1, 0.0, x, x * x, abs(x), x, x, odd, x * x * x, x * math.sin(1.0), x,
        ])

    def numbers(node, kind, type_, gradient, x):
        shape, flat = x.shape, x.reshape(-1)
        finite = numpy.isfinite(flat)
        odd = flat.size - int(finite.sum())
        if odd:
            other = numpy.where(numpy.isnan(flat), 0.7, numpy.sign(flat) * 3.3)
            flat = numpy.where(finite, flat, other)
        if flat.size > waves[0].size:
            places = numpy.arange(flat.size)
            waves[:] = numpy.sin(places * 1.7 + 1.0), numpy.cos(places * 0.9)
        width = 0.0
        for axis, size in enumerate(shape):
            width += size * (axis + 1.37) ** 2
        high, low = (flat.max(), flat.min()) if flat.size else (0.0, 0.0)
        squares = flat * flat
        one, other = waves[0][: flat.size], waves[1][: flat.size]
        rows.append([
            node, kind, type_, gradient, flat.size, width,
            flat.sum(), squares.sum(), abs(flat).sum(), high, low, odd, (squares * flat).sum(),
            (flat * one).sum(), (flat * other).sum(),
        ])

    def text(node, x):
        places = numpy.array([*map(ord, x[:4096])], dtype="float64")
        numbers(node, 3, 0, 0, numpy.sin(places * 1.3 + 0.2))

    def note(node, value):
        if seen.get(node, 0) < 4 and len(rows) < 2000:
            try:
                look(node, value)
            except OverflowError:  # a whole number that no float holds
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
            inside = getattr(getattr(value, "handle", None), "data", None)  # of its interpreter
            if isinstance(inside, numpy.ndarray) and inside.size > 1:
                note(node, inside)

    return note, noted


_kit_note, _kit_notes = _kit_noting()
"""


class Given(NamedTuple):
    """A statement that gives a name its value; its line, or that of a loop around it which has
    ended where the name is read."""

    statement: int
    line: int
    ended: bool


@dataclass
class Noted:
    """An expression that is noted: where it stands, and which others it is made of."""

    line: int
    function: str
    head: str  # what combines its parts: an operator, the name of a function
    parts: list[int] = field(default_factory=list)
    statement: int = 0  # the number of the statement in which it stands
    returned: bool = False  # whether it is what is returned, or a part of that
    origin: int = 0  # of a name: the line where the generator that it stands for is made
    absent: bool = False  # whether it is a name of what may be None
    stateful: bool = False  # whether it calls something that was given or made, as a model
    bound: tuple[Given, ...] = ()  # of a name: the statements above that give it a value

    @property
    def name(self) -> bool:
        """Whether it is a name that is read."""
        return self.head == "Name"


@dataclass(frozen=True)
class Traced:
    """A traced version: its text, its expressions by number, and its statements in words."""

    source: str
    nodes: list[Noted]
    statements: list[str]


def traced(source: str, names: Iterable[str], others: frozenset[str] = frozenset()) -> Traced:
    """The module with all expressions of these definitions noted, and of what they use but for
    `others`; raises one of NO_PYTHON."""
    code = parsed(source)
    wanted = {id(d) for name in names for d in code.reached(name, others - {name})}
    marker = _Marker()
    pieces = []
    for definition in code.tree.body:
        if isinstance(definition, Definition) and id(definition) in wanted:
            start, end = code.span(definition)
            # parsed once more, on lines of their own: what is marked is changed
            text = "\n" * (definition.lineno - 1) + code.data[start:end].decode()
            (marked,) = ast.parse(text).body
            if not isinstance(marked, Definition):
                raise ValueError("a definition that stands elsewhere")
            marker.definition(marked)
            pieces.append((start, end, ast.unparse(marked).encode()))
    if len(marker.nodes) > _MOST_NODES:
        raise ValueError("too long")
    whole = code.data
    for start, end, marked_text in reversed(pieces):
        whole = whole[:start] + marked_text + whole[end:]
    return Traced(f"{whole.decode()}\n{_NOTING}", marker.nodes, marker.statements)


def statements(source: str) -> Iterator[str]:
    """The statements of a module's functions in words, as those of a traced version."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.stmt) and node is not function:
                    yield _said(node)


class _Marker(ast.NodeTransformer):
    """Puts every value of a definition into a note of it."""

    def __init__(self) -> None:
        self.nodes: list[Noted] = []
        self.statements: list[str] = []
        self._function = ""
        self._local: set[str] = set()
        self._origins: dict[str, int] = {}
        self._absent: set[str] = set()
        self._filled: set[ast.stmt] = set()
        self._open: list[list[int]] = []
        self._loops: list[ast.stmt] = []
        self._bound: dict[str, list[tuple[int, int, tuple[ast.stmt, ...]]]] = {}

    def definition(self, node: Definition) -> None:
        if isinstance(node, ast.FunctionDef):
            self._body(node, node.name)
        else:
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    self._body(method, f"{node.name}.{method.name}")

    def _body(self, node: ast.FunctionDef, name: str) -> None:
        self._function = name
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and is_store(n)}
        self._local = stored | {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
        self._local -= {"self", "cls", "ctx"}
        given = [n for n in ast.walk(node) if isinstance(n, ast.Assign)]
        plain = [(t.id, n.value) for n in given for t in n.targets if isinstance(t, ast.Name)]
        self._origins = {t: v.lineno for t, v in plain if called(v) in _GENERATORS}
        constants = ((t, v) for t, v in plain if isinstance(v, ast.Constant))
        self._absent = {t for t, v in constants if v.value is None}
        self._filled, self._bound = set(_filled_once(node)), {}
        node.body = [made for s in node.body for made in self._statement(s)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        made = self.visit(node)
        return made if isinstance(made, list) else [made]

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, ast.stmt):
            return self._visited(node)
        self.statements.append(_said(node))
        if isinstance(node, (ast.For, ast.While)):
            self._loops.append(node)
        given = {n.id for t in _targets(node) for n in ast.walk(t) if isinstance(n, ast.Name)}
        gives = len(self.statements) - 1, node.lineno, tuple(self._loops)
        if isinstance(node, ast.For):  # in the loop already
            self._give(given, gives)
        made = self._with_what_it_fills(node) if node in self._filled else self._inside(node)
        self._give(given, gives)
        if isinstance(node, (ast.For, ast.While)):
            self._loops.pop()
        return made

    def _give(self, names: set[str], gives: tuple[int, int, tuple[ast.stmt, ...]]) -> None:
        for name in names:
            self._bound.setdefault(name, []).append(gives)

    def _bound_above(self, name: str) -> Iterator[Given]:
        for statement, line, loops in self._bound.get(name, ()):
            ended = [loop.lineno for loop in loops if loop not in self._loops]
            yield Given(statement, ended[0] if ended else line, bool(ended))

    def _visited(self, node: ast.AST) -> Any:
        if isinstance(node, (ast.Constant, ast.arguments)):
            return node
        if not isinstance(node, ast.expr) or not self._is_value(node):
            return self._inside(node)
        if isinstance(node, _LISTS):  # what is in it counts as well for what it is in
            begins = len(self.nodes)
            inside = self._inside(node)
            parts = [*range(begins, len(self.nodes))]
        else:
            self._open.append([])
            inside = node if isinstance(node, ast.JoinedStr) else self._inside(node)
            parts = self._open.pop()
        assert isinstance(inside, ast.expr)
        number = len(self.nodes)
        where = len(self.statements) - 1
        returned = not self._open and self.statements[where].startswith("Return ")
        noted = Noted(node.lineno, self._function, _head(node), parts, where, returned)
        if isinstance(node, ast.Name):
            noted.origin = self._origins.get(node.id, 0)
            noted.absent = node.id in self._absent
            noted.bound = tuple(self._bound_above(node.id))
        function = node.func if isinstance(node, ast.Call) else None
        noted.stateful = isinstance(function, ast.Name) and function.id in self._local
        self.nodes.append(noted)
        if self._open:
            self._open[-1].append(number)
        note = ast.Name("_kit_note", ast.Load())
        return ast.Call(note, [ast.Constant(number), inside], [])

    def _with_what_it_fills(self, node: ast.stmt) -> list[ast.AST]:
        """A statement that writes into a value, and a note of that value."""
        text, where = ast.unparse(_written(node) or node), len(self.statements) - 1
        made = self._inside(node)
        self.nodes.append(Noted(node.lineno, self._function, FILLED, [], where))
        return [made, ast.parse(f"_kit_note({len(self.nodes) - 1}, {text})").body[0]]

    def _inside(self, node: ast.AST) -> ast.AST:
        made: ast.AST = super().visit(node)
        return made

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):  # what is called is no value, its object may be
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
            return not (isinstance(node.func, ast.Name) and node.func.id in _LEFT)
        if isinstance(node, ast.Attribute):
            return not (isinstance(node.value, ast.Name) and node.value.id not in self._local)
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
        return isinstance(node, _VALUES) and not negative


def _targets(node: ast.stmt) -> list[ast.expr]:
    """What a statement gives a value."""
    if isinstance(node, ast.Assign):
        return node.targets
    if isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.For)):
        return [node.target]
    return []


def _written(node: ast.stmt) -> ast.expr | None:
    """The value into which an assignment writes: `x` of `x[...] = y`."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    target = targets[0] if len(targets) == 1 else None
    base = target.value if isinstance(target, ast.Subscript) else None
    return base if isinstance(base, (ast.Name, ast.Attribute)) else None


def _filled_once(node: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Statements outside of loops that are all that writes into a value: it is whole after them."""
    every = [
        ast.unparse(b) for n in ast.walk(node) if isinstance(n, ast.stmt) if (b := _written(n))
    ]
    waiting = list(node.body)
    for statement in waiting:
        if isinstance(statement, (ast.With, ast.If)):
            waiting += statement.body
        base = _written(statement)
        if base is not None and every.count(ast.unparse(base)) == 1:
            yield statement


_GENERATORS = ("default_rng", "RandomState", "Generator", "manual_seed")
_LEFT = ("super", "locals", "range", "isinstance", "len")
_LISTS = (ast.List, ast.ListComp)
_VALUES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.IfExp, ast.JoinedStr, *_LISTS)


def _said(node: ast.stmt) -> str:
    """A statement in words, but for the statements in it; nothing of a docstring."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return ""
    parts = {n: v for n, v in ast.iter_fields(node) if n not in ("body", "orelse", "finalbody")}
    said = (
        ast.dump(v) if isinstance(v, ast.AST) else " ".join(map(_dumped, v))
        for v in parts.values()
        if isinstance(v, (ast.AST, list))
    )
    return f"{type(node).__name__} {' '.join(said)}"


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
