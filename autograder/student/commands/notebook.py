"""`check`, `hint` and `progress` for a notebook: fast, rendered in the cell, without exceptions.

A kernel keeps one checking process, for the week that was checked last; it ends with the kernel.
"""

from __future__ import annotations

from pathlib import Path

from ...model.errors import KitError
from ..checks.launcher import WarmPython
from ..folder.week import WeekFolder, open_all, open_folder
from ..show.hints import hints_to_show
from ..show.notebook_output import NotebookOutput, message_output, progress_output
from ..show.progress import next_to_do, week_progress
from .check import Checked, check_week

processes: dict[Path, WarmPython] = {}  # by week folder, at most one


def check_in_notebook(exercise: str | None, folder: Path | None = None) -> Checked:
    """Check one exercise, or all of a week; return errors as the result's `problem`."""
    try:
        opened = open_folder(folder)
        names = [opened.exercise(exercise).name] if exercise else list(opened.names)
        return check_week(opened, names, warm=_warm_process(opened))
    except KitError as error:
        return Checked(None, problem=str(error))


def hint_in_notebook(
    exercise: str | None, again: bool = False, folder: Path | None = None
) -> NotebookOutput:
    """Show the hints shown so far and the next one; with `again`, only those shown so far."""
    try:
        opened = open_folder(folder)
        name = opened.exercise(exercise).name if exercise else next_to_do(opened)
        hints, message = hints_to_show(opened, name, again)
    except KitError as error:
        return message_output(str(error))
    return message_output(message, hints)


def progress_in_notebook(folder: Path | None = None) -> NotebookOutput:
    """Show the progress in each week."""
    try:
        weeks = open_all(folder)
    except KitError as error:
        return message_output(str(error))
    if not weeks:
        return message_output("There is no week of the course here.")
    return progress_output([week_progress(week) for week in weeks])


def _warm_process(folder: WeekFolder) -> WarmPython:
    if folder.path not in processes:
        folder.checks  # noqa: B018  # raises if the file is missing, before a process is started
        while processes:
            processes.popitem()[1].close()
        processes[folder.path] = WarmPython(folder)
    return processes[folder.path]
