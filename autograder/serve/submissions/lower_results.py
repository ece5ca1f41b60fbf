"""Report a lower result, by what the course lets its student see.

Points are compared only where they are shown; otherwise the exercises that are right, then the
checks that pass. Where neither is shown, nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...model.report.verdicts import Ending
from ..views.disclosed import Told

_RIGHT = ("complete", "carried")


class Better(msgspec.Struct, frozen=True):
    """An earlier or later submission with a better result, and the sentence that says so."""

    receipt: str
    received: str
    sentence: str
    restorable: bool = False


def better_of(own: Told | None, others: Iterable[tuple[str, str, Told | None]]) -> Better | None:
    """Return the best of `others` (receipt, time, result) if it beats `own`, or None."""
    if own is None or own.verdict != Ending.GRADED:
        return None
    graded = [(r, w, told) for r, w, told in others if told and told.verdict == Ending.GRADED]
    visible = [(_worth(told), receipt, when, told) for receipt, when, told in graded]
    best = max(visible, default=None, key=lambda one: one[0])
    if best is None or best[0] <= _worth(own):
        return None
    _, receipt, when, told = best
    return Better(receipt, when, _sentence(own, told, when))


def _worth(told: Told) -> tuple[float, ...]:
    """Return what can be compared of a result; empty if the student sees none of it."""
    if told.score is not None:
        return (told.score,)
    if not any(e.state for e in told.exercises):
        return ()
    return (_right(told), sum(e.holds for e in told.exercises))


def _right(told: Told) -> int:
    return sum(e.state in _RIGHT for e in told.exercises)


def _sentence(own: Told, best: Told, when: str) -> str:
    if own.score is not None and best.score is not None:
        return (
            f"This submission scored {own.score:g} of {own.max_score:g} points. Your submission "
            f"from {when} scored {best.score:g}."
        )
    if _right(own) != _right(best):
        return (
            f"{_right(own)} of {len(own.exercises)} exercises are right in this submission. In "
            f"your submission from {when}, {_right(best)} were right."
        )
    return f"Fewer checks pass than in your submission from {when}."
