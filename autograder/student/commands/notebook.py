"""`check`, `hint` and `progress` for a notebook: warm, drawn in the cell, and never an exception.

A kernel keeps one checking Python per week that it checked, two at the most (run.py). They end
with the kernel.
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
from ..show.check_text import hint_lines
from ..show.hints import Hint, shown_hints
from ..show.progress import WeekProgress, progress_lines, week_progress
from .check import Checked, being_validated, check_week

_MOST = 2
WHOLE_LESSON = "AUTOGRADER_WHOLE_LESSON"  # set where every cell is to run under Validate too
_CHECK = re.compile(r"""check\(\s*(["'])[^"']+\1\s*\)""")
_kept: dict[Path, WarmPython] = {}
Place = str | Path | None


class Hints(tuple[Hint, ...]):
    """What `hint(...)` returns: the hints seen so far; `said` where there is something else."""

    said: str

    def __new__(cls, hints: list[Hint], said: str = "") -> Hints:
        self = super().__new__(cls, hints)
        self.said = said
        return self

    def __repr__(self) -> str:
        lines = [line.plain.rstrip() for hint in self for line in hint_lines(hint)]
        return "\n".join([*lines, self.said] if self.said else lines)

    def _repr_html_(self) -> str:
        from ..show.check_page import hints_html  # only a notebook needs templates

        return hints_html(self, self.said)


class Progress(tuple[WeekProgress, ...]):
    """What `progress()` returns: each week with its exercises; `said` if there is none."""

    said: str

    def __new__(cls, weeks: list[WeekProgress], said: str = "") -> Progress:
        self = super().__new__(cls, weeks)
        self.said = said
        return self

    def __repr__(self) -> str:
        if self.said:
            return self.said
        return "\n".join(line.plain.rstrip() for line in progress_lines(list(self)))

    def _repr_html_(self) -> str:
        from ..show.check_page import progress_html

        return progress_html(self, self.said)


def check_warm(exercise: str | None, folder: Place = None) -> Checked:
    """Check one exercise, or all, of a week. Never raises for what was written or typed."""
    try:
        opened = open_folder(_path(folder))
        names = [opened.exercise(exercise).name] if exercise else list(opened.names)
        return check_week(opened, names, warm=_warm(opened))
    except KitError as error:
        return Checked(_path(folder) or Path.cwd(), "Nothing was checked", "", (), str(error))


def show_hints(exercise: str | None, again: bool = False, folder: Place = None) -> Hints:
    from ..show.hints import next_hint
    from .terminal_commands import to_work_on

    try:
        opened = open_folder(_path(folder))
        name = opened.exercise(exercise).name if exercise else to_work_on(opened)
        fresh = None if again else next_hint(opened, name)
        hints = shown_hints(opened, name)
    except KitError as error:
        return Hints([], str(error))
    if fresh is None and hints and not again:
        return Hints(hints, "These are all. The lesson or a person can tell you more.")
    return Hints(hints, "" if hints else f"No hint for {name} was shown yet.")


def show_progress(folder: Place = None) -> Progress:
    try:
        weeks = open_all(_path(folder))
    except KitError as error:
        return Progress([], str(error))
    if not weeks:
        return Progress([], "There is no week of the course here.")
    return Progress([week_progress(week) for week in weeks])


def begin() -> None:
    """In a kernel that works in a week's folder: have a checking Python ready.

    It starts when the cell is done: beside it both would import torch, at half the speed.
    """
    from IPython import get_ipython  # a kernel imported this function's module

    shell = get_ipython()
    if not hasattr(shell, "kernel"):
        return
    if being_validated() and WHOLE_LESSON not in os.environ:
        shell.input_transformers_cleanup.append(checks_alone)

    def start(*_: object) -> None:
        shell.events.unregister("post_run_cell", start)
        with contextlib.suppress(KitError, OSError):
            _warm(open_folder())

    shell.events.register("post_run_cell", start)


def checks_alone(lines: list[str]) -> list[str]:
    """A cell as the Validate button needs it: it looks at checks only, and a lesson takes time."""
    return lines if _CHECK.fullmatch("".join(lines).strip()) else ["pass\n"]


def _path(folder: Place) -> Path | None:
    return None if folder is None else Path(folder).expanduser()


def _warm(folder: WeekFolder) -> WarmPython:
    python = _kept.pop(folder.path, None)
    if python is None:
        folder.checks  # noqa: B018  # if they are missing it raises, before anything is started
        python = WarmPython(folder)
    _kept[folder.path] = python  # as the youngest
    while len(_kept) > _MOST:
        _kept.pop(next(iter(_kept))).close()
    return python


@atexit.register
def _end() -> None:
    while _kept:
        _kept.popitem()[1].close()
