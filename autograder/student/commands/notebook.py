"""`check`, `hint` and `progress` for a notebook: fast, rendered in the cell, without exceptions.

A kernel keeps a checking process for each of the last two weeks that it checked. They end with the
kernel.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
from pathlib import Path

from ...model.errors import KitError
from ..checks.launcher import WarmPython
from ..folder.week import WeekFolder, open_all, open_folder
from ..show.hints import next_hint, past_hints
from ..show.notebook_output import NotebookOutput, hints_output, message_output, progress_output
from ..show.progress import next_to_do, week_progress
from .check import Checked, check_week, is_validating

_MAX_PROCESSES = 2
WHOLE_LESSON = "AUTOGRADER_WHOLE_LESSON"  # if set, Validate runs every cell
_CHECK = re.compile(r"""check\(\s*(["'])[^"']+\1\s*\)""")
processes: dict[Path, WarmPython] = {}
"""Checking processes by week folder, the most recently used last."""


def check_in_notebook(exercise: str | None, folder: Path | None = None) -> Checked:
    """Check one exercise, or all of a week; a mistake of the student's becomes a problem in it."""
    try:
        opened = open_folder(folder)
        names = [opened.exercise(exercise).name] if exercise else list(opened.names)
        return check_week(opened, names, warm=_warm_process(opened))
    except KitError as error:
        return Checked(folder or Path.cwd(), "Nothing was checked", "", (), str(error))


def hint_in_notebook(
    exercise: str | None, again: bool = False, folder: Path | None = None
) -> NotebookOutput:
    """Show the hints so far and one more; with `again` only those so far."""
    try:
        opened = open_folder(folder)
        name = opened.exercise(exercise).name if exercise else next_to_do(opened)
        fresh = None if again else next_hint(opened, name)
        hints = past_hints(opened, name)
    except KitError as error:
        return message_output(str(error))
    if not hints:
        return message_output(f"No hint for {name} has been shown yet.")
    exhausted = fresh is None and not again
    return hints_output(hints, "These are all. Read the lesson, or ask." if exhausted else "")


def progress_in_notebook(folder: Path | None = None) -> NotebookOutput:
    """Show the progress in each week."""
    try:
        weeks = open_all(folder)
    except KitError as error:
        return message_output(str(error))
    if not weeks:
        return message_output("There is no week of the course here.")
    return progress_output([week_progress(week) for week in weeks])


def prepare_kernel() -> None:
    """In a kernel that runs in a week's folder, start a checking process.

    It starts after the first cell: at the same time, both would import torch at half the speed.
    """
    from IPython import get_ipython  # loaded in a kernel

    shell = get_ipython()
    if not hasattr(shell, "kernel"):
        return
    if is_validating() and WHOLE_LESSON not in os.environ:
        shell.input_transformers_cleanup.append(keep_only_checks)

    def start(*_: object) -> None:
        shell.events.unregister("post_run_cell", start)
        with contextlib.suppress(KitError, OSError):
            _warm_process(open_folder())

    shell.events.register("post_run_cell", start)


def keep_only_checks(lines: list[str]) -> list[str]:
    """Skip cells other than checks: Validate reports only these, and a lesson takes long to run."""
    return lines if _CHECK.fullmatch("".join(lines).strip()) else ["pass\n"]


def _warm_process(folder: WeekFolder) -> WarmPython:
    python = processes.pop(folder.path, None)
    if python is None:
        folder.checks  # noqa: B018  # raises if the file is missing, before a process is started
        python = WarmPython(folder)
    processes[folder.path] = python
    while len(processes) > _MAX_PROCESSES:
        processes.pop(next(iter(processes))).close()
    return python


@atexit.register
def close_processes() -> None:
    """End all checking processes of this kernel."""
    while processes:
        processes.popitem()[1].close()
