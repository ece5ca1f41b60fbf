"""`autograder watch`: check the exercises again after each save, and redraw the screen.

The checking process for the next save starts while the student reads, so torch is imported by then.
"""

from __future__ import annotations

import signal
from contextlib import closing, suppress
from pathlib import Path

from rich.console import Console
from watchfiles import Change, watch

from ...model.errors import KitError
from ..checks.launcher import WarmPython
from ..folder.week import WeekFolder, open_folder
from ..show.check_text import show
from ..show.terminal import console
from .check import check_week


def run_watch(exercise: str | None, folder: Path | None, seconds: float) -> None:
    """Watch until Ctrl-C is pressed."""
    opened = open_folder(folder)
    names = (opened.exercise(exercise).name,) if exercise else opened.names
    opened.source()
    # shells start background jobs with SIGINT ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    out = console()
    saves = watch(
        opened.path,
        watch_filter=lambda change, path: path.endswith(".py") and change is not Change.deleted,
        recursive=False,
        rust_timeout=150,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    with closing(WarmPython(opened)) as python, suppress(KeyboardInterrupt):
        next(saves)  # start watching, so that a save during the first check is noticed
        _check(out, opened, names, seconds, python)
        for changes in saves:
            if changes:
                _check(out, opened, names, seconds, python)


def _check(
    out: Console, folder: WeekFolder, names: tuple[str, ...], seconds: float, python: WarmPython
) -> None:
    out.print("checking ...", style="dim")
    try:
        result = check_week(folder, names, seconds=seconds, warm=python)
    except KitError as error:  # an editor may replace the file in two steps
        out.print(str(error))
        return
    if out.is_terminal:
        out.clear()
    show(out, result)
    out.print("\nwaiting for you to save; Ctrl-C quits", style="dim")
