"""Rank edits: likely mistakes first, and first on lines that errors and values point to.

The ranking only decides the order of the search.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...repair import Edit
from ..running.pytest_plugin import Ran
from .traces import NO_HINTS, ValueHints
from .tuning import AGREED_BONUS, DEVIATING_BONUS, NAMED_BONUS, STOPPED_BONUS


class Clues:
    """The lines that failed tests and recorded values of an exercise point to."""

    def __init__(self, failing: Iterable[Ran], hints: ValueHints = NO_HINTS) -> None:
        self._hints = hints
        self._named = {place for _, place in hints.named}
        self._stopped = {r.report.line for r in failing if r.report.line}

    def weight(self, edit: Edit) -> float:
        """Return the weight of an edit; the search tries lighter edits first."""
        stopped = STOPPED_BONUS if edit.line in self._stopped else 0.0
        return edit.weight + stopped + self._bonus_by_values(edit)

    def _bonus_by_values(self, edit: Edit) -> float:
        if edit.places & self._named:
            return NAMED_BONUS
        if edit.places & self._hints.agreed:  # less if a misconception is located
            return DEVIATING_BONUS if self._named else AGREED_BONUS
        return DEVIATING_BONUS if edit.places & self._hints.odd else 0.0
