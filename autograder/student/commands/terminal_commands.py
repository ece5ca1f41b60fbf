"""The commands `check`, `hint`, `progress` and `reset` in a terminal."""

from __future__ import annotations

from pathlib import Path

from ...model.errors import KitError
from ...terminal.console import terminal
from ..checks.stages import run_stages, staged_folder
from ..folder.reset import reset_all, reset_exercise
from ..folder.week import open_all, open_folder
from ..show.check_text import hint_lines, layout_of, show
from ..show.hints import hints_to_show
from ..show.progress import next_to_do, progress_lines, week_progress
from ..show.terminal import console
from .check import check_week


def run_check(exercise: str | None, folder: Path | None, seconds: float) -> bool:
    """Check one exercise, or all; return whether all passed."""
    stages = staged_folder(exercise, folder) if exercise else None
    if stages is not None:
        return run_stages(stages, folder)
    opened = open_folder(folder)
    names = [opened.exercise(exercise).name] if exercise else list(opened.names)
    with terminal(stderr=True).status("  checking", spinner="line"):
        result = check_week(opened, names, seconds=seconds)
    show(console(), result)
    return result.passed


def run_hint(exercise: str | None, folder: Path | None, again: bool) -> bool:
    """Show the hints so far and one more; return False if none is left."""
    opened = open_folder(folder)
    name = opened.exercise(exercise).name if exercise else next_to_do(opened)
    hints, message = hints_to_show(opened, name, again)
    out = console()
    for hint in hints:
        for line in hint_lines(hint, layout_of(out).width):
            out.print(line, soft_wrap=True)
    if message:
        out.print(message, soft_wrap=True)
    return again or not message


def run_progress(folder: Path | None) -> None:
    """Show the progress in each week."""
    weeks = open_all(folder)
    if not weeks:
        raise KitError("there is no week of the course here: `cd` to the folder with your weeks")
    out = console()
    for line in progress_lines([week_progress(w) for w in weeks], layout_of(out)):
        out.print(line, soft_wrap=True)


def run_reset(exercise: str | None, everything: bool, folder: Path | None) -> None:
    """Restore the stub of an exercise, or of the whole file."""
    if (exercise is None) != everything:
        raise KitError("name one exercise to reset, or use --all")
    opened = open_folder(folder)
    backup = reset_all(opened) if exercise is None else reset_exercise(opened, exercise)
    what = opened.week.module if exercise is None else f"{exercise} in {opened.week.module}"
    print(f"{what} is restored to its stub.")
    if backup:
        print(f"Your previous file: {backup.relative_to(opened.path).as_posix()}")
