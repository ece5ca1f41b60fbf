"""Mutation testing of the hidden tests: find changes of the solution that no test notices.

Every operator, constant, comparison, condition, keyword and statement between solution marks is
changed in turn, and the tests of its exercise must reject the result. A surviving mutant shows a
missing test unless it computes the same; such mutants are listed with a reason in
`solutions/<week>/equivalent.txt`, one per line, as `function: before -> after  # reason`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ...grading.warmup import warm_engine
from ...model.course import Course, Week
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
    """One change; `source` is the whole changed module."""

    function: str
    line: int
    before: str
    after: str
    source: str

    @property
    def label(self) -> str:
        return f"{self.function}: {self.before} -> {self.after}"


class MutantOutcome(msgspec.Struct, frozen=True):
    """The first test that rejected a mutant, or "", and why it is equivalent if that is stated."""

    mutant: Mutant
    caught_by: str
    excuse: str


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every single change of a module's code between solution marks."""
    tree = ast.parse(source)
    lines = _solution_lines(source)
    for top in tree.body:
        for place in list(_places(top)):
            node = place.node
            line = getattr(node, "lineno", 0)
            for changed in _changes(node) if line in lines else ():
                place.insert(changed)
                module = ast.unparse(tree)
                place.insert(node)
                yield Mutant(getattr(top, "name", ""), line, _text(node), _text(changed), module)


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


class _NodePlace(msgspec.Struct):
    """A node and the field of its parent that contains it."""

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None = None

    def insert(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def _places(top: ast.AST) -> Iterator[_NodePlace]:
    """Yield the place of every node below `top`, in the order of ast.walk."""
    for parent in ast.walk(top):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                yield _NodePlace(value, parent, field)
            elif isinstance(value, list):
                nodes = ((i, n) for i, n in enumerate(value) if isinstance(n, ast.AST))
                yield from (_NodePlace(n, parent, field, i) for i, n in nodes)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that may replace a node."""
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        yield _copy(node, op=_BINARY[type(node.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARE:
        yield _copy(node, ops=[_COMPARE[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield _copy(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.Constant):
        yield from (_copy(node, value=value) for value in _changed_constants(node.value))
    elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
        yield _copy(node, attr=_NAMES[node.attr])
    elif isinstance(node, ast.Call):
        for i in range(len(node.keywords)):
            yield _copy(node, keywords=node.keywords[:i] + node.keywords[i + 1 :])
    elif isinstance(node, ast.If):
        yield _copy(node, test=ast.Constant(True))
        yield _copy(node, test=ast.Constant(False))
    elif isinstance(node, ast.AugAssign) or _is_call(node) or _rebinds(node):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield _copy(node, value=_copy(node.value, elts=node.value.elts[::-1]))


def _changed_constants(value: object) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        if value > 0:
            yield value - 1
    elif isinstance(value, float):
        yield value * 2 if value else 1.0


def _is_call(node: ast.AST) -> bool:
    """Return True for an expression statement that is not a docstring."""
    return isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)


def _rebinds(node: ast.AST) -> bool:
    """Return True for an assignment that reads its own target, so it can be removed."""
    if not isinstance(node, ast.Assign):
        return False
    targets = {t.id for t in node.targets if isinstance(t, ast.Name)}
    return any(isinstance(n, ast.Name) and n.id in targets for n in ast.walk(node.value))


def _copy(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:100]


def excuses(course: Course, week: Week) -> dict[str, str]:
    """Return the equivalent mutants of a week: label to reason."""
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
    """Run every mutant of the week's solution until a test rejects it."""
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
