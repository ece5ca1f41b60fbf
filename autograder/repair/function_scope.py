"""Analyse the functions of a submission, and rewrite calls with different arguments."""

import ast
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from .source_text import Code, Definition, arguments_of

_LONGEST = 200  # characters; longer expressions are not copied to other places
_MAX_MAXIMA = 4


@dataclass
class FunctionScope:
    """A function or method of a submission."""

    code: Code
    name: str
    node: ast.FunctionDef
    owner: ast.ClassDef | None  # the class of a method
    # the parent of each node; filled by `walk`
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        return self.code.text(node)

    def walk(self) -> Iterator[ast.AST]:
        """Yield the nodes of defaults and the body, except annotations and parts of f-strings."""
        defaults = (*self.node.args.defaults, *filter(None, self.node.args.kw_defaults))
        todo = deque[ast.AST]((*defaults, *self.node.body))
        while todo:
            node = todo.popleft()
            yield node
            if isinstance(node, ast.JoinedStr):
                continue
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                if not (isinstance(node, ast.AnnAssign) and child is node.annotation):
                    todo.append(child)

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.node))

    @cached_property
    def _class_nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.owner or self.node))

    @cached_property
    def _assignments(self) -> list[ast.Assign]:
        return [n for n in self._nodes if isinstance(n, ast.Assign)]

    @cached_property
    def parameters(self) -> list[str]:
        names = (a.arg for a in arguments_of(self.node))
        return [name for name in names if name not in ("self", "ctx", "cls")]

    @cached_property
    def locals(self) -> list[str]:
        """The names that the function assigns, without duplicates."""
        stored = (n for n in self._nodes if isinstance(n, ast.Name) and is_store(n))
        return list(dict.fromkeys(n.id for n in stored))

    @cached_property
    def names(self) -> list[str]:
        return list(dict.fromkeys([*self.parameters, *self.locals]))

    @cached_property
    def used(self) -> set[str]:
        return {n.id for n in self._nodes if isinstance(n, ast.Name)}

    @cached_property
    def unused(self) -> list[str]:
        """The parameters and assigned names that are never read, except loop counters and `_`."""
        read = {n.id for n in self._nodes if isinstance(n, ast.Name) and not is_store(n)}
        read |= set(chain.from_iterable(map(_counters, self._nodes)))
        return [n for n in self.names if n not in read and n != "_"]

    @cached_property
    def attributes(self) -> list[str]:
        """The attributes of `self`, including strings that may name attributes for `setattr`."""
        nodes = self._class_nodes
        found = [n.attr for n in nodes if isinstance(n, ast.Attribute) and is_self(n.value)]
        if any(isinstance(n, ast.Name) and n.id == "setattr" for n in nodes):
            words = (n.value for n in nodes if isinstance(n, ast.Constant))
            found += [w for w in words if isinstance(w, str) and w.isidentifier()]
        return list(dict.fromkeys(found))

    @cached_property
    def keys(self) -> list[str]:
        """The strings that the method's class, or the function, uses as dictionary keys."""
        found: list[ast.expr | None] = []
        for node in self._class_nodes:
            found += [node.slice] if isinstance(node, ast.Subscript) else ()
            found += node.keys if isinstance(node, ast.Dict) else ()
        strings = (n.value for n in found if isinstance(n, ast.Constant))
        return list(dict.fromkeys(s for s in strings if isinstance(s, str)))

    @cached_property
    def axis(self) -> str:
        """The name of the axis parameter (`dim` or `axis`), or "-1" if there is none."""
        return next((p for p in self.parameters if p in ("dim", "axis")), "-1")

    @cached_property
    def uncalled(self) -> list[str]:
        """The attributes of `self` that this method does not use."""
        named = {n.attr for n in self._nodes if isinstance(n, ast.Attribute)}
        return [a for a in self.attributes if a not in named]

    @cached_property
    def layers(self) -> set[str]:
        """The attributes of `self` to which the result of a call is assigned."""
        assigned = (n for n in self._class_nodes if isinstance(n, ast.Assign))
        made = (t for n in assigned if isinstance(n.value, ast.Call) for t in n.targets)
        return {t.attr for t in made if isinstance(t, ast.Attribute)}

    @cached_property
    def assigned_once(self) -> dict[str, str]:
        """The names that are assigned exactly once, mapped to the text of the expression.

        Tuple assignments and expressions that are long or span several lines are left out.
        """
        found: dict[str, list[str]] = {}
        for node in self._assignments:
            for name in (n for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)):
                single = len(node.targets) == 1 and name is node.targets[0]
                found.setdefault(name.id, []).append(self.text(node.value) if single else "")
        short = {n: t[0] for n, t in found.items() if len(t) == 1 and 0 < len(t[0]) <= _LONGEST}
        return {n: t for n, t in short.items() if "\n" not in t}

    @cached_property
    def siblings(self) -> dict[str, set[str]]:
        """Each name, mapped to all names in the same parameter list or tuple assignments."""
        groups = [self.parameters]
        for node in self._nodes:
            if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
                groups.append([e.id for e in node.elts if isinstance(e, ast.Name)])
        found: dict[str, set[str]] = {}
        for names in groups:
            for name in names:
                found.setdefault(name, set()).update(names)
        return found

    @cached_property
    def moves(self) -> list[tuple[str, str]]:
        """The pairs of axes that the function swaps in the value of an assignment."""
        found = [
            (self.text(v.args[-2]), self.text(v.args[-1]))
            for v in (n.value for n in self._assignments)
            if isinstance(v, ast.Call) and isinstance(v.func, ast.Attribute)
            if v.func.attr in _MOVES and len(v.args) >= 2
        ]
        return list(dict.fromkeys(found))

    @cached_property
    def running_maxima(self) -> list[tuple[str, str, str]]:
        """At most `_MAX_MAXIMA` running maxima, each as (library, old name, new name)."""
        return [
            (library, old, n.targets[0].id)
            for n in self._assignments
            if isinstance(n.targets[0], ast.Name)
            for library, old in self._arguments_of_maximum(n.value)
        ][:_MAX_MAXIMA]

    def _arguments_of_maximum(self, value: ast.expr) -> list[tuple[str, str]]:
        """Return (library, name) for each name in an elementwise maximum of two values, or []."""
        if isinstance(value, ast.IfExp):
            return [n for v in (value.body, value.orelse) for n in self._arguments_of_maximum(v)]
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return []
        library, subject = self.text(value.func.value), value.func.value
        given, function = [*value.args], value.func.attr
        if library not in ("torch", "tl", "np", "numpy"):
            library, given = "torch", [subject, *given]
            function = "" if function == "max" else function
        pair = function in ("maximum", "max") and len(given) == 2 and not value.keywords
        return [(library, n.id) for n in given if pair and isinstance(n, ast.Name)]

    def with_keywords(self, node: ast.Call, added: Mapping[str, str] = {}, drop: str = "") -> str:
        """Return the text of a call with keywords added or replaced, and without `drop`."""
        kept = [k for k in node.keywords if k.arg != drop and k.arg not in added]
        parts = [*map(self.text, node.args), *map(self.text, kept)]
        parts += [f"{name}={text}" for name, text in added.items()]
        return f"{self.text(node.func)}({', '.join(parts)})"

    def with_arguments(self, node: ast.Call, parts: list[str]) -> str:
        """Return the text of a call with `parts` as its positional arguments."""
        keywords = map(self.text, node.keywords)
        return f"{self.text(node.func)}({', '.join([*parts, *keywords])})"

    def with_positional(self, node: ast.Call, index: int, text: str) -> str:
        """Return the text of a call with one positional argument replaced."""
        parts = [self.text(a) for a in node.args]
        parts[index] = text
        return self.with_arguments(node, parts)

    def is_numpy(self, node: ast.Call) -> bool:
        """Return True for NumPy calls, and for unknown calls in a function that uses only NumPy."""
        match node.func:
            case ast.Attribute(ast.Name("np" | "numpy")):
                return True
            case ast.Attribute(ast.Name("torch" | "F")):
                return False
        return "np" in self.used and "torch" not in self.used

    def owner_text(self, node: ast.expr) -> str:
        """Return the text of an expression to which an attribute can be added."""
        is_operation = isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare)
        return f"({self.text(node)})" if is_operation else self.text(node)

    def subject_of(self, node: ast.Call) -> str:
        """Return the text of a method's object or of a function's first argument, or "" if none."""
        if isinstance(node.func, ast.Attribute) and not is_library(node.func.value):
            return self.owner_text(node.func.value)
        return self.owner_text(node.args[0]) if node.args else ""

    def is_returned(self, node: ast.expr) -> bool:
        """Return True for a return value, or for each element if the return value is a tuple."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.Tuple):
            parent = self.parents.get(parent)
        return isinstance(parent, ast.Return) and not isinstance(node, ast.Tuple)


def is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _counters(node: ast.AST) -> list[str]:
    """Return the counter of a loop over `range` or `enumerate` in a list, or [] for other nodes."""
    if not isinstance(node, (ast.For, ast.comprehension)) or not isinstance(node.iter, ast.Call):
        return []
    first = node.target.elts[:1] if isinstance(node.target, ast.Tuple) else [node.target]
    counts = ast.unparse(node.iter.func) in ("range", "enumerate")
    return [n.id for n in first if counts and isinstance(n, ast.Name)]


def function_scopes(code: Code, definitions: list[Definition]) -> Iterator[FunctionScope]:
    """Yield the scope of each function and method; `__init__` comes after the other methods."""
    for definition in definitions:
        if isinstance(definition, ast.FunctionDef):
            yield FunctionScope(code, definition.name, definition, None)
            continue
        methods = [m for m in definition.body if isinstance(m, ast.FunctionDef)]
        for method in sorted(methods, key=lambda m: m.name == "__init__"):
            yield FunctionScope(code, f"{definition.name}.{method.name}", method, definition)


_MOVES = ("transpose", "swapaxes", "movedim", "moveaxis")
Proposals = Iterator[tuple[str, str]]  # the kind of mistake and the new text
ExpressionOperator = Callable[[ast.expr, FunctionScope], Proposals]
StatementOperator = Callable[[ast.stmt, FunctionScope], Proposals]
Nodes = list[tuple[ast.expr | ast.stmt, str]]  # pairs of a node and its new text


class Several(NamedTuple):
    """An edit of several nodes. Only the lines of the nodes in `mistake` are reported."""

    kind: str
    mistake: Nodes
    also: Sequence[tuple[ast.expr | ast.stmt, str]] = ()


FunctionOperator = Callable[[FunctionScope, list[ast.AST]], Iterator[Several]]

_LIBRARIES = ("torch", "np", "numpy", "F", "math", "nn")


def called(node: ast.AST | None) -> str:
    """Return the name of a called function without its module or object, or "" if unknown."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def number(node: ast.AST | None) -> int | float | None:
    """Return the value of a literal number, including its sign, or None for any other node."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    return None


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def is_library(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _LIBRARIES


def is_method(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and not is_library(node.func.value)


def are_disjoint(nodes: Sequence[ast.AST]) -> bool:
    """Return True if none of the nodes is inside another."""
    inside = {id(n) for node in nodes for n in ast.walk(node) if n is not node}
    return not any(id(node) in inside for node in nodes)
