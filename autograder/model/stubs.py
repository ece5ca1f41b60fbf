"""From a solution to the stub that students get.

Between `# BEGIN SOLUTION` and `# END SOLUTION` stands what students must not see. Inside a
function or class body the region becomes `raise NotImplementedError("name")`; at module level it
vanishes. Everything else is copied as it is, so signatures, docstrings with shapes and TODO
comments are written once, in the solution.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from .course import Course, Week
from .errors import BuildError

_BEGIN = re.compile(r"^(\s*)#+ BEGIN SOLUTION\s*$")
_END = re.compile(r"^\s*#+ END SOLUTION\s*$")


def make_stub(source: str, where: str) -> str:
    """The stub of a solution's source; raises BuildError that names file and line."""
    lines = source.split("\n")
    names = _enclosing_names(source, where)
    kept: list[str] = []
    opened: tuple[int, str] | None = None
    regions = 0
    for number, line in enumerate(lines, start=1):
        begin = _BEGIN.match(line)
        if begin:
            if opened:
                raise BuildError(
                    f"{where}:{number}: BEGIN SOLUTION inside the one of line {opened[0]}"
                )
            opened, regions = (number, begin.group(1)), regions + 1
            if begin.group(1):
                kept.append(f'{begin.group(1)}raise NotImplementedError("{names.get(number, "")}")')
        elif _END.match(line):
            if not opened:
                raise BuildError(f"{where}:{number}: END SOLUTION without BEGIN SOLUTION")
            opened = None
        elif not opened:
            kept.append(line)
    if opened:
        raise BuildError(f"{where}:{opened[0]}: BEGIN SOLUTION is never ended")
    if not regions:
        raise BuildError(
            f"{where}: there is no BEGIN SOLUTION in it: the stub would be the solution"
        )
    stub = re.sub(r"\n{4,}", "\n\n\n", "\n".join(kept))
    try:
        ast.parse(stub)
    except SyntaxError as error:
        raise BuildError(
            f"{where}: its stub is no valid Python: {error.msg} at {error.text!r}"
        ) from None
    return stub.rstrip("\n") + "\n"


def _enclosing_names(source: str, where: str) -> dict[int, str]:
    """For each line the dotted name of the function or class around it."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise BuildError(f"{where}:{error.lineno}: {error.msg}") from None
    names: dict[int, str] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{prefix}.{child.name}" if prefix else child.name
                for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                    names[line] = name
                visit(child, name)
            else:
                visit(child, prefix)

    visit(tree, "")
    return names


def stub_of(course: Course, week: Week) -> str:
    path = course.solution(week)
    where = str(path.relative_to(course.root))
    try:
        return make_stub(path.read_text(encoding="utf-8"), where)
    except FileNotFoundError:
        raise BuildError(f"{where}: there is no such solution") from None


def stub_path(course: Course, week: Week) -> Path:
    return course.exercise_folder(week) / week.module


def stale(course: Course) -> list[str]:
    """The stubs that are not what their solution makes, as paths relative to the project."""
    found = []
    for week in course.weeks:
        path = stub_path(course, week)
        current = path.read_text(encoding="utf-8") if path.is_file() else None
        if current != stub_of(course, week):
            found.append(str(path.relative_to(course.root)))
    return found


def write_stubs(course: Course) -> list[str]:
    """Write every stale stub; returns their paths."""
    changed = stale(course)
    for week in course.weeks:
        path = stub_path(course, week)
        if str(path.relative_to(course.root)) in changed:
            path.write_text(stub_of(course, week), encoding="utf-8")
    return changed
