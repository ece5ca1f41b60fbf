"""The commands `check`, `hint`, `progress` and `reset` in a terminal."""

from __future__ import annotations

from pathlib import Path

from ...model.errors import KitError
from ..checks.launcher import WarmPython
from ..checks.stages import run_stages, staged_folder
from ..folder.week import open_all, open_folder
from ..show.terminal import console, writes_unicode
from .check import check_week


def run_check(exercise: str | None, folder: Path | None, seconds: float) -> bool:
    """Check one exercise, or all; return whether all passed."""
    stages = staged_folder(exercise, folder) if exercise else None
    if stages is not None:
        return run_stages(stages, folder)
    opened = open_folder(folder)
    names = [opened.exercise(exercise).name] if exercise else list(opened.names)
    opened.source()
    warm = WarmPython(opened, once=True)  # imports torch while this process imports rich
    try:
        from ...terminal.console import terminal

        with terminal(stderr=True).status("  importing torch", spinner="line") as status:
            result = check_week(
                opened,
                names,
                seconds=seconds,
                on_begin=lambda name: status.update(f"  checking {name}"),
                warm=warm,
            )
    finally:
        warm.close()
    from ..show.check_text import show

    show(console(), result)
    return result.passed


def run_hint(exercise: str | None, folder: Path | None, again: bool) -> bool:
    """Show the next hint, or with `again` those shown before; return False if none is left."""
    from ..show.check_text import hint_lines, layout_of
    from ..show.hints import next_hint, past_hints
    from ..show.progress import next_to_do

    opened = open_folder(folder)
    name = opened.exercise(exercise).name if exercise else next_to_do(opened)
    fresh = None if again else next_hint(opened, name)
    hints = [fresh] if fresh else past_hints(opened, name)
    out = console()
    for hint in hints:
        for line in hint_lines(hint, layout_of(out).width):
            out.print(line, soft_wrap=True)
    if again and not hints:
        out.print(f"No hint for {name} has been shown yet: `autograder hint {name}` shows one.")
    elif not fresh and not again:
        out.print(f"You have seen all hints for {name}. Read the lesson, or ask.")
    return bool(fresh) or again


def run_progress(folder: Path | None) -> None:
    """Show the progress in each week."""
    from ..show.check_text import layout_of
    from ..show.progress import progress_lines, week_progress

    weeks = open_all(folder)
    if not weeks:
        raise KitError("there is no week of the course here: `cd` to the folder with your weeks")
    out = console()
    width = layout_of(out).width
    for line in progress_lines([week_progress(w) for w in weeks], writes_unicode(out), width):
        out.print(line, soft_wrap=True)


def run_reset(exercise: str | None, everything: bool, folder: Path | None) -> None:
    """Restore the stub of an exercise, or of the whole file."""
    from ..folder.reset import reset_all, reset_exercise

    if (exercise is None) != everything:
        raise KitError("name one exercise to reset, or use --all")
    opened = open_folder(folder)
    backup = reset_all(opened) if exercise is None else reset_exercise(opened, exercise)
    what = opened.week.module if exercise is None else f"{exercise} in {opened.week.module}"
    print(f"{what} is restored to its stub.")
    if backup:
        print(f"Your previous file: {backup.relative_to(opened.path).as_posix()}")
