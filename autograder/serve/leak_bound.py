"""How much one result can tell of what a submission saw: an upper bound, to choose `tries` by."""

from __future__ import annotations

import ast
import math
from pathlib import Path

from ..grading.disclosure.line_disclosure import SUBMISSION_BITS
from ..model.course.loader import Course, Week
from ..worker.protocol.dtypes import TEST_DTYPES

_MOMENT = 0.3  # seconds between two states of a page
# How a test may end: it passes, fails, is carried or was not run; and for the points, whether a
# named mistake explains the failure.
_STATES = {"names": 1, "verdicts": 4, "scores": 5}
_DEVICES = 2
_UNKNOWN = 8  # variants of a test whose list is not written out


def most_bits(course: Course, week: Week) -> int:
    """Return how many bits a result of this week tells at most, by what the course shows."""
    tests = sum(map(_tests, course.graders(week).glob("test_*.py")))
    moments = course.limits(week).submission_seconds / _MOMENT
    return bits(len(week.exercises), tests, moments, course.registry.immediate.show)


def bits(exercises: int, tests: int, moments: float, show: str) -> int:
    """Return how many bits a result tells at most: one ration, how each test ended, and when.

    The points follow from these. tests: on each device and number type. moments: how many times
    can be told apart at which an exercise is reported
    """
    if show == "nothing":
        return 0
    told = SUBMISSION_BITS + tests * math.log2(_STATES[show])
    return math.ceil(told + exercises * math.log2(1 + moments))


def _tests(path: Path) -> int:
    """The hidden tests of a file, with all their variants."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    return sum(_variants(f) for f in functions if f.name.startswith("test_"))


def _variants(function: ast.FunctionDef) -> int:
    arguments = {a.arg for a in function.args.args}
    count = _DEVICES if "device" in arguments else 1
    dtypes = len(TEST_DTYPES) if "dtype" in arguments else 1
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
