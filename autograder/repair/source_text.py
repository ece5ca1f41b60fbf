"""Parse a submission's module, find its definitions, and replace parts of its text.

The module is parsed but never run. Edits replace text instead of unparsing a changed syntax tree,
so that lines before the edit keep their text and their numbers.
"""

import ast
import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import chain

from ..model.source.reachable import MAX_TOKENS, count_tokens

_NOT_A_BREAK = re.compile(rb"[^\n]")
_READS_ALL_NAMES = frozenset({"locals", "vars", "eval", "exec"})
_CALLED_METHODS = ("__init__", "forward", "__call__")
Definition = ast.FunctionDef | ast.ClassDef
Replacements = tuple[tuple[int, int, bytes], ...]  # (start, end, new text), from last to first

# Exceptions from parsing and compiling. The parser raises MemoryError if its stack overflows.
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Code:
    """The text and the syntax tree of a module.

    Raise one of UNPARSABLE if the text cannot be parsed or has more than MAX_TOKENS tokens, whose
    syntax tree would need too much memory.
    """

    def __init__(self, source: str) -> None:
        if count_tokens(source) > MAX_TOKENS:
            raise ValueError("the module is too long to be parsed")
        self.data = source.encode()
        self.tree = ast.parse(source)
        self._starts = [0]
        for line in self.data.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Return the byte offsets at which the text of a node starts and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def replacements(self, *nodes: tuple[ast.expr | ast.stmt, str]) -> Replacements:
        """Return the replacements that put the new text in place of each node.

        The nodes must not overlap.
        """
        found = ((*self.span(node), text.encode()) for node, text in nodes)
        return tuple(sorted(found, reverse=True))

    def without_unused_definitions(self, names: Iterable[str]) -> bytes:
        """Return the module with unused definitions replaced by spaces.

        A definition is unused if neither the definitions in `names` nor a statement outside of
        definitions needs it. All other bytes keep their offsets.
        """
        used = set(names)
        for statement in self.tree.body:
            if not isinstance(statement, Definition):
                used |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        kept = {id(d) for name in used for d in self.reachable(name)}
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

    @cached_property
    def assigned(self) -> set[str]:
        """The names that statements outside of definitions assign."""
        statements = (s for s in self.tree.body if not isinstance(s, Definition))
        walked = (n for s in statements for n in ast.walk(s) if isinstance(n, ast.Name))
        return {n.id for n in walked if isinstance(n.ctx, ast.Store)}

    def reachable(self, name: str, stop: frozenset[str] = frozenset()) -> list[Definition]:
        """Return a definition and the definitions that it uses, directly or indirectly.

        Return [] if the module does not define `name`. `stop`: names to leave out.
        """
        todo, found = [name], dict[str, Definition]()
        while todo:
            definition = self.definitions.get(todo.pop())
            if definition is None or definition.name in found:
                continue
            found[definition.name] = definition
            # Unlike a set, a dict has the same order in every process.
            used = dict.fromkeys(n.id for n in ast.walk(definition) if isinstance(n, ast.Name))
            todo += [n for n in used if n in self.definitions and n not in stop]
        return list(found.values())


@lru_cache(maxsize=2)
def parsed(source: str) -> Code:
    """Parse a module, or return it from the cache; raise one of UNPARSABLE if parsing fails."""
    return Code(source)


def without_unused_definitions(source: str, names: Iterable[str]) -> bytes:
    """Return a module with unused definitions replaced by spaces, so that edits still apply to it.

    Return the module unchanged if it cannot be parsed.
    """
    try:
        return parsed(source).without_unused_definitions(names)
    except UNPARSABLE:
        return source.encode("utf-8", "replace")


def shared_definitions(source: str, other: str) -> frozenset[str]:
    """Return the names of definitions with equal texts in both modules; none if parsing fails."""
    try:
        pairs = _definition_texts(source).items() & _definition_texts(other).items()
        return frozenset(name for name, _ in pairs)
    except UNPARSABLE:
        return frozenset()


