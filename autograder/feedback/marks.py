"""What a person gave: the marks and comments of the gradebook, as a feedback page shows them."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Mark:
    """What the gradebook holds for one exercise or question."""

    name: str
    score: float
    points: float
    by_person: bool = False
    waiting: bool = False  # nobody has marked it yet
    comment: Markup | None = None


@dataclass(frozen=True)
class Marks:
    """A week's standing in the gradebook; `penalty` is what being late costs."""

    score: float
    max_score: float
    penalty: float
    given: tuple[Mark, ...] = ()

    @property
    def total(self) -> float:
        return max(0.0, self.score - self.penalty)

    def of(self, name: str) -> Mark | None:
        return next((m for m in self.given if m.name == name), None)
