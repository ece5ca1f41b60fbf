"""Hints in stages, and how many of them a student has seen.

hints.md contains a section per exercise (`## softmax`) with numbered hints, each more concrete than
the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from ...model.errors import KitError
from ..folder.state import load_state, save_state
from ..folder.week import WeekFolder

FILE = "hints.md"
_SECTION = re.compile(r"^##\s+`?([A-Za-z_]\w*)`?\s*$")
_HINT = re.compile(r"^\d+\.\s+(.*)$")


class Hint(msgspec.Struct, frozen=True):
    """One hint for an exercise; `number` counts from 1."""

    exercise: str
    text: str
    number: int
    total: int

    @property
    def heading(self) -> str:
        return f"{self.exercise}, hint {self.number} of {self.total}"


def parse_hints(text: str) -> dict[str, tuple[str, ...]]:
    """Return the hints of each exercise; lines without a number continue the hint above."""
    hints: dict[str, list[str]] = {}
    section: list[str] | None = None
    for line in text.split("\n"):
        if heading := _SECTION.match(line):
            section = hints.setdefault(heading[1], [])
        elif line.startswith("#"):
            section = None
        elif section is not None and (numbered := _HINT.match(line)):
            section.append(numbered[1])
        elif section and line.strip():
            section[-1] += f" {line.strip()}"
    return {name: tuple(some) for name, some in hints.items()}


def hints_of(folder: WeekFolder, exercise: str) -> tuple[str, ...]:
    """Return all hints for an exercise; none if hints.md cannot be read."""
    try:
        text = (folder.path / FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ()
    return parse_hints(text).get(exercise, ())


def hints_used(folder: WeekFolder, exercise: str) -> int:
    return min(load_state(folder.memory).hints.get(exercise, 0), len(hints_of(folder, exercise)))


def past_hints(folder: WeekFolder, exercise: str) -> list[Hint]:
    """Return the hints that have been shown."""
    return list(_numbered(folder, exercise))[: hints_used(folder, exercise)]


def next_hint(folder: WeekFolder, exercise: str) -> Hint | None:
    """Return the next hint and count it as shown, or None if all have been shown."""
    folder.exercise(exercise)
    hints = list(_numbered(folder, exercise))
    if not hints:
        raise KitError(f"there are no hints for {exercise} in {folder.path.name}/{FILE}")
    state = load_state(folder.memory)
    number = state.hints.get(exercise, 0)
    if number >= len(hints):
        return None
    state.hints[exercise] = number + 1
    save_state(folder.memory, state)
    return hints[number]


def _numbered(folder: WeekFolder, exercise: str) -> Iterator[Hint]:
    hints = hints_of(folder, exercise)
    return (Hint(exercise, text, n, len(hints)) for n, text in enumerate(hints, start=1))
