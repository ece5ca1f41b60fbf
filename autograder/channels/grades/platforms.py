"""The interface of learning platforms to which grades are pushed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...lms.roster import RosterEntry


@dataclass(frozen=True)
class HeldGrade:
    """The current grade of one person on a platform: points and all comments."""

    points: float | None = None
    comments: tuple[str, ...] = ()


class Platform(Protocol):
    """One assignment on a platform. People are identified by the platform's ids."""

    name: str

    def people(self) -> list[RosterEntry]:
        """Return the students of the course; `number` is the platform's id."""
        ...

    def most(self) -> float | None:
        """Return the points of the assignment, or None if it does not exist yet."""
        ...

    def held(self) -> dict[str, HeldGrade]:
        """Return the current grades by id."""
        ...

    def write(self, number: str, points: float, most: float, comment: str | None) -> str:
        """Enter points and, unless None, a comment; return a warning or ""."""
        ...
