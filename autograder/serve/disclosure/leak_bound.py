"""Compute how many bits about hidden inputs a result can reveal, as a guide for `tries`."""

from __future__ import annotations

import ast
import math
from pathlib import Path

from ...grading.disclosure.submission_budget import SUBMISSION_BITS
from ...model.course import Course, Week
from ...worker.protocol.dtypes import TEST_DTYPES

_RESOLUTION = 0.3  # seconds between two distinguishable times of a result
# How a test may end: it passes, fails, inherits a failure or was not run; for scores also whether a
# named mistake explains the failure.
_STATES = {"names": 1, "verdicts": 4, "scores": 5}
_DEVICES = 2
_UNKNOWN_VARIANTS = 8  # of a test whose parameters are not a literal list


def most_bits(course: Course, week: Week) -> int:
    """Return how many bits a result of this week reveals at most under the course's policy."""
    tests = sum(map(_count_tests, course.graders(week).glob("test_*.py")))
    moments = course.limits(week).submission_seconds / _RESOLUTION
    return bits(tests, moments, course.registry.immediate.show)


def bits(tests: int, moments: float, show: str) -> int:
    """Return how many bits a result reveals: the leak budget, how each test ended, and when.

    Scores follow from these.

    tests: number of tests, counted for each device and dtype
    moments: number of distinguishable times at which the result can appear
    """
    if show == "nothing":
        return 0
    revealed = SUBMISSION_BITS + tests * math.log2(_STATES[show])
    return math.ceil(revealed + math.log2(1 + moments))


def _count_tests(path: Path) -> int:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    return sum(_count_variants(f) for f in functions if f.name.startswith("test_"))


def _count_variants(function: ast.FunctionDef) -> int:
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
            literal = isinstance(values, ast.List | ast.Tuple)
            count *= len(values.elts) if literal else _UNKNOWN_VARIANTS  # type: ignore[attr-defined]
    return count * dtypes
