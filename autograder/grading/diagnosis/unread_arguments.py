"""Find the required arguments that a function never reads.

A function that never mentions an argument cannot use it wrongly, whatever its outputs look like. So
a misconception about an argument fits only programs that mention it.
"""

from __future__ import annotations

import ast

from ...model.source.reachable import parse_bounded

# A function that calls one of these may read every argument.
_READS_ALL_NAMES = {"locals", "vars", "eval", "exec"}


def unread(source: str, exercise: str, required: int) -> frozenset[int]:
    """Return the positions of required arguments that a function never mentions.

    Return none for a class, for a function with `*args`, and for a source that cannot be parsed.
    """
    found = _function(source, exercise)
    if found is None or found.args.vararg is not None:
        return frozenset()
    names = {n.id for n in ast.walk(found) if isinstance(n, ast.Name)}
    if names & _READS_ALL_NAMES:
        return frozenset()
    arguments = [a.arg for a in (*found.args.posonlyargs, *found.args.args)]
    return frozenset(i for i, name in enumerate(arguments[:required]) if name not in names)


def required_arguments(solution: str, exercise: str) -> int:
    """Return the number of positional arguments without a default of the solution's function."""
    found = _function(solution, exercise)
    if found is None:
        return 0
    return len(found.args.posonlyargs) + len(found.args.args) - len(found.args.defaults)


def _function(source: str, exercise: str) -> ast.FunctionDef | None:
    """Return the plain function that a module binds to the exercise's name, or None."""
    tree = parse_bounded(source)
    for node in reversed(tree.body if tree is not None else ()):
        if isinstance(node, ast.FunctionDef) and node.name == exercise:
            return None if node.decorator_list else node
        if isinstance(node, ast.Assign) and exercise in map(ast.unparse, node.targets):
            if not isinstance(node.value, ast.Name):
                return None
            exercise = node.value.id  # an alias of a function above
    return None
