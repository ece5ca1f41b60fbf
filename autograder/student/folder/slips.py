"""Detect accidents that checks miss: code in the wrong file, a newer copy, an unsaved file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ..checks.check_results import ExerciseResult
from .lessons import notebook_cells
from .source import statement_counts
from .week import WeekFolder

_DEFINITION = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)


def find_slips(
    folder: WeekFolder, results: Sequence[ExerciseResult], unchanged: Collection[str]
) -> tuple[str, ...]:
    """Return a sentence for each accident, or () if all checks pass.

    unchanged: exercises whose last check ran on an identical file.
    """
    failing = [r for r in results if r.state != "pass"]
    if not failing:
        return ()
    unwritten = [r.name for r in failing if r.state == "open"]
    module = folder.week.module
    notes = [
        f"{c.name} is newer than {module}: only {module} counts." for c in folder.newer_copies()
    ]
    notes += _defined_in_notebook(folder, unwritten)
    notes += _leftover_raises(folder, unwritten)
    if not notes and all(r.name in unchanged for r in failing):
        notes.append(f"{module} has not changed since your last check: is it saved?")
    return tuple(notes)


def _leftover_raises(folder: WeekFolder, unwritten: Sequence[str]) -> Iterator[str]:
    """Find exercises with code above the stub's `raise`."""
    mine, stub = (statement_counts(text) for text in (folder.source(), folder.week.stub))
    for name in unwritten:
        if mine.get(name, 0) > stub.get(name, 0) > 0:
            yield (
                f"`{name}` contains code, but also still `raise NotImplementedError`: delete that "
                "line when you are done."
            )


def _defined_in_notebook(folder: WeekFolder, unwritten: Sequence[str]) -> Iterator[str]:
    code = [source for kind, source in notebook_cells(folder) if kind == "code"]
    defined = {name for source in code for name in _DEFINITION.findall(source)}
    if names := [f"`{name}`" for name in unwritten if name in defined]:
        yield (
            f"{folder.week.week}.ipynb defines {', '.join(names)}, but only {folder.week.module} "
            "is checked: move the code there."
        )
