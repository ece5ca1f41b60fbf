"""Run a week's public checks and combine the results, for a terminal or a notebook.

The checks run in a separate process, so they always use the saved file, and an endless loop can be
stopped. Errors in the student's code are part of the result. The functions for notebooks return
output that renders in the cell, and show a KitError as a message. A notebook's kernel keeps one
checking process, for the week that was checked last. This process ends with the kernel.
"""

import contextlib
import hashlib
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from ...model.errors import KitError
from ...model.source.import_failure import ImportFailure, explained
from ..checks.check_results import CheckResult, ExerciseResult, Failure, sum_up
from ..checks.launcher import DoesNotRun, WarmPython, run_checks
from ..folder.lessons import LastCheck, hints_to_show, load_state, save_state
from ..folder.slips import find_slips, refused_outcomes
from ..folder.source import fingerprints, used
from ..folder.week import WeekFolder, open_all, open_folder
from ..show.check_text import next_to_do, plain, week_progress
from ..show.notebook_output import NotebookOutput, check_html, message_output, progress_output

processes: dict[Path, WarmPython] = {}  # the checking process by week folder, at most one


class NotPassed(AssertionError):
    """A check failed during nbgrader's validation, which notices only exceptions."""

    def _render_traceback_(self) -> list[str]:
        """Make IPython show only the message, because all frames belong to the kit."""
        return str(self).split("\n")


class Checked(CheckResult, frozen=True):
    """The result of `check(...)`, which renders as a table in a notebook and as text elsewhere."""

    def __repr__(self) -> str:
        return plain(self)

    def _repr_html_(self) -> str:
        return check_html(self)


def check_week(
    folder: WeekFolder,
    names: Iterable[str],
    *,
    seconds: float = 20.0,
    warm: WarmPython | None = None,
) -> Checked:
    """Run the public checks of the named exercises.

    seconds: time limit of each check. warm: the checking process; default: a new process.
    Raise KitError if the folder or its files cannot be checked.
    """
    chosen = [folder.exercise(n) for n in names]
    source = folder.source()
    try:
        outcomes = run_checks(folder, [e.name for e in chosen], seconds, warm)
    except DoesNotRun as stopped:
        return _import_failed(folder, source, stopped.failure)
    if not outcomes:
        raise KitError(
            f"{folder.checks.name} contains no check of {', '.join(e.name for e in chosen)}: "
            "replace it with the one in the released folder"
        )
    refused = refused_outcomes(folder, outcomes)
    results = [
        sum_up(e, [o for o in outcomes if o.exercise == e.name], refused.get(e.name))
        for e in chosen
    ]
    unchanged, failing = _remember(folder, source, results)
    results = [
        replace(r, uses=used(source, r.name, failing)) if r.state == "fail" else r for r in results
    ]
    notes = find_slips(folder, results, unchanged)
    return Checked(folder, tuple(results), notes=notes)


def _remember(
    folder: WeekFolder, source: str, results: list[ExerciseResult]
) -> tuple[set[str], list[str]]:
    """Store the results in the state file.

    Return the exercises whose previous check ran on an identical file, and the exercises of the
    week whose current code is known to fail.
    """
    state, prints = load_state(folder.memory), fingerprints(source, folder.names)
    file = hashlib.blake2b(source.encode(), digest_size=12).hexdigest()
    unchanged = {name for name, last in state.checked.items() if last.file == file}
    for r in results:
        state.checked[r.name] = LastCheck(r.state, r.passed, r.total, prints[r.name], file)
    save_state(folder.memory, state)
    failing = [
        name
        for name, last in state.checked.items()
        if last.state == "fail" and last.fingerprint == prints.get(name)
    ]
    return unchanged, failing


def _import_failed(folder: WeekFolder, source: str, stopped: ImportFailure) -> Checked:
    files = {folder.week.module: source}
    if stopped.file and stopped.file not in files:
        with contextlib.suppress(OSError):
            files[stopped.file] = (folder.path / stopped.file).read_text("utf-8-sig", "replace")
    sentence, _, code = explained(folder.week.module, stopped, files).partition("\n")
    failure = Failure("broken", sentence, stopped.error, stopped.line, code)
    return Checked(folder, broken=failure)


def check_in_notebook(exercise: str | None, folder: Path | None = None) -> Checked | NotebookOutput:
    """Check one exercise, or all of a week."""
    try:
        opened = open_folder(folder)
        names = [opened.exercise(exercise).name] if exercise else list(opened.names)
        return check_week(opened, names, warm=_warm_process(opened))
    except KitError as error:
        return message_output(str(error))


def hint_in_notebook(exercise: str | None, again: bool, folder: Path | None) -> NotebookOutput:
    """Render the hints shown so far and, unless `again`, the next hint."""
    try:
        opened = open_folder(folder)
        name = opened.exercise(exercise).name if exercise else next_to_do(opened)
        hints, message = hints_to_show(opened, name, again)
    except KitError as error:
        return message_output(str(error))
    return message_output(message, hints)


def progress_in_notebook(folder: Path | None = None) -> NotebookOutput:
    """Render the progress in each week."""
    try:
        weeks = open_all(folder)
    except KitError as error:
        return message_output(str(error))
    if not weeks:
        return message_output("There is no week of the course here.")
    return progress_output([week_progress(week) for week in weeks])


def _warm_process(folder: WeekFolder) -> WarmPython:
    if folder.path not in processes:
        while processes:
            processes.popitem()[1].close()
        processes[folder.path] = WarmPython(folder)
    return processes[folder.path]
