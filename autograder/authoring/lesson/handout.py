"""Collect the files of a week that students get."""

from __future__ import annotations

from pathlib import Path

import nbformat

from ...model.course import Course, Week
from ...model.course.stubs import is_stale, stub_of, stub_path
from ...model.errors import BuildError
from ...student.folder.week import DESCRIPTION, describe_week
from .lesson_notebook import figures_used, lesson_notebook, lesson_text


def week_files(course: Course, week: Week, release: int = 1) -> dict[str, bytes]:
    """Return the contents of all public files by relative name.

    Raise BuildError if a file is missing or the stub is out of date. `release`: the number of this
    release of the week.
    """
    folder = course.exercise_folder(week)
    if is_stale(course, week):
        where = stub_path(course, week).relative_to(course.root)
        raise BuildError(
            f"{where} differs from the stub that the solution gives: run `autograder build`"
        )
    notebook = nbformat.writes(lesson_notebook(course, week), version=4)
    files = {
        f"{week.name}.ipynb": notebook.encode(),
        week.module: stub_of(course, week).encode(),
        DESCRIPTION: describe_week(course, week, release),
    }
    for name in (f"test_{week.stem}.py", "README.md", "hints.md"):
        files[name] = read_or_refuse(course, folder / name, "write it")
    for name in week.files:
        files[name] = read_or_refuse(
            course, course.root / "assets" / name, f"{week.name} lists it as a file"
        )
    for name in week.folders:
        files |= _folder(course, week, name)
    for name in figures_used(lesson_text(course, week)):
        figure = course.figures(week) / name
        files[f"figures/{name}"] = read_or_refuse(
            course, figure, "draw it: `autograder build --figures`"
        )
    return files


def _folder(course: Course, week: Week, name: str) -> dict[str, bytes]:
    folder = course.root / "exercises" / name
    found = {
        path.relative_to(folder.parent).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    if not found:
        raise BuildError(f"exercises/{name} is missing or empty: {week.name} lists it")
    return found


def read_or_refuse(course: Course, path: Path, remedy: str) -> bytes:
    """Return a file's content; raise BuildError with `remedy` if it is missing."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BuildError(f"{path.relative_to(course.root)} is missing: {remedy}") from None
