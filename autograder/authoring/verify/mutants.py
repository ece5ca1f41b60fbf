"""Mutation testing of the hidden tests: find changes of the solution that no test detects.

Operators, constants, comparisons, conditions, keyword arguments and statements between solution
marks are changed one at a time, and the tests must reject every resulting mutant. A mutant that
survives reveals a missing test, unless it is equivalent to the solution. Equivalent mutants are
listed in `solutions/<week>/equivalent.txt`, one per line: `function: before -> after  # reason`.
"""

import ast
import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ...grading.warmup import warm_engine
from ...model.availability import CPU, FAKE_GPU
from ...model.course import Course, Week
from ...model.course.stubs import solution_blocks
from ...sandbox import Sandbox

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_OPERATORS = {getattr(ast, old): getattr(ast, new) for old, new in _TABLES["operators"].items()}
_NAMES: dict[str, str] = _TABLES["attributes"]


class Mutant(msgspec.Struct, frozen=True):
    """A single change to a solution. `source`: the complete module after the change."""

    function: str
    line: int
    before: str
    after: str
    source: str

    @property
    def label(self) -> str:
        return f"{self.function}: {self.before} -> {self.after}"


class MutantOutcome(msgspec.Struct, frozen=True):
    """The result of testing a mutant."""

    mutant: Mutant
    caught_by: str  # the first test that rejected the mutant, or "" if it survived
    excuse: str  # the reason why the mutant is equivalent, or "" if none is stated


def mutants(source: str) -> Iterator[Mutant]:
    """Yield a mutant for each supported change of a module's code between solution marks."""
    tree = ast.parse(source)
    lines = {number for block in solution_blocks(source) for number, _ in block}
    for top in tree.body:
        function = getattr(top, "name", "")
        for parent in list(ast.walk(top)):
            for field, value in ast.iter_fields(parent):
                children = value if isinstance(value, list) else [value]
                for index, node in enumerate(children):
                    for changed in _changes(node) if getattr(node, "lineno", 0) in lines else ():
                        several = [*children[:index], changed, *children[index + 1 :]]
                        setattr(parent, field, several if isinstance(value, list) else changed)
                        module = ast.unparse(tree)
                        setattr(parent, field, value)
                        yield Mutant(function, node.lineno, _text(node), _text(changed), module)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in _OPERATORS:
        yield _copy(node, op=_OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _OPERATORS:
        yield _copy(node, ops=[_OPERATORS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
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
    elif isinstance(node, ast.AugAssign) or _rebinds(node):
        yield ast.Pass()
    elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        yield ast.Pass()  # a call, not a docstring
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


def _rebinds(node: ast.AST) -> bool:
    """Return True if an assignment reads its target, which therefore has an earlier value."""
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
    """Return the equivalent mutants of a week, as a mapping from labels to reasons."""
    path = course.solution_folder(week) / "equivalent.txt"
    lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
    stated = (line.partition("  # ") for line in lines)
    return {label.strip(): reason.strip() for label, mark, reason in stated if mark}


def hunt(
    course: Course, week: Week, secret: bytes, sandbox: Sandbox | None
) -> Iterator[MutantOutcome]:
    """Test each mutant of a week's solution up to its first failing test; yield the outcomes."""
    engine = warm_engine(course, week, (CPU, FAKE_GPU), secret, sandbox)
    stated = excuses(course, week)
    names = {e.name for e in week.exercises}
    try:
        for mutant in mutants(engine.bank.solution):
            exercise = mutant.function if mutant.function in names else None
            target = engine.target({week.module: mutant.source.encode()})
            try:
                ran = engine.runs.run_until_failure(target, exercise)
                if exercise is not None and not ran[-1].report.verdict.failed:
                    ran = engine.runs.run_until_failure(target, None)
            finally:
                target.close()
            caught = ran[-1].report.name if ran[-1].report.verdict.failed else ""
            yield MutantOutcome(mutant, caught, stated.get(mutant.label, ""))
    finally:
        engine.close()
