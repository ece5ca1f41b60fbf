"""`check`: the public checks of a week on the student's own file, for a terminal and a notebook.

    from autograder import check
    check("softmax")

The checks run in a Python of their own, so the file is read freshly each time and an endless loop
ends; whatever the student's code does becomes part of the result.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from ...model.errors import KitError
from ...model.source.import_failure import ImportFailure, explained
from ..checks.importing import DoesNotRun, require_syntax
from ..checks.launcher import WarmPython, run_checks
from ..checks.results import CheckOutcome, CheckResult, ExerciseResult, Failure, sum_up
from ..folder.rule_warnings import called, refused_in
from ..folder.slips import slips
from ..folder.source import fingerprints, used
from ..folder.state import Remembered, recall, remember
from ..folder.week import WeekExercise, WeekFolder, open_folder
from ..show.check_text import plain


class NotPassed(AssertionError):
    """Says to nbgrader's Validate what the result's table says elsewhere."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines in place of a traceback, of which all frames would be ours."""
        return str(self).split("\n")


def being_validated() -> bool:
    """Whether nbgrader runs the notebook to tell its student what fails."""
    return os.environ.get("NBGRADER_EXECUTION") == "validate"


class Checked(CheckResult, frozen=True):
    """What `check(...)` returns: a table in a notebook, text elsewhere."""

    def __repr__(self) -> str:
        return plain(self)

    def _repr_html_(self) -> str:
        from ..show.check_page import checked_html  # only a notebook needs templates

        return checked_html(self)


def check_folder(exercise: str | None = None, folder: Path | None = None) -> Checked:
    """Check one exercise, or all, of the week in `folder` (default: here). Never raises for what
    the student wrote, typed or forgot."""
    try:
        opened = open_folder(folder)
        return check_week(opened, [exercise] if exercise else opened.names)
    except KitError as error:
        return Checked(folder or Path.cwd(), "Nothing was checked", "", (), str(error))


def check_week(
    folder: WeekFolder,
    names: Iterable[str],
    *,
    seconds: float = 20.0,
    on_begin: Callable[[str], None] = lambda exercise: None,
    warm: WarmPython | None = None,
    asked: bool = True,
) -> Checked:
    """Check the named exercises; raises KitError where the folder is not fit for it.

    asked: the student asked for it, and may have forgotten to save
    """
    started = time.monotonic()
    chosen = [folder.exercise(n) for n in names]
    source = folder.source()
    try:
        require_syntax(folder.week.module, source)  # without starting anything
        outcomes = run_checks(
            folder, [e.name for e in chosen], seconds=seconds, on_begin=on_begin, warm=warm
        )
    except DoesNotRun as stopped:
        return _broken(folder, chosen, source, stopped.failure)
    refused = refused_in(folder)
    results = tuple(_result(e, outcomes, refused.get(e.name)) for e in chosen)
    unchanged = _remember(folder, source, results)
    results = _with_causes(folder, source, results)
    return Checked(
        folder.path,
        folder.heading,
        folder.week.module,
        results,
        electives_counted=folder.week.electives_counted,
        seconds=time.monotonic() - started,
        notes=slips(folder, results, unchanged if asked else ()),
    )


def _result(
    exercise: WeekExercise, outcomes: list[CheckOutcome], refused: CheckOutcome | None
) -> ExerciseResult:
    own = [o for o in outcomes if o.exercise == exercise.name]
    result = sum_up(exercise.name, exercise.points, own, refused or called(own))
    return msgspec.structs.replace(result, elective=exercise.elective, outcomes=tuple(own))


def _with_causes(
    folder: WeekFolder, source: str, results: tuple[ExerciseResult, ...]
) -> tuple[ExerciseResult, ...]:
    """The results; of what fails, with the exercises it calls that fail as they stand now."""
    known, prints = recall(folder.memory).checked, fingerprints(source, folder.names)
    fails = tuple(
        n for n, last in known.items() if last.state == "fail" and last.fingerprint == prints.get(n)
    )
    return tuple(
        msgspec.structs.replace(r, uses=used(source, r.name, fails)) if r.state == "fail" else r
        for r in results
    )


def _broken(
    folder: WeekFolder, chosen: list[WeekExercise], source: str, stopped: ImportFailure
) -> Checked:
    """The module cannot be imported: said once, not for each exercise."""
    files = {folder.week.module: source}
    if stopped.file and stopped.file not in files:
        with contextlib.suppress(OSError):
            files[stopped.file] = (folder.path / stopped.file).read_text("utf-8-sig", "replace")
    sentence, _, code = explained(folder.week.module, stopped, files).partition("\n")
    failure = Failure("broken", sentence, stopped.error, stopped.line, code)
    results = tuple(ExerciseResult(e.name, e.points, "fail", 0, 0) for e in chosen)
    return Checked(folder.path, folder.heading, folder.week.module, results, broken=failure)


def _remember(folder: WeekFolder, source: str, results: tuple[ExerciseResult, ...]) -> set[str]:
    """Keep the results; return the exercises that were checked before with this very file."""
    state, prints = recall(folder.memory), fingerprints(source, folder.names)
    file = hashlib.blake2b(source.encode(), digest_size=12).hexdigest()
    unchanged = {name for name, last in state.checked.items() if last.file == file}
    for result in results:
        state.checked[result.name] = Remembered(
            result.state, result.passed, result.total, prints[result.name], file
        )
    remember(folder.memory, state)
    return unchanged
