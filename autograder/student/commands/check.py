"""Check a week: run the public checks on the student's file and combine the results.

The checks run in a separate process, so the file is read afresh and an endless loop ends. Errors in
the student's code become part of the result.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable

import msgspec

from ...model.source.import_failure import ImportFailure, explained
from ..checks.check_results import CheckResult, ExerciseResult, Failure, sum_up
from ..checks.launcher import DoesNotRun, WarmPython, run_checks
from ..folder.rule_warnings import refused_outcomes
from ..folder.slips import find_slips
from ..folder.source import fingerprints, used
from ..folder.state import LastCheck, load_state, save_state
from ..folder.week import WeekFolder
from ..show.check_text import plain


class NotPassed(AssertionError):
    """Raised by a check under nbgrader's Validate, which reports only exceptions."""

    def _render_traceback_(self) -> list[str]:
        """Show only the message in IPython: the frames are all the kit's."""
        return str(self).split("\n")


class Checked(CheckResult, frozen=True):
    """The result of `check(...)`: a table in a notebook, text elsewhere."""

    def __repr__(self) -> str:
        return plain(self)

    def _repr_html_(self) -> str:
        from ..show.notebook_output import check_html  # slow to import, and used only in notebooks

        return check_html(self)


def check_week(
    folder: WeekFolder,
    names: Iterable[str],
    *,
    seconds: float = 20.0,
    warm: WarmPython | None = None,
) -> Checked:
    """Check the named exercises.

    seconds: limit for each check. warm: the process to use; by default a new one.
    Raise KitError if the folder or its files cannot be checked.
    """
    chosen = [folder.exercise(n) for n in names]
    source = folder.source()
    try:
        outcomes = run_checks(folder, [e.name for e in chosen], seconds, warm)
    except DoesNotRun as stopped:
        return _import_failed(folder, source, stopped.failure)
    refused = refused_outcomes(folder, outcomes)
    results = [
        sum_up(e, [o for o in outcomes if o.exercise == e.name], refused.get(e.name))
        for e in chosen
    ]
    unchanged, failing = _remember(folder, source, results)
    results = [
        msgspec.structs.replace(r, uses=used(source, r.name, failing)) if r.state == "fail" else r
        for r in results
    ]
    notes = find_slips(folder, results, unchanged)
    return Checked(folder, tuple(results), notes=notes)


def _remember(
    folder: WeekFolder, source: str, results: list[ExerciseResult]
) -> tuple[set[str], list[str]]:
    """Save the results.

    Return the exercises whose previous check ran on an identical file, and all exercises of the
    week whose current code fails.
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
