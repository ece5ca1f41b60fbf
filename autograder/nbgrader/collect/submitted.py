"""Read collected submissions for grading."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ...batch.intake import Submission, read_submission
from ...model.course import Course, Week
from ...model.submission_files import Note
from ..workspace import Workspace
from .history import read_marker
from .notebooks import cell_notes, code_notes, read_cells

FROM_NBGRADER = ("timestamp.txt", "submission_secret.txt")
UNREADABLE = ".unreadable"


def read_student(
    course: Course, week: Week, student: str, folder: Path | None = None
) -> Submission:
    """Read a student's submission, collected or in `folder`, without unchanged released files.

    So the report depends only on the student's own work, not on the channel.
    """
    workspace = Workspace(course)
    folder = folder or workspace.submitted(student, week)
    submission = read_submission(folder, week, course.limits(week), student)
    marker = read_marker(folder)
    notes = (
        *submission.notes,
        *(marker.notes if marker else ()),
        *_notebook_notes(course, week, folder, submission),
    )
    released = workspace.released(week)
    files = {
        name: content
        for name, content in submission.files.items()
        if name == week.module or not ((released / name).is_file() or name in FROM_NBGRADER)
    }
    return msgspec.structs.replace(submission, files=files, notes=notes)


def _notebook_notes(
    course: Course, week: Week, folder: Path, submission: Submission
) -> Iterator[Note]:
    """Yield notes about changed cells, and about code that belongs in the module."""
    workspace = Workspace(course)
    cells = read_cells(folder / f"{week.name}.ipynb")
    if cells:
        released = read_cells(workspace.released(week) / f"{week.name}.ipynb")
        yield from cell_notes(cells, released, week)
    module = submission.files.get(week.module, b"").decode("utf-8", "replace")
    stub = workspace.released_file(week, week.module).decode("utf-8", "replace")
    yield from code_notes(cells, module, stub, week)
