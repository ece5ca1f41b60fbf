"""Generate any number of different submissions from the bank's programs.

A variant renames local variables and reorders functions. It computes the same results as its
original, and so it earns the same points, but its source differs, so that no stored report is
reused. Parameters and module-level names keep their names, because callers may use them.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_SUFFIXES = ("now", "here", "value", "part", "found", "made", "old", "one", "two", "all")


def variant(source: str, seed: int) -> str:
    """Return an equivalent program with a different source; equal seeds give equal variants."""
    dice = random.Random(seed)
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            _rename_locals(node, dice)
    tree.body = [statement for run in _runs(tree.body) for statement in _shuffled(run, dice)]
    return f"{ast.unparse(tree)}\n# {seed}\n"


def _rename_locals(function: ast.FunctionDef, dice: random.Random) -> None:
    """Rename the local variables of a function, unless it contains nested scopes."""
    inner = [n for n in ast.walk(function) if n is not function and isinstance(n, _SCOPES)]
    if inner:
        return  # closures and class bodies have different scoping rules
    kept = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            kept |= set(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            kept |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            kept.add(node.name)
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
    bound = sorted({n.id for n in names if isinstance(n.ctx, ast.Store)} - kept)
    taken = {n.id for n in names} | kept
    fresh = {}
    for name in bound:
        wanted = f"{name}_{dice.choice(_SUFFIXES)}"
        if wanted not in taken:
            fresh[name] = wanted
            taken.add(wanted)
    for node in names:
        node.id = fresh.get(node.id, node.id)


def _runs(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Split statements into runs: consecutive undecorated functions, or one other statement."""
    run: list[ast.stmt] = []
    for statement in body:
        plain = isinstance(statement, ast.FunctionDef) and not statement.decorator_list
        if run and not plain:
            yield run
            run = []
        if plain:
            run.append(statement)
        else:
            yield [statement]
    if run:
        yield run


def _shuffled(run: list[ast.stmt], dice: random.Random) -> list[ast.stmt]:
    """Shuffle functions, keeping only the last definition of each name.

    Return the run unchanged if a default value is computed, because it may call other functions.
    """
    last = {s.name: s for s in run if isinstance(s, ast.FunctionDef)}
    if len(last) < 2:
        return run
    chosen: list[ast.stmt] = list(last.values())
    if any(_needs_order(s) for s in chosen):
        return run
    dice.shuffle(chosen)
    return chosen


def _needs_order(statement: ast.stmt) -> bool:
    """Return True if a default value of a function contains a call."""
    assert isinstance(statement, ast.FunctionDef)
    defaults = [*statement.args.defaults, *filter(None, statement.args.kw_defaults)]
    return any(isinstance(n, ast.Call) for d in defaults for n in ast.walk(d))
