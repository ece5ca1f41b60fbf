"""Analyse the student's module and restore its stubs.

The fingerprint of an exercise covers the top-level statements that it uses and those that define no
name, but not comments, docstrings or layout. If the module is not valid Python, `fingerprints`
returns {}, restoring a single stub raises KitError, and the other functions raise SyntaxError or
ValueError.
"""

import ast
import datetime as dt
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from ...files import replace_file
from ...model.errors import KitError
from ...model.source.statements import IMPORTS, bound_names
from .week import WeekFolder

BACKUPS = "kept"
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def fingerprints(source: str, exercises: tuple[str, ...]) -> dict[str, str]:
    """Return a fingerprint for each exercise, or {} if the module is not valid Python."""
    try:
        return {e: _fingerprint(statements_of(source, e)) for e in exercises}
    except (SyntaxError, ValueError):
        return {}


def statements_of(source: str, exercise: str) -> list[ast.stmt]:
    """Return the top-level statements that an exercise uses, and all that define no name."""
    body = [s for s in _parsed(source).body if not _is_text(s)]
    binding: dict[str, list[ast.stmt]] = defaultdict(list)
    for statement in body:
        for name in _bound_names(statement):
            binding[name].append(statement)
    always = [s for s in body if not _bound_names(s)]
    reached, left, seen = set(map(id, always)), [exercise, *_used_names(always)], set[str]()
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            reached |= set(map(id, binding[name]))
            left += _used_names(binding[name])
    return [s for s in body if id(s) in reached]


def used(source: str, exercise: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names that an exercise uses, directly or indirectly."""
    reached = {name for s in statements_of(source, exercise) for name in _bound_names(s)}
    return tuple(n for n in names if n != exercise and n in reached)


def definition(source: str, name: str) -> slice | None:
    """Return the 0-based line range of a name's last top-level definition, or None if undefined."""
    found = None
    for node in _parsed(source).body:
        if isinstance(node, Definition) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found = slice(first - 1, node.end_lineno)
    return found


def binding_line(source: str, name: str) -> int:
    """Return the line of the last top-level statement that binds a name, or 1 if none does."""
    return max((s.lineno for s in _parsed(source).body if name in _bound_names(s)), default=1)


def statement_counts(source: str) -> dict[str, int]:
    """Count the statements in each top-level definition, without docstrings."""
    return {
        node.name: sum(isinstance(n, ast.stmt) for n in ast.walk(node))
        for node in _parsed(source).body
        if isinstance(node, Definition)
    }


def oddities(source: str, stub: str, exercises: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each exercise that is defined twice or indented, and for dead code."""
    unwritten = {_fingerprint([s]) for s in _parsed(stub).body}
    lines: dict[str, int] = {}  # of the first version that contains code
    for node in _parsed(source).body:
        inner = [n for n in ast.walk(node) if isinstance(n, Definition) and n.name in exercises]
        if node not in inner:
            yield from (
                f"`{n.name}` in line {n.lineno} is indented: move it to the left margin."
                for n in inner
                if n.name not in lines
            )
            continue
        assert isinstance(node, Definition)
        if first := lines.get(node.name):
            yield (
                f"`{node.name}` is defined in lines {first} and {node.lineno}, and only the last "
                "definition counts: delete the other."
            )
        elif _fingerprint([node]) not in unwritten:
            lines[node.name] = node.lineno
        blocks = (getattr(n, "body", None) for n in ast.walk(node))
        for before, after in (pair for b in blocks if isinstance(b, list) for pair in pairwise(b)):
            if isinstance(before, ast.Return):
                yield (
                    f"Line {after.lineno} never runs: it comes after the `return` in line "
                    f"{before.lineno}."
                )


def restore_stub(
    folder: WeekFolder, exercise: str | None = None, now: dt.datetime | None = None
) -> Path | None:
    """Restore the stub of an exercise, or of the whole module.

    Return the path of the backup in the folder `kept`, or None if there was no module. Raise
    KitError if the stub is missing, the exercise cannot be located, or a file cannot be written.
    """
    text = folder.week.stub
    if folder.module.is_dir():
        folder.source()  # raises KitError with a remedy
    if not text:
        raise KitError(f"{folder.path.name} contains no stub: copy it from the released folder")
    if exercise is not None:
        text = _with_stub_of(folder, folder.exercise(exercise).name)
    try:
        backup = None
        if folder.module.exists():
            (folder.path / BACKUPS).mkdir(exist_ok=True)
            backup = _unused_backup(folder, now or dt.datetime.now())
            replace_file(backup, folder.module.read_bytes(), 0o644)  # no incomplete backup
        replace_file(folder.module.resolve(), text.encode(), 0o644)
    except OSError as error:
        where = error.filename or folder.path.name
        raise KitError(f"nothing was reset: {where} cannot be written ({error.strerror})") from None
    return backup


def _with_stub_of(folder: WeekFolder, exercise: str) -> str:
    """Return the module's source with one exercise replaced by its stub.

    If the module does not define the exercise, the stub is appended. Raise KitError if the week's
    stub does not define the exercise or the module cannot be parsed.
    """
    stub, source = folder.week.stub, folder.source()
    wanted = definition(stub, exercise)
    if wanted is None:
        raise KitError(f"the week's stub has no {exercise}: copy it from the released folder")
    try:
        found = definition(source, exercise)
    except (SyntaxError, ValueError) as error:
        raise KitError(
            f"Python cannot read {folder.week.module} ({error}), so {exercise} cannot be located: "
            "correct the file, or restore all of it with `autograder reset --all`"
        ) from None
    stub_lines, lines = stub.split("\n")[wanted], source.split("\n")
    if found:
        lines[found] = stub_lines
    else:
        lines = [*source.rstrip("\n").split("\n"), "", "", *stub_lines, ""]
    return "\n".join(lines)


def _unused_backup(folder: WeekFolder, now: dt.datetime) -> Path:
    kept = folder.path / BACKUPS
    while (path := kept / f"{folder.stem}_{now:%Y-%m-%d_%H%M%S}.py").exists():
        now += dt.timedelta(seconds=1)
    return path


@lru_cache(maxsize=4)
def _parsed(source: str) -> ast.Module:
    """Parse a module and remove docstrings of definitions. Do not modify the cached tree."""
    tree = ast.parse(source, "your file")
    for node in ast.walk(tree):
        if isinstance(node, Definition) and len(node.body) > 1 and _is_text(node.body[0]):
            node.body = node.body[1:]
    return tree


def _bound_names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, IMPORTS):
        return [(a.asname or a.name).split(".")[0] for a in statement.names]
    binds = isinstance(statement, Definition | ast.Assign | ast.AnnAssign | ast.AugAssign)
    return bound_names(statement) if binds else []


def _used_names(statements: list[ast.stmt]) -> list[str]:
    return [n.id for s in statements for n in ast.walk(s) if isinstance(n, ast.Name)]


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _fingerprint(statements: list[ast.stmt]) -> str:
    text = "\n".join(ast.dump(s) for s in statements)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
