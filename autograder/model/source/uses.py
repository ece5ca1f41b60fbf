"""Collect the dotted names that one source file uses, resolved through its imports.

The file is parsed but never run, and each statement is visited once. Names that refer to a
different file of the submission are stored separately, so that `reachable` can follow them.
"""

import ast
from collections import ChainMap
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Self

from .statements import (
    DEFINITIONS,
    IMPORTS,
    MAX_CHAIN,
    assigned_aliases,
    bound_names,
    default_aliases,
    flat_statements,
    literal_text,
)

_MAX_NAME = 400  # maximum length of an imported name, because every use copies the name

# Maps a dotted name to the submitted files that it can refer to, each with the remaining parts.
Resolve = Callable[[str], list[tuple[str, str]]]


@dataclass(frozen=True)
class Use:
    """A use of a name. An attribute of an object that was not imported starts with a dot."""

    name: str
    file: str
    line: int
    called: bool = False


@dataclass(frozen=True)
class Imported:
    """An import from outside the submission. `guarded`: in a `try` that has an `except`."""

    module: str
    file: str
    line: int
    guarded: bool


@dataclass
class Part:
    """The names used by a statement, or by all code that an exercise reaches or an import runs."""

    uses: list[Use] = field(default_factory=list)
    imports: list[Imported] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # names that the same file defines
    # names in other submitted files, as (file, name); the name "" stands for the whole file
    elsewhere: list[tuple[str, str]] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)  # submitted files that are imported

    def add(self, other: Self) -> None:
        self.uses += other.uses
        self.imports += other.imports
        self.names += other.names
        self.elsewhere += other.elsewhere
        self.loads += other.loads


class FileUses:
    """The names that one file uses. `on_import`: the code that runs when the file is imported."""

    def __init__(self, name: str, tree: ast.Module, resolve: Resolve) -> None:
        self.name, self.resolve = name, resolve
        self.stars: list[str] = []
        self.on_import = Part()
        self.methods: set[str] = set()
        self.aliases: dict[str, str] = {}
        self._lines: dict[str, int] = {}  # maps each alias to the line that binds it
        self.own: set[str] = set()
        # `id()` of the import statements in a `try` with an `except`, and of those in class bodies
        self.guarded, self.of_classes = set[int](), set[int]()
        for node in ast.walk(tree):
            if isinstance(node, ast.Try) and node.handlers:
                inside = (n for statement in node.body for n in ast.walk(statement))
                self.guarded.update(id(n) for n in inside if isinstance(n, IMPORTS))
            elif isinstance(node, ast.ClassDef):
                self.of_classes.update(id(n) for n in node.body if isinstance(n, IMPORTS))
        self._parts: dict[str, list[Part]] = {}  # maps each bound name to the parts that bind it
        # Functions without decorators that no later statement redefines. If such a function is
        # replaced, its code does not run under a different name either.
        self.plain_functions: dict[str, Part] = {}
        statements = list(flat_statements(tree.body))
        for statement in statements:
            self._record_names(statement)
        for statement in statements:
            self._collect(statement)

    def named(self, name: str) -> list[Part]:
        """Return the parts that bind a name, or all parts if the name is empty."""
        if not name:
            return [part for parts in self._parts.values() for part in parts]
        first, _, rest = name.partition(".")
        parts = list(self._parts.get(first, ()))
        if first in self.aliases:
            origins = [self.aliases[first]]
        else:
            origins = [] if parts else [f"{module}.{first}" for module in self.stars]
        for origin in origins:
            dotted = f"{origin}.{rest}".rstrip(".")
            own = self.resolve(dotted)
            uses = [] if own else [Use(dotted, self.name, self._lines.get(first, 1), called=True)]
            parts.append(Part(uses=uses, elsewhere=own))
        return parts

    def imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str, str]]:
        """Yield the bound name, the dotted name of its object, and the imported dotted name.

        `import a.b` yields `a`, `a` and `a.b`. A star import yields `*` as the bound name.
        """
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                yield alias.asname or first, alias.name if alias.asname else first, alias.name
            return
        folders = PurePosixPath(self.name).parent.parts if node.level else ()
        folders = folders[: max(0, len(folders) - (node.level - 1))]
        module = ".".join([*folders, *([node.module] if node.module else [])])
        for alias in node.names:
            dotted = module if alias.name == "*" else f"{module}.{alias.name}".lstrip(".")
            yield alias.asname or alias.name, dotted, dotted

    def bound_by_import(self, node: ast.Import | ast.ImportFrom) -> dict[str, str]:
        """Map the names that an import binds to dotted names, and add a star import to `stars`."""
        bound = {name: origin[:_MAX_NAME] for name, origin, _ in self.imported(node)}
        if "*" in bound:
            self.stars.append(bound.pop("*"))
        return bound

    def _record_names(self, statement: ast.stmt) -> None:
        """Record the names that a statement binds. A definition overrides an earlier import."""
        if isinstance(statement, DEFINITIONS):
            self.aliases.pop(statement.name, None)
        else:
            for node in ast.walk(statement):
                if isinstance(node, IMPORTS):
                    bound = self.bound_by_import(node)
                    self.aliases.update(bound)
                    self._lines |= dict.fromkeys(bound, node.lineno)
                    self.own -= bound.keys()
        self.own.update(bound_names(statement))
        assigned = assigned_aliases(statement, self.aliases)
        self.aliases.update(assigned)
        self._lines |= dict.fromkeys(assigned, statement.lineno)

    def _collect(self, statement: ast.stmt) -> None:
        part = Part()
        _Walk(self, part).statement(statement)
        for name in bound_names(statement):
            self._parts.setdefault(name, []).append(part)
            self.plain_functions.pop(name, None)
        if not isinstance(statement, DEFINITIONS):
            self.on_import.add(part)
            return
        _Walk(self, self.on_import).when_defined(statement)
        if isinstance(statement, ast.ClassDef):
            self.methods |= {n.name for n in statement.body if isinstance(n, DEFINITIONS)}
        elif isinstance(statement, ast.FunctionDef) and not statement.decorator_list:
            self.plain_functions[statement.name] = part


