"""Locate a named misconception by code that only its program in the bank contains.

Code is distinctive if the misconception's program contains it and no correct program does: the name
of a function, an attribute or a keyword, a constant, or a larger expression. A line of the
submission with such code most likely contains the mistake.
"""

import ast
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from itertools import islice

from ...model.report.findings import SHOWN
from ...model.report.schema import Suspect
from ...repair import UNPARSABLE
from ...repair.source_text import Definition, parsed
from .candidate_runner import WrongExercise

WORD = 1  # the size of names and constants, which locate a mistake most reliably
_LARGEST = 14  # nodes; larger expressions rarely occur in two programs

Fragment = tuple[int, str]  # the number of nodes, and the text


class DistinctiveCode:
    """The code of an exercise's correct programs, to compare misconceptions with."""

    def __init__(self, exercise: str, correct: Iterable[str]) -> None:
        self._exercise = exercise
        self._usual = set().union(*(fragments(source, exercise) for source in correct))

    def smallest(self, wrong: WrongExercise, misconception: str) -> tuple[int, tuple[Suspect, ...]]:
        """Return the size of the smallest distinctive code in a submission, and its line.

        The line is () if several lines contain code of this size; the size is 0 if none does.

        misconception: the source of the bank's program
        """
        distinctive = fragments(misconception, self._exercise).keys() - self._usual
        mine = fragments(wrong.source, self._exercise, wrong.foreign)
        shared = distinctive & mine.keys()
        size = min((size for size, _ in shared), default=0)
        lines = set[int]().union(*(mine[f] for f in shared if f[0] == size))
        found = (Suspect(wrong.module, line, self._exercise, SHOWN) for line in lines)
        return size, tuple(found) if len(lines) == 1 else ()


def fragments(
    source: str, exercise: str, foreign: frozenset[str] = frozenset()
) -> dict[Fragment, set[int]]:
    """Return the names, constants and small expressions of an exercise, each with its lines.

    Local variables are replaced by `_`, because their names are a matter of style. Return {} if the
    source cannot be parsed.

    foreign: names of definitions to leave out
    """
    found: dict[Fragment, set[int]] = {}
    with suppress(*UNPARSABLE):
        for definition in parsed(source).reachable(exercise, foreign - {exercise}):
            for fragment, line in _fragments_of(definition):
                found.setdefault(fragment, set()).add(line)
    return found


def _fragments_of(definition: Definition) -> Iterator[tuple[Fragment, int]]:
    body = definition.body if isinstance(definition, ast.ClassDef) else [definition]
    for function in (n for n in body if isinstance(n, ast.FunctionDef)):
        for node in ast.walk(_Anonymous(function).visit(deepcopy(function))):
            match node:
                case ast.Attribute(attr=name, end_lineno=int(line)):
                    yield (WORD, f".{name}"), line
                case ast.Call(func=ast.Name(id=name), lineno=line):
                    yield (WORD, f"{name}("), line
                case ast.keyword(arg=str(name), lineno=line):
                    yield (WORD, f"{name}="), line
            if isinstance(node, ast.expr | ast.Assign | ast.AugAssign | ast.keyword):
                size = _size(node)
                if size <= _LARGEST and not isinstance(node, ast.Name):
                    yield (size, ast.unparse(node)), node.lineno


def _size(node: ast.AST) -> int:
    """Count the nodes of a syntax tree; stop above `_LARGEST`."""
    nodes = (n for n in ast.walk(node) if not isinstance(n, ast.expr_context))
    return sum(1 for _ in islice(nodes, _LARGEST + 1))


class _Anonymous(ast.NodeTransformer):
    """Replaces the names of a function's local variables by `_`."""

    def __init__(self, function: ast.FunctionDef) -> None:
        nodes = [*ast.walk(function)]
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self._local = stored - {n.arg for n in nodes if isinstance(n, ast.arg)}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name("_", node.ctx), node) if node.id in self._local else node
