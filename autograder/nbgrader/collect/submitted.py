"""Read collected submissions for grading."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...batch.intake import Submission, read_submission
from ...model.course import Course, Week
from ..workspace import Workspace
from .history import read_marker
from .notebooks import (
    cell_notes,
    code_note,
    code_taken_note,
    read_cells,
    unwritten,
    with_notebook,
    written_in,
)

FROM_NBGRADER = ("timestamp.txt", "submission_secret.txt")
UNREADABLE = ".unreadable"


def read_student(
    course: Course, week: Week, student: str, folder: Path | None = None
) -> Submission:
    """Read a student's submission, collected or in `folder`, without unchanged released files.

    The report then depends only on the student's own work, not on its channel.
    """
    workspace = Workspace(course)
    folder = folder or workspace.submitted(student, week)
    submission = read_submission(folder, week, course.limits(week), student)
    submission = _with_notebook_notes(course, week, folder, submission)
    released = set(_released_files(workspace, week)) - {week.module}
    files = {
        name: content
        for name, content in submission.files.items()
        if name not in released and name not in FROM_NBGRADER
    }
    return msgspec.structs.replace(submission, files=files)


def _with_notebook_notes(
    course: Course, week: Week, folder: Path, submission: Submission
) -> Submission:
    """Add notes about the notebook, and code from the notebook where the course allows it."""
    released, marker = Workspace(course).released(week), read_marker(folder)
    notes = [*submission.notes, *(marker.notes if marker else ())]
    cells = read_cells(folder / f"{week.name}.ipynb")
    if cells:
        notes += cell_notes(cells, read_cells(released / f"{week.name}.ipynb"), week)
    names = written_in(cells, {e.name for e in week.exercises})
    stub = _text(released / week.module) if names else ""
    module = submission.files.get(week.module, b"").decode("utf-8", "replace") if names else ""
    names = [n for n in names if n in unwritten(week, module, stub)]
    files, problem = submission.files, submission.problem
    if names and course.registry.modules_from_notebook:
        extended = with_notebook(module or stub, cells, names, week)
        files, problem = files | {week.module: extended.encode("utf-8", "replace")}, ""
        notes.append(code_taken_note(week, names))
    elif names:
        notes.append(code_note(week, names))
    return msgspec.structs.replace(submission, files=files, problem=problem, notes=tuple(notes))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _released_files(workspace: Workspace, week: Week) -> Iterator[str]:
    folder = workspace.released(week)
    return (p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def parse_notebook(text: str) -> Any:
    """Parse and validate a notebook as nbformat 4; errors of any kind mean that it is damaged."""
    import nbformat  # takes a second to import

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about cells that RestoreCells repairs
        notebook = nbformat.convert(nbformat.reader.reads(text), 4)
        nbformat.validate(notebook)
    return notebook
