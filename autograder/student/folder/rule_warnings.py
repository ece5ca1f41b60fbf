"""Warn about code that the grader would refuse, using the rules in `model/source/rules.py`.

This module finds plain calls in the source: `torch.softmax(x)`, `x.softmax(-1)`, or imported names.
Calls through an alias are found while the public checks run (checks/forbidden_calls.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from ...model.source.reachable import Sources
from ...model.source.rules import Refusal, Rules, missing_imports, plain_calls, refusals, texts_of
from ..checks.check_results import CheckOutcome, Failure
from .week import WeekFolder

_MAX_FILES = 200


def refused_outcomes(folder: WeekFolder, outcomes: list[CheckOutcome]) -> dict[str, CheckOutcome]:
    """Return a failed outcome for each exercise that the grader would refuse.

    Exercises are refused for broken rules in the student's files and forbidden calls in `outcomes`.
    """
    files = {}
    for path in islice(sorted(folder.path.rglob("*.py")), _MAX_FILES):
        if path.is_file():
            files[path.relative_to(folder.path).as_posix()] = path.read_bytes()
    found = find_refusals(files, folder.week.module, folder.week.rules, folder.week.extras)
    failures = {
        o.exercise: o.failure
        for o in reversed(outcomes)
        if o.failure and o.failure.kind == "forbidden"
    } | {
        name: Failure("forbidden", r.message, r.name[:60], line=r.line) for name, r in found.items()
    }
    return {n: CheckOutcome("", n, "only what is allowed", f) for n, f in failures.items()}


def find_refusals(
    files: Mapping[str, bytes], module: str, rules: Mapping[str, Rules], extras: tuple[str, ...]
) -> dict[str, Refusal]:
    """Return the first broken rule of each exercise, for files that are already read."""
    sources = Sources(texts_of(files), module)
    absent = missing_imports(sources, tuple(rules), extras)
    return plain_calls(sources, rules) | refusals(sources, rules) | absent