@lru_cache(maxsize=4)
def _definition_texts(source: str) -> dict[str, str]:
    code = parsed(source)
    return {name: code.text(d) for name, d in code.definitions.items()}


def foreign_lines(source: str, name: str, foreign: frozenset[str]) -> frozenset[int]:
    """Return the lines of the definitions that are in `foreign` or that `name` does not use.

    Lines outside of definitions are not included, because they run for every definition. Return an
    empty set if the module cannot be parsed.
    """
    try:
        code = parsed(source)
        own = {id(d) for d in code.reachable(name, foreign - {name})}
    except UNPARSABLE:
        return frozenset()
    found = [d for d in code.tree.body if isinstance(d, Definition) and id(d) not in own]
    return frozenset(n for d in found for n in range(d.lineno, (d.end_lineno or d.lineno) + 1))


def parameters(source: str, exercise: str) -> frozenset[str]:
    """Return the parameters of a function, or of a class's constructor, `forward` and `__call__`.

    Return an empty set for a function that is decorated or reassigned, or if parsing fails.
    """
    return frozenset(a.arg for f in _functions(source, exercise) for a in arguments_of(f))


def required_parameters(source: str, exercise: str) -> frozenset[str]:
    """Return a function's positional parameters without a default, or an empty set for a class."""
    found = [f.args for f in _functions(source, exercise) if f.name == exercise]
    positional = [a.arg for given in found for a in (*given.posonlyargs, *given.args)]
    return frozenset(positional[: len(positional) - sum(len(given.defaults) for given in found)])


def unread_parameters(source: str, exercise: str) -> frozenset[str]:
    """Return the parameters that an exercise never reads, except to reject invalid values."""
    unread = set[str]()
    for function in _functions(source, exercise):
        statements = (s for s in function.body if not _only_refuses(s))
        walked = (n for statement in statements for n in ast.walk(statement))
        read = {n.id for n in walked if isinstance(n, ast.Name)}
        if not read & _READS_ALL_NAMES:
            unread |= {a.arg for a in arguments_of(function)} - read - {"self", "ctx"}
    return frozenset(unread)


def function_definitions(source: str, exercise: str) -> dict[str, ast.FunctionDef]:
    """Return a function, or the methods of a class, by name; {} if parsing fails."""
    try:
        definition = parsed(source).definitions.get(exercise)
    except UNPARSABLE:
        return {}
    body = definition.body if isinstance(definition, ast.ClassDef) else [definition]
    return {n.name: n for n in body if isinstance(n, ast.FunctionDef)}


def parameter_definitions(source: str, exercise: str) -> dict[str, int]:
    """Return the line that creates each attribute of a class, and "" for its constructor's line."""
    found = dict[str, int]()
    methods = function_definitions(source, exercise)
    for node in chain.from_iterable(map(ast.walk, methods.values())):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.attr, node.lineno)
        elif isinstance(node, ast.Call) and node.args:  # for example `register_buffer("mask", ...)`
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                found.setdefault(name.value, node.lineno)
    if found and "__init__" in methods:
        found[""] = methods["__init__"].lineno
    return found


def _functions(source: str, exercise: str) -> list[ast.FunctionDef]:
    found = function_definitions(source, exercise)
    if exercise in found:
        is_replaced = found[exercise].decorator_list or exercise in parsed(source).assigned
        return [] if is_replaced else [found[exercise]]
    return [found[name] for name in found if name in _CALLED_METHODS]


def arguments_of(function: ast.FunctionDef) -> list[ast.arg]:
    arguments = function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _only_refuses(statement: ast.stmt) -> bool:
    """Return True for an assertion, and for an `if` without `else` that ends with `raise`."""
    if isinstance(statement, ast.If):
        return not statement.orelse and isinstance(statement.body[-1], ast.Raise)
    return isinstance(statement, ast.Assert)
