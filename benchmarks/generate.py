"""Submissions without end: modules of the bank with other local names and functions in other order.

What is computed stays the same, so a variant earns what its original earns; the text differs, so
nothing is found in the result store. Names that a caller could see (parameters, module level) stay.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_SUFFIXES = ("now", "here", "value", "part", "found", "made", "old", "one", "two", "all")


def variant(source: str, seed: int) -> str:
    """Another text of the same program."""
    dice = random.Random(seed)
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            _rename_locals(node, dice)
    tree.body = [statement for run in _runs(tree.body) for statement in _shuffled(run, dice)]
    return f"{ast.unparse(tree)}\n# {seed}\n"


def _rename_locals(function: ast.FunctionDef, dice: random.Random) -> None:
    """Rename names that the function alone binds and no scope within it binds anew."""
    inner = [n for n in ast.walk(function) if n is not function and isinstance(n, _SCOPES)]
    if inner:
        return  # closures and classes look names up in their own way
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
    """Statements of a module, plain functions that follow each other together."""
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
    """Functions in another order; of several with one name the last, the one that counts."""
    last = {s.name: s for s in run if isinstance(s, ast.FunctionDef)}
    if len(last) < 2:
        return run
    chosen: list[ast.stmt] = list(last.values())
    if any(_needs_order(s) for s in chosen):
        return run
    dice.shuffle(chosen)
    return chosen


def _needs_order(statement: ast.stmt) -> bool:
    """Whether a definition calls something when it is made: a default that is computed."""
    assert isinstance(statement, ast.FunctionDef)
    defaults = [*statement.args.defaults, *filter(None, statement.args.kw_defaults)]
    return any(isinstance(n, ast.Call) for d in defaults for n in ast.walk(d))
