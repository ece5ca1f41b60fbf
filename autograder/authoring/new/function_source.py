"""An exercise made of a function of the author's: what students see of it, and what they write.

The signature and the docstring stay; the body, and whatever of the file the function uses, goes
between the marks that keep it from students.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

import msgspec

from ...model.errors import CourseError
from ...model.source.rules import libraries

BLANK = "FILL IN"
_BEGIN, _END = "# BEGIN SOLUTION", "# END SOLUTION"


class TakenFunction(msgspec.Struct, frozen=True):
    """A function as a week takes it: `imports`, and `text` with the marks of a solution."""

    name: str
    imports: tuple[str, ...]
    text: str
    defines: tuple[str, ...]

    @property
    def module(self) -> str:
        """A module of its own."""
        return "\n".join([*self.imports, "", "", self.text])


def taken_from(place: str, extras: tuple[str, ...] = ()) -> TakenFunction:
    """The function that `file.py:function` names; raises CourseError if it will not do."""
    path, _, name = place.rpartition(":")
    if not path or not name.isidentifier():
        raise CourseError(f"--from {place}: write file.py:function")
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"--from {path}: {getattr(error, 'strerror', error)}") from None
    return taken(source, name, path, extras)


def taken(source: str, name: str, where: str, extras: tuple[str, ...] = ()) -> TakenFunction:
    """A function of a source, with what it uses; raises CourseError if it will not do."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"{where}: {error}") from None
    known = _definitions(tree)
    node = known.get(name)
    if not isinstance(node, ast.FunctionDef):
        found = [n for n, d in known.items() if isinstance(d, ast.FunctionDef)]
        kind = "is no function" if node is not None else "is not there"
        has = f"; it has {', '.join(found[:8])}" if found else ""
        raise CourseError(f"{where}: {name} {kind} at the file's margin{has}")
    used = _used(node, known)
    nodes = [known[n] for n in known if n in used]
    imports = _imports(tree, {n.id for d in nodes for n in ast.walk(d) if isinstance(n, ast.Name)})
    _check_imports(imports, where, extras)
    lines = source.split("\n")
    helpers = ["\n".join(_lines(lines, d)) for d in nodes if d is not node]
    parts = []
    if helpers:
        parts.append(f"{_BEGIN}\n" + "\n\n\n".join(helpers) + f"\n{_END}")
    text = "\n\n\n".join([*parts, _marked(lines, node)])
    return TakenFunction(name, imports, text + "\n", tuple(n for n in known if n in used))


def with_function(module: str, function: TakenFunction, where: str) -> str:
    """A solution's module with the function at its end and what it imports among the imports."""
    tree = ast.parse(module)
    there = {n for top in tree.body for n in _bound(top)}
    if taken_names := [n for n in function.defines if n in there]:
        raise CourseError(f"{where} has {', '.join(taken_names)} already: choose another name")
    bound = {one for top in tree.body if _is_import(top) for one in _one_by_one(top)}
    lines = module.rstrip("\n").split("\n")
    missing = [i for i in function.imports if not bound.issuperset(_one_by_one(_statement(i)))]
    future = [i for i in missing if i.startswith("from __future__")]
    first, last = _place_of_imports(tree)
    lines[last:last] = [i for i in missing if i not in future]
    lines[first:first] = future
    return "\n".join(lines) + f"\n\n\n{function.text}"


