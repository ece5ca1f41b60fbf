"""What was collected: reading it for grading, and completing what nbgrader needs beside it."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
import nbformat

from ..batch.intake import Submission, Unread, read_submission
from ..model.course import Course, Week
from .workspace import Workspace

_FROM_NBGRADER = ("timestamp.txt", "submission_secret.txt")
_NOTEBOOK_BOUND = 64 << 20
UNREADABLE = ".unreadable"


def collected(course: Course, week: Week) -> Sequence[Submission]:
    """Every submission that was collected for the week, by student."""
    students = Workspace(course).students("submitted", week)
    return Unread(partial(read_student, course, week, student) for student in students)


def read_student(course: Course, week: Week, student: str) -> Submission:
    """One student's collected submission, without what we handed out ourselves.

    A report then depends on the student's own work only, whichever door it is graded through.
    """
    workspace = Workspace(course)
    folder = workspace.submitted(student, week)
    submission = read_submission(folder, week, course.limits(week), student)
    handed_out = set(_released_files(workspace, week)) - {week.module}
    kept = {
        name: content
        for name, content in submission.files.items()
        if name not in handed_out and name not in _FROM_NBGRADER
    }
    return msgspec.structs.replace(submission, files=kept)


def _released_files(workspace: Workspace, week: Week) -> Iterator[str]:
    folder = workspace.released(week)
    return (p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def complete(course: Course, week: Week, folder: Path) -> str:
    """See to it that a collected folder has a notebook that nbgrader can read.

    nbgrader grades nothing where the notebook is missing, misnamed or damaged; the exercises are
    in the module, so that would cost a student everything. A renamed notebook is taken under its
    right name; else the released one stands in, without answers. Returns what was done, or "".
    """
    wanted = folder / f"{week.name}.ipynb"
    if _readable(wanted):
        return ""
    done = "the notebook is missing; an empty one stands in"
    if wanted.exists() or wanted.is_symlink():
        wanted.replace(wanted.with_name(wanted.name + UNREADABLE))
        done = "the notebook cannot be read; an empty one stands in"
    others = [p for p in sorted(folder.glob("*.ipynb")) if _readable(p)]
    if len(others) == 1:
        shutil.copyfile(others[0], wanted)
        return f"{others[0].name} was taken as {wanted.name}"
    released = Workspace(course).released(week) / wanted.name
    if not released.is_file():
        return ""
    shutil.copyfile(released, wanted)
    return done


def _readable(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _NOTEBOOK_BOUND:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of cells that are mended when it is graded
            notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
            nbformat.validate(notebook)
    except Exception:  # nbformat raises whatever a damaged file makes it stumble over
        return False
    return True