class _Walk:
    def __init__(self, file: FileUses, part: Part) -> None:
        self.file, self.part = file, part
        self.aliases: MutableMapping[str, str] = ChainMap({}, file.aliases)
        self.local: set[str] = set()
        self._seen: set[str] = set()
        self._called: set[int] = set()

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, DEFINITIONS):
            self._enter(node)
        self._visit([node])

    def when_defined(self, node: ast.stmt) -> None:
        """Visit the code that runs when a statement is executed; skip the bodies of functions."""
        if not isinstance(node, DEFINITIONS):
            self._visit([node])
            return
        self._visit([part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt)])
        for inner in node.body if isinstance(node, ast.ClassDef) else ():
            self.when_defined(inner)

    def _enter(self, node: ast.stmt) -> None:
        """Record the names that are local to a definition."""
        inner: dict[str, str] = {}
        for part in ast.walk(node):
            if isinstance(part, IMPORTS):
                inner.update(self.file.bound_by_import(part))
            elif isinstance(part, ast.arg):
                self.local.add(part.arg)
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.local.add(part.id)
            elif isinstance(part, (*DEFINITIONS, ast.ExceptHandler)) and part is not node:
                self.local.add(part.name or "")
            elif isinstance(part, ast.Global):
                self.local.difference_update(part.names)
        self.aliases = ChainMap(inner, self.file.aliases)
        for part in ast.walk(node):
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner.update(default_aliases(part.args, self.aliases))
            inner.update(assigned_aliases(part, self.aliases))
        self.local -= inner.keys()

    def _visit(self, nodes: Sequence[ast.AST]) -> None:
        stack = list(nodes)
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Name):
                self._name(node)
            elif isinstance(node, ast.Attribute):
                stack.extend(self._attribute(node))
            elif isinstance(node, IMPORTS):
                self._import(node)
            else:
                if isinstance(node, ast.Call):
                    self._called.add(id(node.func))
                    stack.extend(self._getattr_name(node))
                stack.extend(ast.iter_child_nodes(node))

    def _name(self, node: ast.Name) -> None:
        if node.id in self.local:
            return
        called = id(node) in self._called
        if node.id in self.aliases:
            self._resolved(self.aliases[node.id], node.lineno, called)
        if node.id in self.file.own:
            self.part.names.append(node.id)
        elif node.id not in self.aliases and isinstance(node.ctx, ast.Load):
            self._use(node.id, node.lineno, called)
            for module in self.file.stars:
                self._resolved(f"{module}.{node.id}", node.lineno, called)

    def _attribute(self, node: ast.Attribute, called: bool = False) -> list[ast.expr]:
        """Record an attribute chain such as `a.b.c`; return [`a`], or [] if `a` is an alias."""
        parts: list[ast.Attribute] = []
        value: ast.expr = node
        while isinstance(value, ast.Attribute):
            parts.append(value)
            value = value.value
        parts.reverse()
        called = called or id(node) in self._called
        name = value.id if isinstance(value, ast.Name) and value.id not in self.local else ""
        if name in self.aliases:
            chain = [self.aliases[name], *(p.attr for p in parts[:MAX_CHAIN])]
            self._resolved(".".join(chain), node.lineno, called)
            return []
        for part in parts:
            self._use(f".{part.attr}", part.lineno, called and part is node)
        return [value]

    def _getattr_name(self, node: ast.Call) -> list[ast.expr]:
        """Treat `getattr(x, "name")` as `x.name`."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name != "getattr" or len(node.args) < 2 or name in self.file.own:
            return []
        text = literal_text(node.args[1])
        if not text.isidentifier():
            return []
        attribute = ast.copy_location(ast.Attribute(node.args[0], text, ast.Load()), node)
        return self._attribute(attribute, id(node) in self._called)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for bound, _, name in self.file.imported(node):
            parts = name.split(".")[:MAX_CHAIN]
            starts = (".".join(parts[: n + 1]) for n in range(len(parts)))
            own = {file for s in starts for file, rest in self.file.resolve(s) if not rest}
            self.part.loads += sorted(own)
            if bound == "*" or id(node) in self.file.of_classes:
                self.part.elsewhere += [(f, "") for f in sorted(own)]
            if not own:
                guarded = id(node) in self.file.guarded
                self.part.imports.append(Imported(name, self.file.name, node.lineno, guarded))

    def _resolved(self, dotted: str, line: int, called: bool) -> None:
        own = self.file.resolve(dotted)
        if not own:
            self._use(dotted, line, called)
        elif dotted not in self._seen:
            self._seen.add(dotted)
            self.part.elsewhere += own

    def _use(self, name: str, line: int, called: bool) -> None:
        self.part.uses.append(Use(name, self.file.name, line, called))
