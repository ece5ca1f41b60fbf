"""Find the arguments that an exercise needs and never reads.

A misconception's name fits only programs that read what its mistake needs: a function that never
mentions an argument makes no mistake in using it, whatever its outputs look like.
"""

from __future__ import annotations

import ast

from ...model.source.reachable import MOST_SIGNS, signs_in

# A function that names one of these may read every argument.
_READ_ALL = {"locals", "vars", "eval", "exec"}


def unread(source: str, exercise: str, required: int) -> frozenset[int]:
    """Return the positions of required arguments that a function never mentions.

    Empty for a class, for a function that takes `*args`, and for a source that cannot be parsed.
    """
    found = _function(source, exercise)
    if found is None or found.args.vararg is not None:
        return frozenset()
    names = {n.id for n in ast.walk(found) if isinstance(n, ast.Name)}
    if names & _READ_ALL:
        return frozenset()
    given = [a.arg for a in (*found.args.posonlyargs, *found.args.args)]
    return frozenset(i for i, name in enumerate(given[:required]) if name not in names)


def required_arguments(solution: str, exercise: str) -> int:
    """Return how many positional arguments without a default the solution's function takes."""
    found = _function(solution, exercise)
    if found is None:
        return 0
    return len(found.args.posonlyargs) + len(found.args.args) - len(found.args.defaults)


def _function(source: str, exercise: str) -> ast.FunctionDef | None:
    """Return what a module binds to the exercise's name, if that is a plain function."""
    if signs_in(source) > MOST_SIGNS:
        return None
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in reversed(body):
        if isinstance(node, ast.FunctionDef) and node.name == exercise:
            return None if node.decorator_list else node
        if isinstance(node, ast.Assign) and exercise in map(ast.unparse, node.targets):
            if not isinstance(node.value, ast.Name):
                return None
            exercise = node.value.id  # another name of a function above
    return None
