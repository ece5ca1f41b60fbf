"""Where in a module something is done: an error raised, a parameter made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .operators.patterns import called
from .source_text import NO_PYTHON, parsed

_OF_A_LAYER = ("weight", "bias")
_READ_ALL = frozenset({"locals", "vars", "eval", "exec"})


def condition_of(source: str, line: int) -> int:
    """The line of the condition under which a line raises an error of its own, or of an assertion
    that stands there; 0 if it does neither."""
    try:
        code = parsed(source)
    except NO_PYTHON:
        return 0
    for node in ast.walk(code.tree):
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or line):
            return node.lineno
        if isinstance(node, ast.If):
            inside = (*node.body, *node.orelse)
            if any(isinstance(n, ast.Raise) and n.lineno == line for n in inside):
                return node.lineno
    return 0


def maker_of(source: str, exercise: str, name: str) -> int:
    """The line that makes a parameter of a module, by its name in the state; 0 if none is sure."""
    try:
        definitions = parsed(source).reached(exercise, frozenset())
    except NO_PYTHON:
        return 0
    parts = [p for p in name.split(".") if not p.isdigit()]
    if len(parts) > 1 and parts[-1] in _OF_A_LAYER:
        parts.pop()
    found = {n for d in definitions for node in ast.walk(d) for n in _makes(node, parts[-1])}
    return found.pop() if len(found) == 1 else 0


def _makes(node: ast.AST, attribute: str) -> Iterator[int]:
    if isinstance(node, ast.Call) and called(node) in ("register_buffer", "register_parameter"):
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Constant) and first.value == attribute:
            yield node.lineno
    for target in node.targets if isinstance(node, ast.Assign) else ():
        if _is_own(target, attribute):
            yield target.lineno


def _is_own(target: ast.expr, attribute: str) -> bool:
    if not isinstance(target, ast.Attribute) or target.attr != attribute:
        return False
    return isinstance(target.value, ast.Name) and target.value.id == "self"


def ignored(source: str, exercise: str) -> frozenset[str]:
    """The parameters of an exercise that it never reads, but to refuse them."""
    return frozenset(n for f in _functions(source, exercise) for n in _unread(f))


def parameters(source: str, exercise: str) -> frozenset[str]:
    """The parameters of an exercise: a function's, or those of a class's own methods."""
    functions = _functions(source, exercise)
    return frozenset(a.arg for f in functions for a in (*f.args.args, *f.args.kwonlyargs))


def _functions(source: str, exercise: str) -> list[ast.FunctionDef]:
    try:
        definition = parsed(source).definitions.get(exercise)
    except NO_PYTHON:
        return []
    if isinstance(definition, ast.FunctionDef):
        return [definition]
    body = definition.body if definition is not None else []
    functions = (n for n in body if isinstance(n, ast.FunctionDef))
    return [f for f in functions if f.name in ("__init__", "forward", "__call__")]


def _refuses(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but look whether to raise an error."""
    if isinstance(statement, ast.If):
        return not statement.orelse and isinstance(statement.body[-1], ast.Raise)
    return isinstance(statement, ast.Assert)


def _unread(function: ast.FunctionDef) -> Iterator[str]:
    statements = (s for s in function.body if not _refuses(s))
    walked = [n for statement in statements for n in ast.walk(statement)]
    read = {n.id for n in walked if isinstance(n, ast.Name)}
    if not read & _READ_ALL:
        arguments = (*function.args.args, *function.args.kwonlyargs)
        yield from (a.arg for a in arguments if a.arg not in read | {"self", "ctx"})
