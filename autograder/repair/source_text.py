"""A module's text and its tree: where things stand, and the text with something put in its place.

Theory of operation. The text is a stranger's. It is parsed, never run here; whatever cannot be
parsed has no changes. Replacing text instead of printing a changed tree keeps every other line
where it is, and costs no more than the text is long.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

_NOT_A_BREAK = re.compile(rb"[^\n]")
_LONGEST = 200  # of a definition that is written where its name stands
MOVES = ("transpose", "swapaxes", "movedim", "moveaxis")
Definition = ast.FunctionDef | ast.ClassDef
Pieces = tuple[tuple[int, int, bytes], ...]  # where from, where to, what instead


# What parsing and compiling raise; Python's parser runs out of its own stack with a MemoryError.
NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)


class Code:
    """A module that can be parsed; raises one of NO_PYTHON."""

    def __init__(self, source: str) -> None:
        self.data = source.encode()
        self.tree = ast.parse(source)
        lengths = [len(line) for line in self.data.split(b"\n")]
        self._starts = [0]
        for length in lengths:
            self._starts.append(self._starts[-1] + length + 1)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def pieces(self, *replaced: tuple[ast.expr | ast.stmt, str]) -> Pieces:
        """Texts in the place of nodes that do not overlap, as bytes, from the last to the first."""
        found = ((*self.span(node), text.encode()) for node, text in replaced)
        return tuple(sorted(found, reverse=True))

    def essential(self, names: Iterable[str]) -> bytes:
        """The text with blanks in the place of the definitions that these do without.

        Every other byte stays where it is.
        """
        used = set(names)
        for statement in self.tree.body:
            if not isinstance(statement, Definition):
                used |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        kept = {id(d) for name in used for d in self.reached(name, frozenset())}
        data = bytearray(self.data)
        for statement in self.tree.body:
            if isinstance(statement, Definition) and id(statement) not in kept:
                start, end = self.span(statement)
                for decorator in statement.decorator_list:
                    start = min(start, self._starts[decorator.lineno - 1])
                data[start:end] = _NOT_A_BREAK.sub(b" ", data[start:end])
        return bytes(data)

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        found = (n for n in self.tree.body if isinstance(n, Definition))
        return {n.name: n for n in found}

    def reached(self, name: str, stop: frozenset[str]) -> list[Definition]:
        """The definition and those that it uses, itself or through others, but for `stop`."""
        todo, found = [name], dict[str, Definition]()
        while todo:
            definition = self.definitions.get(todo.pop())
            if definition is None or definition.name in found:
                continue
            found[definition.name] = definition
            used = {n.id for n in ast.walk(definition) if isinstance(n, ast.Name)}
            todo += [n for n in used if n in self.definitions and n not in stop]
        return list(found.values())


@lru_cache(maxsize=2)
def parsed(source: str) -> Code:
    """A module's text and tree; raises as `Code` does."""
    return Code(source)


def in_common(source: str, other: str) -> frozenset[str]:
    """The names of the definitions that are the same, word for word, in two modules."""
    try:
        return frozenset(name for name, _ in _texts(source).items() & _texts(other).items())
    except NO_PYTHON:
        return frozenset()


@lru_cache(maxsize=4)
def _texts(source: str) -> dict[str, str]:
    code = parsed(source)
    return {name: code.text(d) for name, d in code.definitions.items()}


def foreign_lines(source: str, name: str, others: frozenset[str]) -> frozenset[int]:
    """The lines of definitions that a definition does not use, or that are among `others`; what
    stands outside of definitions runs for all."""
    try:
        code = parsed(source)
        own = {id(d) for d in code.reached(name, others - {name})}
    except NO_PYTHON:
        return frozenset()
    found = [d for d in code.tree.body if isinstance(d, Definition) and id(d) not in own]
    return frozenset(n for d in found for n in range(d.lineno, (d.end_lineno or d.lineno) + 1))


def _counted(node: ast.AST) -> list[ast.expr]:
    """What a loop counts."""
    call = node.iter if isinstance(node, (ast.For, ast.comprehension)) else None
    if not isinstance(node, (ast.For, ast.comprehension)) or not isinstance(call, ast.Call):
        return []
    first = node.target.elts[:1] if isinstance(node.target, ast.Tuple) else [node.target]
    return first if ast.unparse(call.func) in ("range", "enumerate") else []


def _is_count(value: ast.expr) -> bool:
    """Whether an expression is a whole number by its form, or several of them."""
    if isinstance(value, ast.Constant):
        return type(value.value) is int
    if isinstance(value, ast.Subscript):
        value = value.value
    if isinstance(value, ast.Attribute):
        return value.attr == "shape"
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in ("size", "len")
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.FloorDiv)


