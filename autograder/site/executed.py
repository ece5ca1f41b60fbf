"""Run a week's lesson with the solution, and cache the notebook until something changes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import nbformat

from ..authoring.verify.lesson_run import cell_problems, run_lesson
from ..files.atomic import replace_file
from ..model.course import Course, Week
from ..model.errors import BuildError
from ..version import __version__

_KIT = Path(__file__).parents[1]
# code of the kit that produces outputs of a lesson
_SHOWN_BY = ("student", "authoring/verify/lesson_run.py")


def executed_lesson(course: Course, week: Week, files: dict[str, bytes]) -> Any:
    """Return the notebook among the week's files with its outputs.

    Raises BuildError if a cell fails.
    """
    cached = course.state / "site" / f"{week.name}-{_digest(course, week, files)}.ipynb"
    if cached.is_file():
        return nbformat.read(cached, as_version=4)
    notebook = run_lesson(course, week, files)
    if complaint := next(cell_problems(notebook), None):
        raise BuildError(f"{week.name}: its lesson fails: {complaint}")
    cached.parent.mkdir(parents=True, exist_ok=True)
    for old in cached.parent.glob(f"{week.name}-*.ipynb"):
        old.unlink()
    replace_file(cached, nbformat.writes(notebook, version=4).encode(), 0o600)
    return notebook


def _digest(course: Course, week: Week, files: dict[str, bytes]) -> str:
    """Hash everything that the outputs depend on, except the libraries."""
    read = dict(files) | {f"solution/{week.module}": course.solution(week).read_bytes()}
    for place in map(_KIT.joinpath, _SHOWN_BY):
        for path in place.rglob("*.py") if place.is_dir() else (place,):
            read[f"kit/{path.relative_to(_KIT)}"] = path.read_bytes()
    digest = hashlib.blake2b(__version__.encode(), digest_size=12)
    for name in sorted(read):
        digest.update(name.encode() + b"\0" + hashlib.blake2b(read[name]).digest())
    return digest.hexdigest()
