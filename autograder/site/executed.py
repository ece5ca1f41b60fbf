"""A week's lesson with its outputs: run once beside the solution, kept until something changes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import nbformat

from ..authoring.verify.lesson_run import complaints, run_lesson
from ..files.atomic import replace_file
from ..model.course.loader import Course, Week
from ..model.errors import BuildError
from ..version import __version__

_KIT = Path(__file__).parents[1]
_SHOWN_BY = (
    "student",
    "authoring/verify/lesson_run.py",
)  # code of the kit whose output a lesson shows


def executed_lesson(course: Course, week: Week, files: dict[str, bytes]) -> Any:
    """The notebook among the week's files, with outputs; raises BuildError if a cell complains."""
    kept = course.state / "site" / f"{week.name}-{_digest(course, week, files)}.ipynb"
    if kept.is_file():
        return nbformat.read(kept, as_version=4)
    notebook = run_lesson(course, week, files)
    if said := next(complaints(notebook), None):
        raise BuildError(f"{week.name}: its lesson does not run through: {said}")
    kept.parent.mkdir(parents=True, exist_ok=True)
    for old in kept.parent.glob(f"{week.name}-*.ipynb"):
        old.unlink()
    replace_file(kept, nbformat.writes(notebook, version=4).encode(), 0o600)
    return notebook


def _digest(course: Course, week: Week, files: dict[str, bytes]) -> str:
    """A hash of whatever the outputs depend on, but the libraries."""
    read = dict(files) | {f"solution/{week.module}": course.solution(week).read_bytes()}
    for place in map(_KIT.joinpath, _SHOWN_BY):
        for path in place.rglob("*.py") if place.is_dir() else (place,):
            read[f"kit/{path.relative_to(_KIT)}"] = path.read_bytes()
    digest = hashlib.blake2b(__version__.encode(), digest_size=12)
    for name in sorted(read):
        digest.update(name.encode() + b"\0" + hashlib.blake2b(read[name]).digest())
    return digest.hexdigest()
