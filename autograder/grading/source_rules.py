"""A look at the syntax tree: what calls cannot show at run time.

Read on the trusted side, for one exercise: its function or class and everything of the module that
it reaches by name. Two things are found there. Ways to look away from the nets of the worker
(switching torch's modes off, threads, raw memory) are refused in every exercise. And an exercise
may refuse whole libraries by name (`source_not_allowed` in course.yaml), where the point is to do
without them. Dead code and self-checks under `if __name__ == "__main__"` are not reached. What runs
on import is, for the first of the two. This is a fence, not a wall: code that wants to look away
finds a spelling that no list holds, and the threat model says so.
"""

from __future__ import annotations

import ast
import fnmatch
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping

from .outcomes import Forbidden

# Each of these takes a call out of sight of the modes and kernels that watch it.
EVASIONS = (
    "ctypes*",
    "threading*",
    "_thread*",
    "multiprocessing*",
    "concurrent.futures*",
    "subprocess*",
    "os.fork*",
    "torch._C.*Disable*",
    "torch._C._*mode*",
    "torch._C._dispatch*",
    "torch._C._set_*",
    "torch._C._len_torch_*",
    "torch._C._pop_*",
    "torch.overrides._*",
    "torch.utils._python_dispatch*",
    "torch.library*",
    "sys._getframe*",
    "sys.modules*",
    "sys.settrace*",
    "sys.setprofile*",
    "inspect.currentframe*",
    "inspect.stack*",
    "gc.*",
    "worker*",
    "importlib*",
    "__import__",
    "eval",
    "exec",
)
_EVASION = re.compile("|".join(fnmatch.translate(p) for p in EVASIONS))


# Words without which none of the above can be spelt: most sources need no closer look.
_SIGNS = re.compile(
    r"ctypes|thread|multiprocessing|futures|subprocess|fork|_C\b|overrides|_dispatch|library"
    r"|_getframe|\bgc\b|\bmodules\b|settrace|setprofile|inspect|worker|importlib|__import__"
    r"|\beval\b|\bexec\b"
)


def source_problems(source: str, exercises: Mapping[str, tuple[str, ...]]) -> dict[str, Forbidden]:
    """The verdict `forbidden` for each exercise whose source uses a refused name.

    `exercises` maps each name to its own patterns of refused names.
    """
    if not _SIGNS.search(source) and not any(exercises.values()):
        return {}
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}  # the import will tell
    found = {n: _problem(tree, n, patterns) for n, patterns in exercises.items()}
    return {name: problem for name, problem in found.items() if problem is not None}


def _problem(tree: ast.Module, exercise: str, patterns: tuple[str, ...]) -> Forbidden | None:
    for name, line in _used_names(tree, exercise):
        if _EVASION.match(name):
            return Forbidden(
                f"`{name[:60]}` (line {line}) looks away from the grader. An exercise is plain "
                "tensor code: remove it."
            )
        if any(fnmatch.fnmatchcase(name, p) for p in patterns):
            return Forbidden(
                f"This exercise is to be written without `{name[:60]}` (line {line}): see its "
                "docstring for what may be used."
            )
    return None


def _used_names(tree: ast.Module, exercise: str) -> Iterator[tuple[str, int]]:
    """(dotted name, line) of everything that the exercise's definition reaches."""
    definitions = {
        node.name: node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    assigned = {
        target.id: node
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    outer = _imports(tree.body)
    for statement in tree.body:  # ops = keras.ops
        outer |= _renamed(statement, outer)
    yield from _on_import(tree, outer)
    waiting, done = [exercise], set[str]()
    while waiting:
        name = waiting.pop()
        node = definitions.get(name) or assigned.get(name)
        if name in done or node is None:
            continue
        done.add(name)
        inner = _imports(list(ast.walk(node)))
        aliases = ChainMap(inner, outer)  # a copy for each definition would take quadratic time
        for part in ast.walk(node):
            inner |= _renamed(part, aliases)
        for used, line in _names(node, aliases):
            yield used, line
            waiting.append(used)


def _on_import(tree: ast.Module, aliases: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Ways to look away in what runs on import, for every exercise alike."""
    for statement in tree.body:
        if isinstance(statement, _DEFINING) or _is_main_guard(statement):
            continue
        for name, line in _names(statement, aliases):
            if _EVASION.match(name):
                yield name, line


_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def _is_main_guard(statement: ast.stmt) -> bool:
    test = statement.test if isinstance(statement, ast.If) else None
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
    )


def _imports(nodes: list[ast.stmt] | list[ast.AST]) -> dict[str, str]:
    """Local name -> dotted origin, for the import statements among the nodes."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    found[alias.asname] = alias.name
                else:
                    found[alias.name.split(".")[0]] = alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _renamed(statement: ast.AST, aliases: Mapping[str, str]) -> dict[str, str]:
    """The alias that an assignment `name = library.part` makes, if it is one."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Attribute):
        return {}
    dotted = _dotted(statement.value, aliases)
    targets = [t.id for t in statement.targets if isinstance(t, ast.Name)]
    return dict.fromkeys(targets, dotted) if dotted else {}


def _names(node: ast.AST, aliases: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Names as their imports resolve them; `.attribute` for attributes of anything else."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield aliases.get(part.id, part.id), part.lineno
        elif isinstance(part, ast.Attribute):
            dotted = _dotted(part, aliases)
            yield dotted or f".{part.attr}", part.lineno


def _dotted(node: ast.Attribute, aliases: Mapping[str, str]) -> str | None:
    parts = [node.attr]
    value: ast.expr = node.value
    while isinstance(value, ast.Attribute):
        parts.append(value.attr)
        value = value.value
    if isinstance(value, ast.Name) and value.id in aliases:
        return ".".join([aliases[value.id], *reversed(parts)])
    return None
