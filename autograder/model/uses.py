"""What one source file uses: dotted names, as its import statements resolve them.

The file is parsed, never run, and each of its statements is walked once. Names that lead to another
file of the same submission are kept apart, for `sources.py` to follow.
"""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from .statements import (
    DEFINITIONS,
    IMPORTS,
    bound_names,
    flat_statements,
    literal_text,
    module_imports,
)

# Beyond this, names are cut: no honest source comes near.
_LONGEST_CHAIN = 24
_LONGEST_NAME = 400  # characters of an imported name, which every use of it repeats

# The own files that a dotted name leads to, each with the rest of the name.
Resolve = Callable[[str], list[tuple[str, str]]]


@dataclass(frozen=True)
class Use:
    """A name in the source. `.attribute` is an attribute of what no import statement names."""

    name: str
    file: str
    line: int
    called: bool = False


@dataclass(frozen=True)
class Imported:
    """An import of what is not the student's own; `guarded` by a `try:` that catches something."""

    module: str
    file: str
    line: int
    guarded: bool


@dataclass
class Part:
    """What one statement of a module uses, or all that runs when the module is imported."""

    uses: list[Use] = field(default_factory=list)
    imports: list[Imported] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of the same file
    elsewhere: list[tuple[str, str]] = field(default_factory=list)  # own file and name in it
    loads: list[str] = field(default_factory=list)  # own files that it imports

    def add(self, other: Part) -> None:
        self.uses += other.uses
        self.imports += other.imports
        self.names += other.names
        self.elsewhere += other.elsewhere
        self.loads += other.loads


class FileUses:
    """One parsed file. `on_import` is what its import runs.

    What a definition uses is found when something asks for it by name.
    """

    def __init__(self, name: str, tree: ast.Module, resolve: Resolve) -> None:
        self.name, self.resolve = name, resolve
        self.stars: list[str] = []
        self.on_import = Part()
        self.methods: set[str] = set()
        statements = list(flat_statements(tree.body))
        self.aliases: dict[str, str] = {}
        self.own: set[str] = set()
        for statement, _ in statements:
            self._learn(statement)
        self._statements = statements
        self._defined: dict[str, list[int]] = {}  # the numbers of the statements that bind a name
        self._parts: dict[int, Part] = {}
        for number in range(len(statements)):
            self._take(number)

    def named(self, name: str) -> list[Part]:
        """The parts that bind a name; all of them for no name."""
        if not name:
            return [self._part(n) for numbers in self._defined.values() for n in numbers]
        first, _, rest = name.partition(".")
        parts = [self._part(n) for n in self._defined.get(first, ())]
        if first in self.aliases:
            origins = [self.aliases[first]]
        else:
            origins = [] if parts else [f"{module}.{first}" for module in self.stars]
        for origin in origins:
            dotted = f"{origin}.{rest}".rstrip(".")
            own = self.resolve(dotted)
            uses = [] if own else [Use(dotted, self.name, 1, called=True)]
            parts.append(Part(uses=uses, elsewhere=own))
        return parts

    def plain_function(self, name: str) -> list[Part]:
        """The last part that binds a name if it is a function without decorators.

        Nothing but that name leads to the function's code.
        """
        numbers = self._defined.get(name, [])[-1:]
        statements = ((n, self._statements[n][0]) for n in numbers)
        return [
            self._part(n)
            for n, s in statements
            if isinstance(s, ast.FunctionDef) and not s.decorator_list
        ]

    def bound_by_import(self, node: ast.Import | ast.ImportFrom) -> dict[str, str]:
        """Local name -> dotted origin; what a star brings is kept in `stars`."""
        if isinstance(node, ast.Import):
            whole = {a.asname: a.name[:_LONGEST_NAME] for a in node.names if a.asname}
            first = {a.name.split(".")[0][:_LONGEST_NAME] for a in node.names if not a.asname}
            return {**whole, **{n: n for n in first}}
        module = self.absolute(node)
        if any(a.name == "*" for a in node.names):
            self.stars.append(module)
        return {
            a.asname or a.name: f"{module}.{a.name}".lstrip(".")[:_LONGEST_NAME]
            for a in node.names
            if a.name != "*"
        }

    def absolute(self, node: ast.ImportFrom) -> str:
        """The module that a `from` names, as a dotted name from the top."""
        if not node.level:
            return node.module or ""
        folders = PurePosixPath(self.name).parent.parts
        folders = folders[: max(0, len(folders) - (node.level - 1))]
        return ".".join([*folders, *([node.module] if node.module else [])])

    def _learn(self, statement: ast.stmt) -> None:
        """Which names it binds, and to what; a later definition goes before an earlier import."""
        for node in module_imports(statement):
            bound = self.bound_by_import(node)
            self.aliases.update(bound)
            self.own -= bound.keys()
        self.own.update(bound_names(statement))
        if isinstance(statement, DEFINITIONS):
            self.aliases.pop(statement.name, None)
        self.aliases.update(_renamed(statement, self.aliases))

    def _take(self, number: int) -> None:
        statement, guarded = self._statements[number]
        for name in bound_names(statement):
            self._defined.setdefault(name, []).append(number)
        if isinstance(statement, ast.ClassDef):
            self.methods |= {n.name for n in statement.body if isinstance(n, DEFINITIONS)}
        if isinstance(statement, DEFINITIONS):
            _Walk(self, self.on_import, guarded).when_defined(statement)
        else:
            self.on_import.add(self._part(number))

    def _part(self, number: int) -> Part:
        """What a statement uses."""
        if number not in self._parts:
            statement, guarded = self._statements[number]
            self._parts[number] = Part()
            _Walk(self, self._parts[number], guarded).statement(statement)
        return self._parts[number]


