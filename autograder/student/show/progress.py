"""Show progress over all weeks, from the results of the last checks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import msgspec
from rich.text import Text

from ...model.errors import KitError
from ..checks.check_results import ExerciseResult
from ..folder.source import fingerprints
from ..folder.state import load_state
from ..folder.week import WeekFolder
from .check_text import Layout, table, wrapped
from .wording import points

_BAR = 20
REMINDER = "These are the public checks; hidden tests and your written answers decide the score."


class WeekProgress(msgspec.Struct, frozen=True):
    """A week and the state of each exercise after its last check."""

    heading: str
    due: dt.datetime
    exercises: tuple[ExerciseResult, ...]

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
    now, stub = (fingerprints(text, folder.names) for text in (source, folder.week.stub))
    found = []
    for e in folder.week.exercises:
        last = checked.get(e.name)
        result = ExerciseResult(e.name, e.points, "changed" if last else "unknown", 0, 0)
        if last and last.fingerprint == now.get(e.name):
            result = ExerciseResult(e.name, e.points, last.state, last.passed, last.total)
        elif e.name in now and now[e.name] == stub.get(e.name):
            result = ExerciseResult(e.name, e.points, "open", 0, 0)
        found.append(result)
    return WeekProgress(folder.heading, folder.week.due, tuple(found))


def next_to_do(folder: WeekFolder) -> str:
    """Return the exercise to work on: the first that fails, otherwise the first not yet passed."""
    exercises = week_progress(folder).exercises
    order = {"fail": 0, "pass": 2}
    return min(exercises, key=lambda e: order.get(e.state, 1)).name


def progress_lines(weeks: list[WeekProgress], layout: Layout = Layout()) -> Iterator[Text]:  # noqa: B008  # it is frozen
    """Format a bar for each week and a line for each exercise."""
    full, empty = ("█", "░") if layout.unicode else ("#", ".")
    for week in weeks:
        yield Text(week.heading, style="bold")
        filled = int(_BAR * week.done / week.total) if week.total else 0
        bar = full * filled + empty * (_BAR - filled)
        passed = f"{week.done:g} of {points(week.total)} pass public checks"
        due = f" · due {week.due:%d %b %H:%M}" if week.done < week.total else ""
        yield from wrapped(f"{bar}  {passed}{due}", 2, layout.width)
        yield from table(week.exercises, layout)
        yield Text()
    yield from wrapped(REMINDER, 0, layout.width)
