"""Compare a result with the student's other visible results.

Scores are compared only if the course shows them, otherwise the number of correct exercises, then
the number of passing checks. Results without any of these are not compared.
"""

from __future__ import annotations

from ...model.report.schema import Ending
from .visible_results import VisibleResult

_CORRECT = ("complete", "carried")


def merit(result: VisibleResult | None) -> tuple[float, ...]:
    """Return the values that comparisons use, or () if none is visible."""
    if result is None or result.verdict != Ending.GRADED:
        return ()
    if result.score is not None:
        return (result.score,)
    if not any(e.state for e in result.exercises):
        return ()
    return (_correct(result), sum(e.passing for e in result.exercises))


def comparison(own: VisibleResult, best: VisibleResult, when: str) -> str:
    """Return a sentence that compares a result with a better one from another submission."""
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


def _correct(result: VisibleResult) -> int:
    return sum(e.state in _CORRECT for e in result.exercises)
