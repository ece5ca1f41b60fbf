"""Mutation testing of the hidden graders: a small change of the solution must be caught.

Every operator, constant, comparison, condition, keyword and statement inside the solution regions
is changed in turn, and the tests of the exercise it belongs to must reject the result. A survivor
is a hole in the graders, unless it computes the same: those are listed with a reason in
`solutions/<week>/equivalent.txt`, one a line, as `function: before -> after  # reason`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...grading.warmup import warm_engine
from ...model.course.loader import Course, Week
from ...model.device_axes import CPU, FAKE_GPU
from ...sandbox import Sandbox

_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Mod: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_NAMES = {
    "amax": "amin",
    "max": "min",
    "min": "max",
    "argmax": "argmin",
    "sum": "mean",
    "tril": "triu",
    "ones": "zeros",
    "zeros": "ones",
    "ones_like": "zeros_like",
    "zeros_like": "ones_like",
    "sin": "cos",
    "cos": "sin",
    "any": "all",
    "all": "any",
    "logical_and": "logical_or",
    "exp": "exp2",
    "log": "log2",
    "maximum": "minimum",
    "cumsum": "cumprod",
}


class Mutant(msgspec.Struct, frozen=True):
    """One change: where, what, and the whole module with it."""

    function: str
    line: int
    before: str
    after: str
    source: str

    @property
    def label(self) -> str:
        return f"{self.function}: {self.before} -> {self.after}"


class MutantOutcome(msgspec.Struct, frozen=True):
    mutant: Mutant
    caught_by: str  # the first test that rejected it, or nothing
    excuse: str  # why it is equivalent, where that is stated


def mutants(source: str) -> Iterator[Mutant]:
    """Every small change of the solution regions of a module."""
    tree = ast.parse(source)
    lines = _solution_lines(source)
    for function, node in _numbered(tree):
        if getattr(node, "lineno", None) not in lines:
            continue
        for changed in _changes(node):
            twin = copy.deepcopy(tree)
            place = [n for _, n in _numbered(twin)][_index(tree, node)]
            before, after = _text(node), _apply(twin, place, changed)
            ast.fix_missing_locations(twin)
            yield Mutant(function, node.lineno, before, after, ast.unparse(twin))  # type: ignore[attr-defined]  # has a line, checked above


def _solution_lines(source: str) -> set[int]:
    inside, found = False, set()
    for number, line in enumerate(source.split("\n"), start=1):
        if "BEGIN SOLUTION" in line:
            inside = True
        elif "END SOLUTION" in line:
            inside = False
        elif inside:
            found.add(number)
    return found


def _numbered(tree: ast.Module) -> list[tuple[str, ast.AST]]:
    """Every node with the top-level definition it stands in, in a fixed order."""
    found: list[tuple[str, ast.AST]] = []
    for top in tree.body:
        name = getattr(top, "name", "")
        found += [(name, node) for node in ast.walk(top)]
    return found


def _index(tree: ast.Module, node: ast.AST) -> int:
    return next(i for i, (_, n) in enumerate(_numbered(tree)) if n is node)


Change = Callable[[Any], ast.AST | None]  # of the very kind of node that it was made for


def _changes(node: ast.AST) -> Iterator[Change]:
    """What may be done to one node; each change edits a copy in place or returns a replacement."""
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        yield lambda n: _set(n, op=_BINARY[type(n.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARE:
        yield lambda n: _set(n, ops=[_COMPARE[type(n.ops[0])](), *n.ops[1:]])
    elif isinstance(node, ast.UnaryOp):
        yield lambda n: n.operand
    elif isinstance(node, ast.BoolOp):
        yield lambda n: _set(n, op=ast.Or() if isinstance(n.op, ast.And) else ast.And())
    elif isinstance(node, ast.Constant):
        yield from _constant_changes(node)
    elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
        yield lambda n: _set(n, attr=_NAMES[n.attr])
    elif isinstance(node, ast.Call) and node.keywords:
        yield from map(_without_keyword, range(len(node.keywords)))
    elif isinstance(node, ast.If):
        yield lambda n: _set(n, test=ast.Constant(True))
        yield lambda n: _set(n, test=ast.Constant(False))
    elif (isinstance(node, (ast.AugAssign, ast.Expr)) and not _is_docstring(node)) or (
        isinstance(node, ast.Assign) and _rebinds(node)
    ):
        yield lambda n: ast.Pass()
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield lambda n: _set(n, value=_set(n.value, elts=n.value.elts[::-1]))


def _without_keyword(i: int) -> Change:
    return lambda n: _set(n, keywords=n.keywords[:i] + n.keywords[i + 1 :])


def _constant_changes(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield lambda n: _set(n, value=not n.value)
    elif isinstance(value, int):
        yield lambda n: _set(n, value=n.value + 1)
        if value > 0:
            yield lambda n: _set(n, value=n.value - 1)
    elif isinstance(value, float):
        yield lambda n: _set(n, value=n.value * 2 if n.value else 1.0)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _rebinds(node: ast.Assign) -> bool:
    """Whether the statement changes a name it also reads: without it the program still runs."""
    targets = {t.id for t in node.targets if isinstance(t, ast.Name)}
    return any(isinstance(n, ast.Name) and n.id in targets for n in ast.walk(node.value))


def _set(node: ast.AST, **fields: object) -> ast.AST:
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def _apply(tree: ast.Module, place: ast.AST, change: Change) -> str:
    result = change(place)
    assert result is not None
    if result is not place:
        for parent in ast.walk(tree):
            for field, value in ast.iter_fields(parent):
                if value is place:
                    setattr(parent, field, result)
                elif isinstance(value, list) and place in value:
                    value[value.index(place)] = result
    return _text(result)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())[:100]


def excuses(course: Course, week: Week) -> dict[str, str]:
    """The stated equivalent mutants of a week: label -> reason."""
    path: Path = course.solution_folder(week) / "equivalent.txt"
    found = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").split("\n"):
            label, separator, reason = line.partition("  # ")
            if separator and label.strip():
                found[label.strip()] = reason.strip()
    return found


def hunt(
    course: Course,
    week: Week,
    secret: bytes,
    sandbox: Sandbox | None,
    on_done: Callable[[MutantOutcome], None] = lambda _: None,
) -> list[MutantOutcome]:
    """Grade every mutant of the week's solution until a test rejects it."""
    engine = warm_engine(course, week, (CPU, FAKE_GPU), secret, sandbox)
    stated = excuses(course, week)
    names = {e.name for e in week.exercises}
    outcomes = []
    try:
        for mutant in mutants(engine.bank.solution):
            exercise = mutant.function if mutant.function in names else None
            target = engine.target({week.module: mutant.source.encode()})
            try:
                caught = engine.runs.first_failure(target, mutant.source, exercise)
                if not caught and exercise is not None:
                    caught = engine.runs.first_failure(target, mutant.source, None)
            finally:
                target.close()
            outcome = MutantOutcome(mutant, caught, stated.get(mutant.label, ""))
            outcomes.append(outcome)
            on_done(outcome)
    finally:
        engine.close()
    return outcomes