def _branches(value: ast.expr) -> list[ast.expr]:
    """What a value is in one case or the other, or the value itself."""
    return [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]


@dataclass
class Scope:
    """A function, and the names that an expression in it may use."""

    code: Code
    name: str
    node: ast.FunctionDef
    owner: ast.ClassDef | None
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)

    @cached_property
    def parameters(self) -> list[str]:
        arguments = self.node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return [a.arg for a in every if a.arg not in ("self", "ctx", "cls")]

    @cached_property
    def locals(self) -> list[str]:
        """Names that are assigned in the function, in order."""
        stored = (n for n in ast.walk(self.node) if isinstance(n, ast.Name) and is_store(n))
        return list(dict.fromkeys(n.id for n in stored))

    @cached_property
    def names(self) -> list[str]:
        return list(dict.fromkeys([*self.parameters, *self.locals]))

    @cached_property
    def attributes(self) -> list[str]:
        """The attributes that `self` has; where some are set by name, what are strings there."""
        found = [
            n.attr
            for n in ast.walk(self.owner or self.node)
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
            if n.value.id == "self"
        ]
        walked = list(ast.walk(self.owner or self.node))
        if any(isinstance(n, ast.Name) and n.id == "setattr" for n in walked):
            words = (n.value for n in walked if isinstance(n, ast.Constant))
            found += [w for w in words if isinstance(w, str) and w.isidentifier()]
        return list(dict.fromkeys(found))

    @cached_property
    def keys(self) -> list[str]:
        """The strings that are keys of what the function's class, or itself, holds."""
        walked = list(ast.walk(self.owner or self.node))
        found: list[ast.expr | None] = [n.slice for n in walked if isinstance(n, ast.Subscript)]
        for node in walked:
            found += node.keys if isinstance(node, ast.Dict) else ()
        strings = (n.value for n in found if isinstance(n, ast.Constant))
        return list(dict.fromkeys(s for s in strings if isinstance(s, str)))

    @cached_property
    def axis(self) -> str:
        """The parameter that names an axis, or the last axis."""
        return next((p for p in self.parameters if p in ("dim", "axis")), "-1")

    @cached_property
    def unused(self) -> list[str]:
        """Names that are assigned or given, and never read again; a loop's count may be so."""
        walked = list(ast.walk(self.node))
        read = {n.id for n in walked if isinstance(n, ast.Name) and not is_store(n)}
        read |= {n.id for t in walked for n in _counted(t) if isinstance(n, ast.Name)}
        return [n for n in self.names if n not in read and n != "_"]

    @cached_property
    def counts(self) -> list[str]:
        """Names of whole numbers, as they are made: a number, a length, what a loop counts."""
        found: dict[str, None] = {}
        for node in ast.walk(self.node):
            targets = _counted(node)
            if isinstance(node, ast.Assign):
                value = node.value
                known = isinstance(value, ast.Name) and value.id in found
                targets = node.targets if known or _is_count(value) else []
            parts = (p for t in targets for p in (t.elts if isinstance(t, ast.Tuple) else [t]))
            found.update(dict.fromkeys(p.id for p in parts if isinstance(p, ast.Name)))
        return list(found)

    @cached_property
    def masks(self) -> list[str]:
        """Names by which the function says where something is hidden or seen."""
        found: list[ast.expr] = []
        for n in ast.walk(self.node):
            name = (
                n.func.attr if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) else ""
            )
            if isinstance(n, ast.Call) and n.args and name in ("where", "masked_fill"):
                found.append(n.args[0])
        bare = (n.operand if isinstance(n, ast.UnaryOp) else n for n in found)
        return list(dict.fromkeys(n.id for n in bare if isinstance(n, ast.Name)))

    @cached_property
    def uncalled(self) -> list[str]:
        """Attributes of `self` that the object is given and this method does not name."""
        named = {n.attr for n in ast.walk(self.node) if isinstance(n, ast.Attribute)}
        return [a for a in self.attributes if a not in named]

    @cached_property
    def layers(self) -> set[str]:
        """Attributes of `self` that are made by a call."""
        assigned = (n for n in ast.walk(self.owner or self.node) if isinstance(n, ast.Assign))
        made = (t for n in assigned if isinstance(n.value, ast.Call) for t in n.targets)
        return {t.attr for t in made if isinstance(t, ast.Attribute)}

    @cached_property
    def roots(self) -> list[str]:
        """The roots that the function takes, as they are written in it."""
        texts = (
            self.code.text(n) for n in ast.walk(self.node) if isinstance(n, ast.expr) and is_root(n)
        )
        return list(dict.fromkeys(texts))

    @cached_property
    def moves(self) -> list[tuple[str, str]]:
        """The pairs of axes that the function exchanges in what it assigns."""
        assigned = (n.value for n in ast.walk(self.node) if isinstance(n, ast.Assign))
        found = [
            (self.code.text(v.args[-2]), self.code.text(v.args[-1]))
            for v in assigned
            if isinstance(v, ast.Call) and isinstance(v.func, ast.Attribute)
            if v.func.attr in MOVES and len(v.args) >= 2
        ]
        return list(dict.fromkeys(found))

    @cached_property
    def maxima(self) -> list[tuple[str, str, str]]:
        """Each running maximum: the library it is from, its old name and its new one."""
        assigned = (n for n in ast.walk(self.node) if isinstance(n, ast.Assign))
        return [
            (library, old, n.targets[0].id)
            for n in assigned
            if isinstance(n.targets[0], ast.Name)
            for value in _branches(n.value)
            for library, old in self._largest_of(value)
        ][:4]

    def _largest_of(self, value: ast.expr) -> list[tuple[str, str]]:
        """Of what two values the larger one is taken entry by entry: their names, with whose
        function."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return []
        owner, own = self.code.text(value.func.value), value.func.value
        given, called = [*value.args], value.func.attr
        if owner not in ("torch", "tl", "np", "numpy"):
            owner, given, called = "torch", [own, *given], "" if called == "max" else called
        pair = called in ("maximum", "max") and len(given) == 2 and not value.keywords
        return [(owner, n.id) for n in given if pair and isinstance(n, ast.Name)]

    @cached_property
    def running(self) -> set[str]:
        """The names of running maxima before a round."""
        return {old for _, old, _ in self.maxima}

    @cached_property
    def counted(self) -> list[ast.AugAssign]:
        """Where attributes are counted up or down."""
        found = (n for n in ast.walk(self.node) if isinstance(n, ast.AugAssign))
        signs = (ast.Add, ast.Sub)
        return [
            n for n in found if isinstance(n.target, ast.Attribute) and isinstance(n.op, signs)
        ][:4]

    @cached_property
    def definitions(self) -> dict[str, str]:
        """What a name stands for, of those that are assigned once, alone and on one line."""
        found: dict[str, list[str]] = {}
        for node in ast.walk(self.node):
            for target in node.targets if isinstance(node, ast.Assign) else ():
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        alone = name is target and len(node.targets) == 1  # type: ignore[attr-defined]
                        text = self.code.text(node.value) if alone else ""  # type: ignore[attr-defined]
                        found.setdefault(name.id, []).append(text)
        short = {n: t[0] for n, t in found.items() if len(t) == 1 and 0 < len(t[0]) <= _LONGEST}
        return {n: t for n, t in short.items() if "\n" not in t}

    @cached_property
    def uses(self) -> Counter[str]:
        """How often each name is read."""
        return Counter(
            n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and not is_store(n)
        )

    @cached_property
    def siblings(self) -> dict[str, set[str]]:
        """Names that are given or assigned together."""
        together = [self.parameters]
        for node in ast.walk(self.node):
            if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
                together.append([e.id for e in node.elts if isinstance(e, ast.Name)])
        found: dict[str, set[str]] = {}
        for names in together:
            for name in names:
                found.setdefault(name, set()).update(names)
        return found

    @cached_property
    def used(self) -> set[str]:
        return {n.id for n in ast.walk(self.node) if isinstance(n, ast.Name)}

    def walk(self) -> Iterator[ast.AST]:
        """The nodes of the body that run: no annotations, no docstrings, nothing of f-strings."""
        todo: deque[ast.AST] = deque(self.node.body)
        while todo:
            node = todo.popleft()
            yield node
            if isinstance(node, ast.JoinedStr):
                continue
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                if not (isinstance(node, ast.AnnAssign) and child is node.annotation):
                    todo.append(child)


def is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def is_root(node: ast.expr) -> bool:
    """Return True if an expression is written as a square root."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return name == "sqrt"
    power = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) else None
    return isinstance(power, ast.Constant) and power.value == 0.5


def scopes(code: Code, definitions: list[Definition]) -> Iterator[Scope]:
    """The functions of definitions: methods each for itself, functions within with their outer."""
    for definition in definitions:
        if isinstance(definition, ast.FunctionDef):
            yield Scope(code, definition.name, definition, None)
            continue
        methods = [m for m in definition.body if isinstance(m, ast.FunctionDef)]
        for method in sorted(methods, key=lambda m: m.name == "__init__"):
            yield Scope(code, f"{definition.name}.{method.name}", method, definition)
