"""Analyse the top-level statements of a module: the code that runs on import, and bound names."""

import ast
from collections.abc import Iterator, Mapping

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
MAX_CHAIN = 24  # maximum number of attributes in a dotted name; longer ones are cut or ignored
_MAX_PARTS = 50  # maximum number of string literals in a sum


def flat_statements(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module and of its `if` and `try` blocks; skip `__main__` blocks."""
    for statement in statements:
        match statement:
            case ast.If(ast.Compare(ast.Name("__name__"), [ast.Eq(), *_]), _, otherwise):
                yield from flat_statements(otherwise)
            case ast.If(test, body, otherwise):
                yield ast.copy_location(ast.Expr(test), statement)
                yield from flat_statements([*body, *otherwise])
            case ast.Try(body, handlers, otherwise, finally_):
                yield from flat_statements(body)
                for handler in handlers:
                    yield from flat_statements(handler.body)
                yield from flat_statements([*otherwise, *finally_])
            case _:
                yield statement


def bound_names(statement: ast.stmt) -> list[str]:
    """Return the names that a statement binds, except by imports."""
    if isinstance(statement, DEFINITIONS):
        return [statement.name]
    if isinstance(statement, (*IMPORTS, ast.Expr)):
        return []
    return [
        n.name if isinstance(n, DEFINITIONS) else n.id
        for n in ast.walk(statement)
        if isinstance(n, DEFINITIONS) or (isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    ]


def literal_text(node: ast.expr) -> str:
    """Return the value of a string literal or a sum of string literals, otherwise ""."""
    text = ""
    for _ in range(_MAX_PARTS):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value + text
        right = node.right if isinstance(node, ast.BinOp) else None
        if not isinstance(right, ast.Constant) or not isinstance(right.value, str):
            return ""
        assert isinstance(node, ast.BinOp)
        node, text = node.left, right.value + text
    return ""


def assigned_aliases(statement: ast.AST, aliases: Mapping[str, str]) -> dict[str, str]:
    """Map the targets of an assignment such as `name = library.part` to the dotted name."""
    if not isinstance(statement, ast.Assign):
        return {}
    dotted = _dotted(statement.value, aliases)
    return {t.id: dotted for t in statement.targets if isinstance(t, ast.Name) and dotted}


def default_aliases(arguments: ast.arguments, aliases: Mapping[str, str]) -> dict[str, str]:
    """Map parameters to the dotted names of imported objects that are their default values."""
    positional = [*arguments.posonlyargs, *arguments.args]
    given = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    given += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
    found = {a.arg: _dotted(d, aliases) for a, d in given}
    return {name: dotted for name, dotted in found.items() if dotted}


def _dotted(value: ast.expr, aliases: Mapping[str, str]) -> str:
    parts: list[str] = []
    while isinstance(value, ast.Attribute) and len(parts) < MAX_CHAIN:
        parts.append(value.attr)
        value = value.value
    if not isinstance(value, ast.Name) or value.id not in aliases:
        return ""
    origin = aliases[value.id]
    return ".".join([origin, *reversed(parts)]) if origin.count(".") < MAX_CHAIN else ""
