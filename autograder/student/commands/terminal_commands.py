"""The student's commands on a terminal."""

from __future__ import annotations

from pathlib import Path

from ..checks.launcher import WarmPython
from ..checks.stages import run_stages, staged_folder
from ..folder.week import WeekFolder, open_folder
from ..show.terminal import console
from .check import check_week


def run_check(exercise: str | None, folder: Path | None, seconds: float) -> bool:
    """Check and show; return whether all passed."""
    together = staged_folder(exercise, folder) if exercise else None
    if together is not None:
        return run_stages(together, folder)
    opened = open_folder(folder)
    names = [opened.exercise(exercise).name] if exercise else list(opened.names)
    opened.source()
    warm = WarmPython(opened, once=True)  # it imports torch while this Python imports rich
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
    """Show the next hint; False if all were shown before."""
    from ..show.check_text import hint_lines
    from ..show.hints import next_hint, shown_hints

    opened = open_folder(folder)
    name = opened.exercise(exercise).name if exercise else to_work_on(opened)
    fresh = None if again else next_hint(opened, name)
    hints = [fresh] if fresh else shown_hints(opened, name)
    out = console()
    for hint in hints:
        for line in hint_lines(hint, max(40, out.width)):
            out.print(line, soft_wrap=True)
    if again and not hints:
        out.print(f"No hint for {name} was shown yet: `autograder hint {name}` gives the first.")
    elif not fresh and not again:
        out.print(f"You have seen all hints for {name}. The lesson or a person can tell you more.")
    return bool(fresh) or again


def run_progress(folder: Path | None) -> None:
    from ...model.errors import KitError
    from ..folder.week import open_all
    from ..show.check_text import writes_unicode
    from ..show.progress import progress_lines, week_progress

    weeks = open_all(folder)
    if not weeks:
        raise KitError("there is no week of the course here: `cd` to where your weeks are")
    out = console()
    room = max(40, out.width)
    for line in progress_lines([week_progress(w) for w in weeks], writes_unicode(out), room):
        out.print(line, soft_wrap=True)


def run_reset(exercise: str | None, everything: bool, folder: Path | None) -> None:
    from ...model.errors import KitError
    from ..folder.reset import reset_all, reset_exercise

    if (exercise is None) != everything:
        raise KitError("name one exercise to reset, or use --all")
    opened = open_folder(folder)
    kept = reset_all(opened) if exercise is None else reset_exercise(opened, exercise)
    what = opened.week.module if exercise is None else f"{exercise} in {opened.week.module}"
    print(f"{what} is as it was handed out.")
    if kept:
        print(f"Your file as it was: {kept.relative_to(opened.path).as_posix()}")


def to_work_on(folder: WeekFolder) -> str:
    """The first exercise that the last check left failing, else the first not passed."""
    from ..show.progress import standings

    some = standings(folder)
    order = [s for s in some if s.state == "fail"] + [s for s in some if s.state != "pass"] + some
    return order[0].name
