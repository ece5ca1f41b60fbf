"""How far a student is, over all weeks, from what the last checks left behind."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from rich.text import Text

from ..model.errors import KitError
from .source import fingerprints
from .state import recall
from .week import WeekFolder
from .words import MARKS, PLAIN_MARKS, points

_BAR = 20


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


def progress_lines(folders: list[WeekFolder], unicode: bool = True) -> Iterator[Text]:
    """A bar per week and a line per exercise."""
    marks = (MARKS if unicode else PLAIN_MARKS) | {"unknown": "?"}
    every = {f.week.week: standings(f) for f in folders}
    width = max((len(s.name) for some in every.values() for s in some), default=0)
    for folder in folders:
        some = every[folder.week.week]
        done = sum(s.points for s in some if s.state == "pass")
        total = sum(s.points for s in some)
        yield Text(folder.heading, style="bold")
        line = Text(
            f"  {_bar(done, total, unicode)}  {done:g} of {points(total)} pass public checks"
        )
        yield line.append(f" · due {folder.week.due:%d %b %H:%M}" if done < total else "")
        for s in some:
            yield _row(s, marks, width, unicode)
        yield Text()
    yield Text("These are the public checks; the hidden ones and your answers decide.")


def _row(s: ExerciseProgress, marks: dict[str, str], width: int, unicode: bool) -> Text:
    words = {
        "pass": "",
        "open": "not written yet",
        "waiting": "waits for another",
        "skipped": "cannot run here",
        "unknown": "changed since" if s.changed else "not checked yet",
    }.get(s.state, f"{s.passed} of {s.total} checks")
    style = {"pass": "green", "fail": "red"}.get(s.state, "dim")
    line = Text("  ").append(f"{marks[s.state]} ", style=style)
    line.append(s.name.ljust(width + 2))
    share = (s.passed, s.total) if s.state == "fail" else (int(s.state == "pass"), 1)
    line.append(f"{_bar(*share, unicode=unicode, width=8)}  {points(s.points):<10}{words}")
    line.rstrip()
    return line


def _bar(part: float, whole: float, unicode: bool = True, width: int = _BAR) -> str:
    filled = int(width * part / whole) if whole else 0
    full, empty = ("█", "░") if unicode else ("#", ".")
    return full * filled + empty * (width - filled)
