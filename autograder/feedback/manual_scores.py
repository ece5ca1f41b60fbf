"""Scores, manual marks and comments of the gradebook for a feedback page."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Mark:
    """The score and comment of one exercise or question in the gradebook."""

    name: str
    score: float
    points: float
    by_person: bool = False
    waiting: bool = False  # not marked yet
    comment: Markup | None = None


@dataclass(frozen=True)
class Marks:
    """A week's scores in the gradebook; `penalty` is the late penalty in points."""

    score: float
    max_score: float
    penalty: float
    given: tuple[Mark, ...] = ()

    @property
    def total(self) -> float:
        return max(0.0, self.score - self.penalty)

    def of(self, name: str) -> Mark | None:
        return next((m for m in self.given if m.name == name), None)
