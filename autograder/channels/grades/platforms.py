"""What a learning platform looks like to whoever pushes grades to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...lms.roster import RosterEntry


@dataclass(frozen=True)
class HeldGrade:
    """What a platform holds of one person: the points entered, and all comments."""

    points: float | None = None
    comments: tuple[str, ...] = ()


class Platform(Protocol):
    """One assignment of a platform. People are named by the platform's own numbers."""

    name: str

    def people(self) -> list[RosterEntry]:
        """The students of the course; `number` is what the platform calls them."""
        ...

    def most(self) -> float | None:
        """What the assignment is worth there; None if there is none yet."""
        ...

    def held(self) -> dict[str, HeldGrade]:
        """What is there now, by number."""
        ...

    def write(self, number: str, points: float, most: float, comment: str | None) -> str:
        """Enter points, and a comment if there is one; what is to be said about it, or ""."""
        ...