def _place_of_imports(tree: ast.Module) -> tuple[int, int]:
    """The lines before which imports from the future go, and others."""
    first = tree.body[0].end_lineno or 0 if tree.body and ast.get_docstring(tree) else 0
    found = [n.end_lineno or 0 for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    return first, max([first, *found])


def _definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    return {name: top for top in tree.body for name in _bound(top) if not _is_import(top)}


def _bound(top: ast.stmt) -> list[str]:
    """The names that a statement at the margin defines."""
    if isinstance(top, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [top.name]
    if isinstance(top, (ast.Assign, ast.AnnAssign)):
        stored = (n for n in ast.walk(top) if isinstance(n, ast.Name))
        return [n.id for n in stored if isinstance(n.ctx, ast.Store)]
    return []


def _is_import(top: ast.stmt) -> bool:
    return isinstance(top, (ast.Import, ast.ImportFrom))


def _statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _one_by_one(top: ast.stmt) -> list[str]:
    """An import as statements that bind one name each."""
    assert isinstance(top, (ast.Import, ast.ImportFrom))
    names, found = top.names, []
    for name in names:
        top.names = [name]
        found.append(ast.unparse(top))
    top.names = names
    return found


def _used(node: ast.stmt, known: dict[str, ast.stmt]) -> set[str]:
    """What the definition and what it uses define."""
    todo, found, names = [node], list[ast.stmt](), set[str]()
    while todo:
        at = todo.pop()
        if at in found:
            continue
        found.append(at)
        names |= {n for n, d in known.items() if d is at}
        used = {n.id for n in ast.walk(at) if isinstance(n, ast.Name)}
        todo += [known[n] for n in used if n in known]
    return names


def _imports(tree: ast.Module, used: set[str]) -> tuple[str, ...]:
    """The imports that bind a used name, one statement each."""
    found = []
    for top in tree.body:
        if isinstance(top, ast.ImportFrom) and top.module == "__future__":
            found.append(ast.unparse(top))
        elif isinstance(top, (ast.Import, ast.ImportFrom)):
            names = [a for a in top.names if (a.asname or a.name).partition(".")[0] in used]
            if names:
                top.names = names
                found.append(ast.unparse(top))
    return tuple(found)


def _check_imports(imports: tuple[str, ...], where: str, extras: tuple[str, ...]) -> None:
    there = {*sys.stdlib_module_names, *libraries(extras)}
    for statement in imports:
        name = statement.split()[1].partition(".")[0]
        if name not in there:
            raise CourseError(
                f"{where}: `{statement}`: that is not there when students' work is graded; an "
                f"exercise may use the standard library, {', '.join(libraries(extras))}"
            )


def _lines(lines: list[str], node: ast.stmt) -> list[str]:
    decorators = getattr(node, "decorator_list", [])
    return lines[(decorators[0] if decorators else node).lineno - 1 : node.end_lineno]


def _marked(lines: list[str], node: ast.FunctionDef) -> str:
    """The function with its body between marks; a docstring to fill in if it has none."""
    own = _lines(lines, node)
    if node.body[0].lineno == node.lineno:  # all on one line
        own = ast.unparse(node).split("\n")
        node = ast.parse("\n".join(own)).body[0]  # type: ignore[assignment]  # a function, as it was
    offset = node.end_lineno - len(own) if node.end_lineno else 0
    documented = ast.get_docstring(node) is not None
    end = node.body[0].end_lineno if documented else _signature_end(own) + offset
    head, body = own[: (end or 0) - offset], own[(end or 0) - offset :]
    indent = " " * node.body[0].col_offset
    if not documented:
        head.append(f'{indent}"""{BLANK}: what comes out, for which arguments."""')
    while body and not body[0].strip():
        body = body[1:]
    todo = f"{indent}# TODO: {BLANK}: a word on how to begin."
    if body and body[0].strip().startswith("# TODO:"):  # the author's own, for students
        todo, body = body[0], body[1:]
    if not any(line.strip() for line in body):
        raise CourseError(f"{node.name} does nothing: there is nothing for students to write")
    return "\n".join([*head, todo, f"{indent}{_BEGIN}", *body, f"{indent}{_END}"])


def _signature_end(lines: list[str]) -> int:
    """The number of the line on which the colon of `def` stands."""
    depth, began = 0, False
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        began = began or (token.type == tokenize.NAME and token.string == "def")
        if token.type == tokenize.OP:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
            if began and not depth and token.string == ":":
                return token.start[0]
    raise AssertionError("a function without a colon was parsed")
