"""Show progress over all weeks, from the results of the last checks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import msgspec
from rich.text import Text

from ...model.errors import KitError
from ..folder.source import fingerprints
from ..folder.state import load_state
from ..folder.week import WeekFolder
from .check_text import wrapped
from .wording import MARKS, PLAIN_MARKS, STATES, points

_BAR = 20
REMINDER = "These are the public checks; hidden tests and your written answers decide the score."


class ExerciseProgress(msgspec.Struct, frozen=True):
    """The state of an exercise at its last check, and whether the file has changed since."""

    name: str
    points: float
    state: str  # as in results.State, or "unknown"
    passed: int = 0
    total: int = 0
    changed: bool = False

    @property
    def status(self) -> str:
        """A few words on the state; "" if it passes."""
        if self.state == "pass":
            return ""
        if self.state == "unknown":
            return "changed since the last check" if self.changed else "not checked yet"
        return STATES.get(self.state, f"{self.passed} of {self.total} checks")


class WeekProgress(msgspec.Struct, frozen=True):
    """A week and the progress in its exercises."""

    heading: str
    due: dt.datetime
    exercises: tuple[ExerciseProgress, ...]

    @property
    def done(self) -> float:
        return sum(e.points for e in self.exercises if e.state == "pass")

    @property
    def total(self) -> float:
        return sum(e.points for e in self.exercises)


def week_progress(folder: WeekFolder) -> WeekProgress:
    """Return the progress in a week without running anything."""
    checked = load_state(folder.memory).checked
    try:
        source = folder.source()
    except KitError:
        source = ""
    now, stub = (_fingerprints(folder, text) for text in (source, folder.week.stub))
    found = []
    for e in folder.week.exercises:
        last = checked.get(e.name)
        counts = (last.passed, last.total) if last else (0, 0)
        if last and last.fingerprint == now.get(e.name):
            found.append(ExerciseProgress(e.name, e.points, last.state, *counts))
        elif e.name in now and now[e.name] == stub.get(e.name):
            found.append(ExerciseProgress(e.name, e.points, "open"))
        else:
            found.append(ExerciseProgress(e.name, e.points, "unknown", *counts, bool(last)))
    return WeekProgress(folder.heading, folder.week.due, tuple(found))


def _fingerprints(folder: WeekFolder, source: str) -> dict[str, str]:
    try:
        return fingerprints(source, folder.names)
    except (SyntaxError, ValueError):
        return {}


def next_to_do(folder: WeekFolder) -> str:
    """Return the exercise to work on: the first that fails, or the first that has not passed."""
    exercises = week_progress(folder).exercises
    order = {"fail": 0, "pass": 2}
    return min(exercises, key=lambda e: order.get(e.state, 1)).name


def progress_lines(
    weeks: list[WeekProgress], unicode: bool = True, width: int = 80
) -> Iterator[Text]:
    """Format a bar for each week and a line for each exercise."""
    marks = MARKS if unicode else PLAIN_MARKS
    column = max((len(e.name) for week in weeks for e in week.exercises), default=0)
    for week in weeks:
        yield Text(week.heading, style="bold")
        passed = f"{week.done:g} of {points(week.total)} pass public checks"
        due = f" · due {week.due:%d %b %H:%M}" if week.done < week.total else ""
        yield from wrapped(f"{bar(week.done, week.total, _BAR, unicode)}  {passed}{due}", 2, width)
        for e in week.exercises:
            style = {"pass": "green", "fail": "red"}.get(e.state, "dim")
            line = Text("  ").append(f"{marks[e.state]} ", style=style)
            row = f"{e.name:{column}}  {points(e.points):<10}{e.status}".rstrip()
            if len(row) + 4 <= width:
                yield line.append(row)
            else:
                yield line.append(e.name)
                yield from wrapped(f"{points(e.points)}, {e.status}".rstrip(", "), 6, width)
        yield Text()
    yield from wrapped(REMINDER, 0, width)


def bar(part: float, whole: float, width: int, unicode: bool) -> str:
    filled = int(width * part / whole) if whole else 0
    full, empty = ("█", "░") if unicode else ("#", ".")
    return full * filled + empty * (width - filled)
