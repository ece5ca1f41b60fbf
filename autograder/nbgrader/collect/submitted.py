"""What was collected: reading it for grading, and completing what nbgrader needs beside it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from ...batch.intake import Submission, read_submission
from ...model.course.loader import Course, Week
from ...model.notes import Note
from ..workspace import Workspace
from .history import read_marker
from .notebooks import (
    cell_notes,
    code_note,
    read_cells,
    taken_note,
    text_of,
    unwritten,
    with_notebook,
    written_in,
)

FROM_NBGRADER = ("timestamp.txt", "submission_secret.txt")
UNREADABLE = ".unreadable"


def read_student(
    course: Course, week: Week, student: str, folder: Path | None = None
) -> Submission:
    """One student's submission, collected or in `folder`, without what we handed out ourselves.

    A report then depends on the student's own work only, whichever door it is graded through.
    """
    workspace = Workspace(course)
    folder = folder or workspace.submitted(student, week)
    submission = read_submission(folder, week, course.limits(week), student)
    submission = _looked_through(course, week, folder, submission)
    handed_out = set(_released_files(workspace, week)) - {week.module}
    kept = {
        name: content
        for name, content in submission.files.items()
        if name not in handed_out and name not in FROM_NBGRADER
    }
    return msgspec.structs.replace(submission, files=kept)


def _looked_through(course: Course, week: Week, folder: Path, submission: Submission) -> Submission:
    """The submission with what its notebook tells; with code from there, where that is allowed."""
    released = Workspace(course).released(week)
    notes = [*submission.notes, *_merge_notes(folder)]
    own = read_cells(folder / f"{week.name}.ipynb")
    notes += cell_notes(own, _cells_of_all(released / f"{week.name}.ipynb"), week) if own else []
    names = written_in(own, {e.name for e in week.exercises})
    stub = _text(released / week.module) if names else ""
    module = submission.files.get(week.module, b"").decode("utf-8", "replace") if names else ""
    names = [n for n in names if n in unwritten(week, module, stub)]
    files, problem = submission.files, submission.problem
    if names and course.registry.modules_from_notebook:
        grown = with_notebook(module or stub, own, names, week)
        files, problem = files | {week.module: grown.encode("utf-8", "replace")}, ""
        notes.append(taken_note(week, names))
    elif names:
        notes.append(code_note(week, names))
    return msgspec.structs.replace(submission, files=files, problem=problem, notes=tuple(notes))


def _merge_notes(folder: Path) -> tuple[Note, ...]:
    """Return what was done when the submission was accepted."""
    marker = read_marker(folder)
    return marker.notes if marker else ()


def _cells_of_all(released: Path) -> list[dict[str, Any]]:
    """The released notebook's cells; what is read for one student serves the next."""
    try:
        found = released.stat()
    except OSError:
        return []
    return _read_once(released, (found.st_mtime_ns, found.st_size, found.st_ino))


@lru_cache(maxsize=16)
def _read_once(released: Path, _: tuple[int, ...]) -> list[dict[str, Any]]:
    return read_cells(released)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _released_files(workspace: Workspace, week: Week) -> Iterator[str]:
    folder = workspace.released(week)
    return (p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def read_notebook(path: Path, check: Callable[[Any], object] | None = None) -> Any:
    """A student's notebook as nbformat's newest kind; raises anything if it cannot be read.

    check: what holds it against its schema, if not nbformat.
    """
    return parse_notebook(text_of(path), check)


def parse_notebook(text: str, check: Callable[[Any], object] | None = None) -> Any:
    """Parse a notebook's text, as `read_notebook` does."""
    import nbformat  # takes a second, and only what is collected is looked at

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of cells that are mended when it is graded
        notebook = nbformat.convert(nbformat.reader.reads(text), 4)
        (check or nbformat.validate)(notebook)
    return notebook
