"""Extract a function from the author's file and mark its body as a solution.

The signature and the docstring stay visible to students. Solution marks (`# BEGIN SOLUTION`,
`# END SOLUTION`) enclose the body and all other definitions of the file that the function uses.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ...model.errors import CourseError
from ...model.source.rules import libraries
from ...model.source.statements import IMPORTS, bound_names

PLACEHOLDER = "FILL IN"
_BEGIN, _END = "# BEGIN SOLUTION", "# END SOLUTION"


class ExtractedFunction(msgspec.Struct, frozen=True):
    """A function as source text, ready for a solution.

    imports: the import statements it needs, one name each
    text: the function and its helpers, with solution marks
    defines: the names of the function and its helpers
    """

    name: str
    imports: tuple[str, ...]
    text: str
    defines: tuple[str, ...]

    @property
    def module(self) -> str:
        """The function as a module that can be run."""
        return "\n".join([*self.imports, "", "", self.text])


def read_function(place: str, extras: tuple[str, ...] = ()) -> ExtractedFunction:
    """Extract the function named by `file.py:function`; raise CourseError if that is impossible."""
    path, _, name = place.rpartition(":")
    if not path or not name.isidentifier():
        raise CourseError(f"--from {place}: write file.py:function")
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"--from {path}: {getattr(error, 'strerror', error)}") from None
    return extract_function(source, name, path, extras)


def extract_function(
    source: str, name: str, path: str, extras: tuple[str, ...] = ()
) -> ExtractedFunction:
    """Extract a top-level function and the definitions it uses; raise CourseError if impossible.

    path: the file's name in error messages
    extras: the optional libraries that the week may import
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"{path}: {error}") from None
    definitions = {name: node for node in tree.body for name in bound_names(node)}
    node = definitions.get(name)
    if not isinstance(node, ast.FunctionDef):
        functions = [n for n, d in definitions.items() if isinstance(d, ast.FunctionDef)]
        problem = "is not a function" if node else "is not defined at the top level"
        others = f"; its functions: {', '.join(functions[:8])}" if functions else ""
        raise CourseError(f"{path}: {name} {problem}{others}")
    used = _used_names(node, definitions)
    nodes = {id(d): d for n, d in definitions.items() if n in used}
    imports = _imports(tree, {n for d in nodes.values() for n in _loaded_names(d)})
    _check_imports(imports, path, extras)
    lines = source.split("\n")
    helpers = "\n\n\n".join("\n".join(_lines(lines, d)) for d in nodes.values() if d is not node)
    marked = [f"{_BEGIN}\n{helpers}\n{_END}"] if helpers else []
    text = "\n\n\n".join([*marked, _with_marks(lines, node)])
    return ExtractedFunction(name, imports, text + "\n", tuple(n for n in definitions if n in used))


def insert_function(module: str, function: ExtractedFunction, path: str) -> str:
    """Append the function to a module's source and its imports to the imports.

    Raise CourseError if the module already defines one of the names.
    """
    tree = ast.parse(module)
    existing = {n for node in tree.body for n in bound_names(node)}
    if duplicates := [n for n in function.defines if n in existing]:
        raise CourseError(f"{path} already defines {', '.join(duplicates)}: choose another name")
    present = {i for node in tree.body if isinstance(node, IMPORTS) for i in _single_imports(node)}
    missing = [i for i in function.imports if i not in present]
    future = [i for i in missing if i.startswith("from __future__")]
    lines = module.rstrip("\n").split("\n")
    top = (tree.body[0].end_lineno or 0) if ast.get_docstring(tree) is not None else 0
    last = max([top, *(n.end_lineno or 0 for n in tree.body if isinstance(n, IMPORTS))])
    lines[last:last] = [i for i in missing if i not in future]
    lines[top:top] = future
    return "\n".join(lines) + f"\n\n\n{function.text}"


def _loaded_names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _used_names(node: ast.stmt, definitions: dict[str, ast.stmt]) -> set[str]:
    """Return the top-level names that a definition needs, including its own."""
    waiting, found = [node], list[ast.stmt]()
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.append(current)
            waiting += [definitions[n] for n in _loaded_names(current) if n in definitions]
    return {n for n, d in definitions.items() if d in found}


def _imports(tree: ast.Module, used: set[str]) -> tuple[str, ...]:
    """Return the imports that bind a used name or import from `__future__`, one name each."""
    found = []
    for node in tree.body:
        for text in _single_imports(node) if isinstance(node, IMPORTS) else ():
            name = text.split()[-1].partition(".")[0]
            if name in used or text.startswith("from __future__"):
                found.append(text)
    return tuple(found)


def _single_imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Split an import into statements that bind one name each."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield ast.unparse(ast.Import([alias]))
        else:
            yield ast.unparse(ast.ImportFrom(node.module, [alias], node.level))


def _check_imports(imports: tuple[str, ...], path: str, extras: tuple[str, ...]) -> None:
    allowed = libraries(extras)
    for statement in imports:
        if statement.split()[1].partition(".")[0] not in {*sys.stdlib_module_names, *allowed}:
            raise CourseError(
                f"{path}: `{statement}`: this library is not available during grading; an "
                f"exercise may use the standard library, {', '.join(allowed)}"
            )


def _lines(lines: list[str], node: ast.stmt) -> list[str]:
    decorators = getattr(node, "decorator_list", [])
    return lines[(decorators or [node])[0].lineno - 1 : node.end_lineno]


def _with_marks(lines: list[str], node: ast.FunctionDef) -> str:
    """Return the function with its body between marks and a placeholder for a missing docstring."""
    if node.body[0].lineno == node.lineno:  # all on one line
        lines = ast.unparse(node).split("\n")
        parsed = ast.parse("\n".join(lines)).body[0]
        assert isinstance(parsed, ast.FunctionDef)
        node = parsed
    own = _lines(lines, node)
    first = (node.end_lineno or 0) - len(own)  # lines of the file above the function
    documented = ast.get_docstring(node) is not None
    end = (node.body[0].end_lineno or 0) if documented else node.body[0].lineno - 1
    while not documented and lines[end - 1].strip()[:1] in ("", "#"):
        end -= 1
    head, body = own[: end - first], own[end - first :]
    indent = " " * node.body[0].col_offset
    if not documented:
        head.append(f'{indent}"""{PLACEHOLDER}: what it returns, for which arguments."""')
    while body and not body[0].strip():
        body = body[1:]
    todo = f"{indent}# TODO: {PLACEHOLDER}: how to start."
    if body and body[0].strip().startswith("# TODO:"):  # the author's own, for students
        todo, body = body[0], body[1:]
    if not any(line.strip() for line in body):
        raise CourseError(
            f"{node.name} has no code after its docstring: students would have no code to write"
        )
    return "\n".join([*head, todo, f"{indent}{_BEGIN}", *body, f"{indent}{_END}"])
