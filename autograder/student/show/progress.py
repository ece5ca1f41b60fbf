"""How far a student is, over all weeks, from what the last checks left behind."""

from __future__ import annotations

import datetime as dt
import textwrap
from collections.abc import Iterator

import msgspec
from rich.text import Text

from ...model.errors import KitError
from ..folder.source import fingerprints
from ..folder.state import recall
from ..folder.week import WeekFolder
from .wording import MARKS, PLAIN_MARKS, points

_BAR = 20
_BESIDE = 43  # columns of a row beside an exercise's name


class ExerciseProgress(msgspec.Struct, frozen=True):
    """One exercise: its points, how it stood, and whether the file changed since."""

    name: str
    points: float
    state: str  # as in results.State, or "unknown"
    passed: int = 0
    total: int = 0
    changed: bool = False


def standings(folder: WeekFolder) -> list[ExerciseProgress]:
    """Without running anything."""
    checked = recall(folder.memory).checked
    now = _fingerprints(folder, _source(folder))
    untouched = _fingerprints(folder, folder.week.stub)
    found = []
    for e in folder.week.exercises:
        last = checked.get(e.name)
        if last and last.fingerprint == now.get(e.name):
            found.append(ExerciseProgress(e.name, e.points, last.state, last.passed, last.total))
        elif e.name in now and now[e.name] == untouched.get(e.name):
            found.append(ExerciseProgress(e.name, e.points, "open"))
        elif last:
            found.append(
                ExerciseProgress(e.name, e.points, "unknown", last.passed, last.total, True)
            )
        else:
            found.append(ExerciseProgress(e.name, e.points, "unknown"))
    return found


def _source(folder: WeekFolder) -> str:
    try:
        return folder.source()
    except KitError:
        return ""


def _fingerprints(folder: WeekFolder, source: str) -> dict[str, str]:
    try:
        return fingerprints(source, folder.names)
    except (SyntaxError, ValueError):
        return {}


class WeekProgress(msgspec.Struct, frozen=True):
    """One week and how its exercises stand."""

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
    return WeekProgress(folder.heading, folder.week.due, tuple(standings(folder)))


def progress_lines(
    weeks: list[WeekProgress], unicode: bool = True, room: int = 80
) -> Iterator[Text]:
    """A bar per week and a line per exercise; in little room two."""
    marks = (MARKS if unicode else PLAIN_MARKS) | {"unknown": "?"}
    width = max((len(s.name) for week in weeks for s in week.exercises), default=0)
    for week in weeks:
        yield Text(week.heading, style="bold")
        told = f"{week.done:g} of {points(week.total)} pass public checks"
        due = f"due {week.due:%d %b %H:%M}" if week.done < week.total else ""
        bar = f"  {_bar(week.done, week.total, unicode)}"
        whole = f"{bar}  {told}{f' · {due}' if due else ''}"
        if len(whole) <= room:
            yield Text(whole)
        else:
            yield from (Text(line) for line in (bar, f"  {told}", f"  {due}") if line.strip())
        for s in week.exercises:
            yield from _row(s, marks, width, unicode, room)
        yield Text()
    last = "These are the public checks; hidden tests and your written answers decide the score."
    yield from (Text(line) for line in textwrap.wrap(last, room))


def words_of(s: ExerciseProgress) -> str:
    """How an exercise stands, in a few words; nothing if it passes."""
    return {
        "pass": "",
        "open": "not written yet",
        "waiting": "waits for another",
        "skipped": "cannot run here",
        "unknown": "changed since" if s.changed else "not checked yet",
    }.get(s.state, f"{s.passed} of {s.total} checks")


def _row(
    s: ExerciseProgress, marks: dict[str, str], width: int, unicode: bool, room: int
) -> Iterator[Text]:
    style = {"pass": "green", "fail": "red"}.get(s.state, "dim")
    line = Text("  ").append(f"{marks[s.state]} ", style=style)
    share = (s.passed, s.total) if s.state == "fail" else (int(s.state == "pass"), 1)
    told = f"{_bar(*share, unicode=unicode, width=8)}  {points(s.points):<10}{words_of(s)}".rstrip()
    if width + _BESIDE <= room:
        yield line.append(f"{s.name:{width}}  {told}")
    else:
        yield line.append(s.name)
        yield Text(f"      {', '.join(filter(None, (points(s.points), words_of(s))))}")


def _bar(part: float, whole: float, unicode: bool = True, width: int = _BAR) -> str:
    filled = int(width * part / whole) if whole else 0
    full, empty = ("█", "░") if unicode else ("#", ".")
    return full * filled + empty * (width - filled)
