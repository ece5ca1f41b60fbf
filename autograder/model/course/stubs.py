"""Generate a week's stub, the module that students complete, from its solution.

Lines between `# BEGIN SOLUTION` and `# END SOLUTION` are removed. Inside a function or class, the
lines are replaced by `raise NotImplementedError("name")`. All other lines are copied, so authors
write signatures, docstrings and TODO comments only once. The stub's docstring also lists the calls
and names that course.yaml forbids.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from ..errors import BuildError
from ..source.rules import in_words
from ..source.statements import DEFINITIONS
from .registry import Course, Week

_MARK = re.compile(r"^([ \t]*)#+ (BEGIN|END) SOLUTION\s*$")
_MARKS = re.compile(r"^[ \t]*#+ (BEGIN|END) SOLUTION[ \t]*(\n|\Z)", re.MULTILINE)
_TODO = re.compile(
    r"^[ \t]*# TODO.*\n(?:[ \t]*#.*\n)*?(?=[ \t]*#+ BEGIN SOLUTION[ \t]*$)", re.MULTILINE
)
_WIDTH = 96  # leaves room for the prefix `# ` in lines of 100 characters


def make_stub(source: str, location: str) -> str:
    """Return the stub of a solution's source; raise BuildError if its marks or syntax are wrong."""
    lines = source.split("\n")
    names = _enclosing_names(source, location)
    kept: list[str] = []
    opened = 0  # the line of a BEGIN whose END has not been found yet, or 0
    for number, line in enumerate(lines, start=1):
        mark = _MARK.match(line)
        if mark is None:
            if not opened:
                kept.append(line)
            continue
        indent, kind = mark.groups()
        if kind == "BEGIN" and opened:
            raise BuildError(f"{location}:{number}: BEGIN SOLUTION in the one of line {opened}")
        if kind == "END" and not opened:
            raise BuildError(f"{location}:{number}: END SOLUTION without BEGIN SOLUTION")
        opened = number if kind == "BEGIN" else 0
        if opened and indent:
            kept.append(f'{indent}raise NotImplementedError("{names.get(number, "")}")')
    if opened:
        raise BuildError(f"{location}:{opened}: BEGIN SOLUTION without END SOLUTION")
    if len(kept) == len(lines):
        raise BuildError(f"{location}: no line `# BEGIN SOLUTION`: the stub would be solved")
    stub = re.sub(r"\n{4,}", "\n\n\n", "\n".join(kept))
    try:
        ast.parse(stub)
    except SyntaxError as error:
        raise BuildError(f"{location}: its stub: {error.msg} at {error.text!r}") from None
    return stub.rstrip("\n") + "\n"


def solution_blocks(source: str) -> list[list[tuple[int, str]]]:
    """Return the blocks between BEGIN and END marks, each as pairs of a line number and a line."""
    blocks: list[list[tuple[int, str]]] = []
    inside = False
    for number, line in enumerate(source.split("\n"), start=1):
        if mark := _MARK.match(line):
            inside = mark[2] == "BEGIN"
            if inside:
                blocks.append([])
        elif inside:
            blocks[-1].append((number, line))
    return blocks


def without_marks(source: str) -> str:
    """Return the solution without solution marks and the TODO comments above them."""
    return _MARKS.sub("", _TODO.sub("", source))


def _enclosing_names(source: str, location: str) -> dict[int, str]:
    """Map each line to the dotted name of the innermost function or class that contains it."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise BuildError(f"{location}:{error.lineno}: {error.msg}") from None
    names: dict[int, str] = {}
    for node in ast.walk(tree):  # visits outer definitions before inner ones
        if isinstance(node, DEFINITIONS):
            outer = names.get(node.lineno)
            name = f"{outer}.{node.name}" if outer else node.name
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            names |= dict.fromkeys(lines, name)
    return names


def stub_of(course: Course, week: Week) -> str:
    """Generate the stub of a week; raise BuildError if the solution is missing or malformed."""
    path = course.solution(week)
    location = str(path.relative_to(course.root))
    try:
        stub = make_stub(path.read_text(encoding="utf-8"), location)
    except FileNotFoundError:
        raise BuildError(f"{location}: the solution is missing") from None
    return with_announcement(stub, "\n\n".join(_announced(week)))


def _announced(week: Week) -> Iterator[str]:
    """Yield a paragraph for each rule on forbidden calls, forbidden names and allowed imports."""
    rules = [_calls_in_words("this week", week.not_allowed)]
    for exercise in week.exercises:
        location = f"in `{exercise.name}`"
        rules.append(_calls_in_words(location, exercise.not_allowed))
        if exercise.source_not_allowed:
            rules.append(_names_in_words(location, exercise.source_not_allowed))
    if any(rules):
        rules.append(in_words(week.importable))
    for text in filter(None, rules):
        yield textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _calls_in_words(location: str, patterns: tuple[str, ...]) -> str:
    if not patterns:
        return ""
    return (
        f"Not allowed {location}: calls of a library's {_listed(patterns)}, under any alias. "
        "Such a call does the exercise for you and costs all of its points."
    )


def _names_in_words(location: str, patterns: tuple[str, ...]) -> str:
    text = f"Not allowed {location}: the names {_listed(patterns)}."
    if any(pattern.startswith(".") for pattern in patterns):
        text += " A name after a dot is an attribute of a tensor; a function of that name in an "
        text += "allowed library is fine."
    return text


def _listed(patterns: tuple[str, ...]) -> str:
    *most, last = [f"`{p}`" for p in patterns]
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"{listed} (`*` matches anything)" if "*" in listed else listed


def with_announcement(stub: str, announced: str) -> str:
    """Append a text to the stub's docstring, or prepend it as comments if that is not possible."""
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


def is_stale(course: Course, week: Week) -> bool:
    """Return True if a week's stub is missing, or differs from the one its solution generates."""
    path = stub_path(course, week)
    return not path.is_file() or path.read_text(encoding="utf-8") != stub_of(course, week)


def stub_problem(course: Course, week: Week) -> str:
    """Return an error message if a week's stub is out of date, otherwise ""."""
    if not is_stale(course, week):
        return ""
    where = stub_path(course, week).relative_to(course.root)
    return f"{where} differs from the stub that the solution gives: run `autograder build`"


def write_stub(course: Course, week: Week) -> Path:
    path = stub_path(course, week)
    path.write_text(stub_of(course, week), encoding="utf-8")
    return path
