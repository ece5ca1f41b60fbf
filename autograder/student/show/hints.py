"""Hints in stages, and the number of hints that a student has seen.

hints.md contains a section per exercise (`## softmax`) with numbered hints, each more concrete than
the one before.
"""

from __future__ import annotations

import re

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


def parse_hints(text: str) -> dict[str, tuple[str, ...]]:
    """Return the hints of each exercise; a line without a number continues the previous hint."""
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


def hints_of(folder: WeekFolder, exercise: str) -> list[Hint]:
    """Return all hints for an exercise, or [] if hints.md cannot be read."""
    try:
        text = (folder.path / FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    hints = parse_hints(text).get(exercise, ())
    return [Hint(exercise, hint, n, len(hints)) for n, hint in enumerate(hints, start=1)]


def past_hints(folder: WeekFolder, exercise: str) -> list[Hint]:
    """Return the hints that have been shown."""
    return hints_of(folder, exercise)[: load_state(folder.memory).hints.get(exercise, 0)]


def hints_to_show(folder: WeekFolder, exercise: str, again: bool) -> tuple[list[Hint], str]:
    """Return the hints shown so far and the next one, and mark it as shown.

    again: return only those shown so far. The second value is a message if no hint is left, or "".
    """
    hints = past_hints(folder, exercise)
    if again:
        return hints, "" if hints else f"No hint for {exercise} has been shown yet."
    every = hints_of(folder, exercise)
    if not every:
        raise KitError(f"there are no hints for {exercise} in {folder.path.name}/{FILE}")
    if len(hints) == len(every):
        return hints, f"You have seen all hints for {exercise}. Read the lesson, or ask."
    state = load_state(folder.memory)
    state.hints[exercise] = len(hints) + 1
    save_state(folder.memory, state)
    return every[: len(hints) + 1], ""
