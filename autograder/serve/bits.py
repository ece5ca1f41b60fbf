"""How much one result can tell of what a submission saw: an upper bound, to choose `tries` by."""

from __future__ import annotations

import ast
import math
from pathlib import Path

from ..model.bank import Bank
from ..model.course import Course, Week
from ..model.sources import MOST_SIGNS

# How a test may be told to have ended, with the names of Python's own errors.
_ENDINGS = 64
_CALLS = 4096  # names of calls that are not allowed, and their lines, for an exercise
_LINES = 3  # told of an exercise at most
_DTYPES, _DEVICES = 4, 2
_UNKNOWN = 8  # variants of a test whose list is not written out


def most_bits(course: Course, week: Week) -> int:
    """How many bits a result of this week tells at most, by what the course shows."""
    return bits(
        len(week.exercises),
        sum(map(_tests, course.graders(week).glob("test_*.py"))),
        len(Bank(course, week).misconceptions),
        course.registry.immediate.show,
    )


def bits(exercises: int, tests: int, misconceptions: int, show: str) -> int:
    """Each misconception is named or not, each exercise has three lines at most, and each test, on
    each device and number type, one of so many endings. The points are made of these.
    """
    if show == "nothing":
        return 0
    named = misconceptions + exercises * _LINES * math.log2(MOST_SIGNS + 1)
    if show == "names":
        return math.ceil(named)
    return math.ceil(named + exercises * math.log2(_CALLS) + tests * math.log2(_ENDINGS))


def _tests(path: Path) -> int:
    """The hidden tests of a file, with all their variants."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    return sum(_variants(f) for f in functions if f.name.startswith("test_"))


def _variants(function: ast.FunctionDef) -> int:
    arguments = {a.arg for a in function.args.args}
    count = _DEVICES if "device" in arguments else 1
    dtypes = _DTYPES if "dtype" in arguments else 1
    for mark in function.decorator_list:
        if not isinstance(mark, ast.Call) or not isinstance(mark.func, ast.Attribute):
            continue
        if mark.func.attr == "dtypes":
            dtypes = max(1, len(mark.args))
        elif mark.func.attr == "parametrize" and len(mark.args) > 1:
            values = mark.args[1]
            written = isinstance(values, ast.List | ast.Tuple)
            count *= len(values.elts) if written else _UNKNOWN  # type: ignore[attr-defined]
    return count * dtypes
