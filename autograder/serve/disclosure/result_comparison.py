"""Compare a result with the student's other visible results.

Scores are compared only if the course shows them, otherwise the number of correct exercises, then
the number of passing checks. Results without any of these are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...model.report.verdicts import Ending
from .visible_results import VisibleResult

_CORRECT = ("complete", "carried")


class BetterSubmission(msgspec.Struct, frozen=True):
    """Another submission with a better result, and a sentence that compares them."""

    receipt: str
    received: str
    sentence: str
    restorable: bool = False


def better_submission(
    own: VisibleResult | None, others: Iterable[tuple[str, str, VisibleResult | None]]
) -> BetterSubmission | None:
    """Return the best of `others` (receipt, time, result) if it is better than `own`, or None."""
    if own is None or own.verdict != Ending.GRADED:
        return None
    graded = [
        (_merit(result), receipt, when, result)
        for receipt, when, result in others
        if result is not None and result.verdict == Ending.GRADED
    ]
    merit, receipt, when, result = max(graded, default=((), "", "", own), key=lambda one: one[0])
    if merit <= _merit(own):
        return None
    return BetterSubmission(receipt, when, _sentence(own, result, when))


def _merit(result: VisibleResult) -> tuple[float, ...]:
    """Return the values that are compared, or () if none is visible."""
    if result.score is not None:
        return (result.score,)
    if not any(e.state for e in result.exercises):
        return ()
    return (_correct(result), sum(e.passing for e in result.exercises))


def _correct(result: VisibleResult) -> int:
    return sum(e.state in _CORRECT for e in result.exercises)


def _sentence(own: VisibleResult, best: VisibleResult, when: str) -> str:
    if own.score is not None and best.score is not None:
        return (
            f"This submission scored {own.score:g} of {own.max_score:g} points. Your submission "
            f"from {when} scored {best.score:g}."
        )
    if _correct(own) != _correct(best):
        return (
            f"{_correct(own)} of {len(own.exercises)} exercises are correct in this submission. In "
            f"your submission from {when}, {_correct(best)} were correct."
        )
    return f"Fewer checks pass than in your submission from {when}."
