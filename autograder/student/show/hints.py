"""Hints, one stage at a time, and which of them a student has seen.

hints.md holds a section per exercise (`## softmax`) with numbered stages.
"""

from __future__ import annotations

import re

import msgspec

from ...model.errors import KitError
from ..folder.state import recall, remember
from ..folder.week import WeekFolder

FILE = "hints.md"
_SECTION = re.compile(r"^##\s+`?([A-Za-z_]\w*)`?\s*$")
_STAGE = re.compile(r"^\d+\.\s+(.*)$")


class Hint(msgspec.Struct, frozen=True):
    """One stage of an exercise's hints; `number` counts from 1."""

    exercise: str
    text: str
    number: int
    total: int


def parse_hints(text: str) -> dict[str, tuple[str, ...]]:
    """The stages per exercise; a stage ends at the next number or at a blank line's end."""
    hints: dict[str, list[list[str]]] = {}
    stages: list[list[str]] | None = None
    for line in text.split("\n"):
        section, stage = _SECTION.match(line), _STAGE.match(line)
        if section:
            stages = hints.setdefault(section.group(1), [])
        elif line.startswith("#"):
            stages = None
        elif stages is not None and stage:
            stages.append([stage.group(1)])
        elif stages and line.strip():
            stages[-1].append(line.strip())
    return {name: tuple(" ".join(lines) for lines in some) for name, some in hints.items()}


def stages_of(folder: WeekFolder, exercise: str) -> tuple[str, ...]:
    try:
        text = (folder.path / FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ()
    return parse_hints(text).get(exercise, ())


def seen(folder: WeekFolder, exercise: str) -> int:
    """How many stages were shown."""
    return min(recall(folder.memory).hints.get(exercise, 0), len(stages_of(folder, exercise)))


def shown_hints(folder: WeekFolder, exercise: str) -> list[Hint]:
    """The stages that were shown already."""
    stages = stages_of(folder, exercise)
    count = seen(folder, exercise)
    return [Hint(exercise, stages[n], n + 1, len(stages)) for n in range(count)]


def next_hint(folder: WeekFolder, exercise: str) -> Hint | None:
    """The first stage not shown yet, which counts as shown from now on; None after the last."""
    folder.exercise(exercise)
    stages = stages_of(folder, exercise)
    if not stages:
        raise KitError(f"there are no hints for {exercise} in {folder.path.name}/{FILE}")
    state = recall(folder.memory)
    number = state.hints.get(exercise, 0)
    if number >= len(stages):
        return None
    state.hints[exercise] = number + 1
    remember(folder.memory, state)
    return Hint(exercise, stages[number], number + 1, len(stages))
