"""What the grader would refuse, said before it costs points: the rules of `model/source/rules.py`.

The graders see calls when they happen, whatever they are called. In the source plain ones are seen,
`torch.softmax(x)`, `x.softmax(-1)`, or an imported name; others while the public checks run (see
`notice.py`). All else is read by the same code.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from ...model.source.reachable import Sources
from ...model.source.rules import Refusal, Rules, missing_imports, plain_calls, refusals, texts_of
from ..checks.results import CheckOutcome, Failure
from .week import WeekFolder

_MOST_FILES = 200
_CLAIM = "only what is allowed"


def refused_in(folder: WeekFolder) -> dict[str, CheckOutcome]:
    """By exercise, the first thing in the student's files that the grader would refuse."""
    files = {}
    for path in islice(sorted(folder.path.rglob("*.py")), _MOST_FILES):
        if path.is_file():
            files[path.relative_to(folder.path).as_posix()] = path.read_bytes()
    found = refused(files, folder.week.module, folder.week.rules, folder.week.extras)
    return {
        exercise: CheckOutcome("", exercise, _CLAIM, _failure(refusal))
        for exercise, refusal in found.items()
    }


def called(outcomes: list[CheckOutcome]) -> CheckOutcome | None:
    """What a check of an exercise saw called that is not allowed."""
    for outcome in outcomes:
        if outcome.failure and outcome.failure.kind == "forbidden":
            return CheckOutcome("", outcome.exercise, _CLAIM, outcome.failure)
    return None


def refused(
    files: Mapping[str, bytes], module: str, rules: Mapping[str, Rules], extras: tuple[str, ...]
) -> dict[str, Refusal]:
    """The same for files that are read already."""
    sources = Sources(texts_of(files), module)
    absent = missing_imports(sources, tuple(rules), extras)
    return plain_calls(sources, rules) | refusals(sources, rules) | absent


def _failure(refusal: Refusal) -> Failure:
    return Failure("forbidden", refusal.message, refusal.name[:60], line=refusal.line)
