"""From a solution to the stub that students get.

Between `# BEGIN SOLUTION` and `# END SOLUTION` stands what students must not see. Inside a
function or class body the region becomes `raise NotImplementedError("name")`; at module level it
vanishes. Everything else is copied as it is, so signatures, docstrings with shapes and TODO
comments are written once, in the solution. What course.yaml does not allow in the week is added to
the module's docstring, so that students read it where they write.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from ..errors import BuildError
from ..source.rules import in_words
from .loader import Course, Week

_BEGIN = re.compile(r"^(\s*)#+ BEGIN SOLUTION\s*$")
_WIDTH = 96  # of what is announced: fits a line of 100 in comments too
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


def without_marks(source: str) -> str:
    """The solution as a program to read: no SOLUTION lines, and no TODO, which is done."""
    kept: list[str] = []
    for line in source.split("\n"):
        if _BEGIN.match(line):
            while kept and kept[-1].lstrip().startswith("#") and _asked(kept):
                kept.pop()
        elif not _END.match(line):
            kept.append(line)
    return "\n".join(kept)


def _asked(lines: list[str]) -> bool:
    """Return whether the comment that ends the lines begins with TODO."""
    for line in reversed(lines):
        if not line.lstrip().startswith("#"):
            return False
        if line.lstrip().startswith("# TODO"):
            return True
    return False


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
        stub = make_stub(path.read_text(encoding="utf-8"), where)
    except FileNotFoundError:
        raise BuildError(f"{where}: there is no such solution") from None
    return with_announcement(stub, "\n\n".join(_announced(week)))


def _announced(week: Week) -> Iterator[str]:
    """Paragraphs on what is not allowed in the week, if anything is."""
    said = [_calls_in_words("this week", week.not_allowed)]
    for exercise in week.exercises:
        where = f"in `{exercise.name}`"
        said.append(_calls_in_words(where, exercise.not_allowed))
        if exercise.source_not_allowed:
            said.append(_names_in_words(where, exercise.source_not_allowed))
    if any(said):
        said.append(in_words(tuple(sorted({e.extra for e in week.exercises if e.extra}))))
    for text in filter(None, said):
        yield textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _calls_in_words(where: str, patterns: tuple[str, ...]) -> str:
    if not patterns:
        return ""
    return (
        f"Not allowed {where}: calls of a library's {_listed(patterns)}, by whatever alias. Such a "
        "call does the exercise for you, and costs all points of the exercise."
    )


def _names_in_words(where: str, patterns: tuple[str, ...]) -> str:
    said = f"Not allowed {where}: the names {_listed(patterns)}."
    if any(pattern.startswith(".") for pattern in patterns):
        said += " A name with a dot before it is a tensor's own: an allowed library's function of "
        said += "that name is fine."
    return said


def _listed(patterns: tuple[str, ...]) -> str:
    *most, last = [f"`{p}`" for p in patterns]
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"{listed} (`*` stands for anything)" if "*" in listed else listed


def with_announcement(stub: str, announced: str) -> str:
    """The stub with a text at the end of its module docstring, or in comments on top."""
    if not announced:
        return stub
    lines, first = stub.split("\n"), next(iter(ast.parse(stub).body), None)
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        last = (first.end_lineno or 1) - 1
        written, quotes = lines[last][:-3], lines[last][-3:]
        if isinstance(first.value.value, str) and quotes in ('"""', "'''"):
            before = "\n".join([*lines[:last], written.rstrip()]).rstrip("\n")
            return "\n".join([before, "", announced, quotes, *lines[last + 1 :]])
    commented = [f"# {line}".rstrip() for line in announced.split("\n")]
    return "\n".join([*commented, "", *lines])


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