class _Walk:
    """Collects what a statement uses into a part."""

    def __init__(self, file: FileUses, part: Part, guarded: bool = False) -> None:
        self.file, self.part, self.guarded = file, part, guarded
        self.aliases: MutableMapping[str, str] = ChainMap({}, file.aliases)
        self.local: set[str] = set()
        self._seen: set[str] = set()
        self._called: set[int] = set()
        self._attributes: set[int] = set()  # imports that bind attributes of a class

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, DEFINITIONS):
            self._enter(node)
        self._visit([node])

    def when_defined(self, node: ast.stmt) -> None:
        """What of a definition runs at once: decorators, defaults, bases and a class's body."""
        if not isinstance(node, DEFINITIONS):
            self._visit([node])
        elif isinstance(node, ast.ClassDef):
            outside = [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]
            self._visit(outside)
            for inner in node.body:
                self.when_defined(inner)
        else:
            given = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
            self._visit([*node.decorator_list, *given])

    def _enter(self, node: ast.stmt) -> None:
        """Learn the names that a definition binds for itself."""
        inner: dict[str, str] = {}
        for part in ast.walk(node):
            if isinstance(part, IMPORTS):
                inner.update(self.file.bound_by_import(part))
            elif isinstance(part, ast.ClassDef):
                self._attributes |= {id(n) for n in part.body if isinstance(n, IMPORTS)}
                self.local.add(part.name if part is not node else "")
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
                inner.update(_defaults(part.args, self.aliases))
            inner.update(_renamed(part, self.aliases))
        self.local -= inner.keys()

    def _visit(self, nodes: list[ast.expr] | list[ast.stmt]) -> None:
        stack: list[ast.AST] = list(nodes)
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Name):
                self._name(node)
            elif isinstance(node, ast.Attribute):
                stack.extend(self._attribute(node))
            elif isinstance(node, IMPORTS):
                self._import(node, self.guarded)
            elif isinstance(node, ast.Try):
                for inner in ast.iter_child_nodes(node):
                    if isinstance(inner, IMPORTS):
                        self._import(inner, bool(node.handlers) and inner in node.body)
                    else:
                        stack.append(inner)
            else:
                if isinstance(node, ast.Call):
                    self._called.add(id(node.func))
                    stack.extend(self._spelt(node))
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
        """Note a chain of attributes; what it hangs on is given back, unless it is a name."""
        parts: list[ast.Attribute] = []
        value: ast.expr = node
        while isinstance(value, ast.Attribute):
            parts.append(value)
            value = value.value
        parts.reverse()
        called = called or id(node) in self._called
        name = value.id if isinstance(value, ast.Name) and value.id not in self.local else ""
        if name in self.aliases:
            chain = [self.aliases[name], *(p.attr for p in parts[:_LONGEST_CHAIN])]
            self._resolved(".".join(chain), node.lineno, called)
            return []
        for part in parts:
            self._use(f".{part.attr}", part.lineno, called and part is node)
        return [value]

    def _spelt(self, node: ast.Call) -> list[ast.expr]:
        """`getattr(x, "name")` is `x.name`."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name != "getattr" or len(node.args) < 2 or name in self.file.own:
            return []
        text = literal_text(node.args[1])
        if not text.isidentifier():
            return []
        spelt = ast.copy_location(ast.Attribute(node.args[0], text, ast.Load()), node)
        return self._attribute(spelt, id(node) in self._called)

    def _import(self, node: ast.Import | ast.ImportFrom, guarded: bool) -> None:
        star = False
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        else:
            module = self.file.absolute(node)
            star = node.names[0].name == "*"
            names = [module] if star else [f"{module}.{a.name}".strip(".") for a in node.names]
        for name in names:
            parts = name.split(".")[:_LONGEST_CHAIN]
            own = {f for n in range(len(parts)) for f in self._files(".".join(parts[: n + 1]))}
            self.part.loads += sorted(own)
            if star or id(node) in self._attributes:
                self.part.elsewhere += [(f, "") for f in sorted(own)]
            if not own:
                self.part.imports.append(Imported(name, self.file.name, node.lineno, guarded))

    def _files(self, dotted: str) -> list[str]:
        return [file for file, rest in self.file.resolve(dotted) if not rest]

    def _resolved(self, dotted: str, line: int, called: bool) -> None:
        own = self.file.resolve(dotted)
        if not own:
            self._use(dotted, line, called)
        elif dotted not in self._seen:
            self._seen.add(dotted)
            self.part.elsewhere += own

    def _use(self, name: str, line: int, called: bool) -> None:
        self.part.uses.append(Use(name, self.file.name, line, called))


def _renamed(statement: ast.AST, aliases: Mapping[str, str]) -> dict[str, str]:
    """The aliases that an assignment `name = library.part` makes, if it is one."""
    if not isinstance(statement, ast.Assign):
        return {}
    dotted = _dotted(statement.value, aliases)
    return {t.id: dotted for t in statement.targets if isinstance(t, ast.Name) and dotted}


def _defaults(arguments: ast.arguments, aliases: Mapping[str, str]) -> dict[str, str]:
    """Arguments whose defaults are parts of libraries."""
    positional = [*arguments.posonlyargs, *arguments.args]
    given = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    given += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
    found = {a.arg: _dotted(d, aliases) for a, d in given}
    return {name: dotted for name, dotted in found.items() if dotted}


def _dotted(value: ast.expr, aliases: Mapping[str, str]) -> str:
    parts: list[str] = []
    while isinstance(value, ast.Attribute) and len(parts) < _LONGEST_CHAIN:
        parts.append(value.attr)
        value = value.value
    if not isinstance(value, ast.Name) or value.id not in aliases:
        return ""
    origin = aliases[value.id]
    return ".".join([origin, *reversed(parts)]) if origin.count(".") < _LONGEST_CHAIN else ""
