"""Run a week's lesson with the solution, and cache the notebook until something changes."""

from __future__ import annotations

import hashlib
from typing import Any

import nbformat

from ..authoring.verify.public_files import cell_problems, run_lesson
from ..files.atomic import replace_file
from ..files.hashing import feed
from ..model.course import Course, Week
from ..model.errors import BuildError
from ..version import __version__


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
    """Hash the week's files, its solution and the kit's version, but not the libraries."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=12)
    feed(digest, course.solution(week).read_bytes())
    for name in sorted(files):
        feed(digest, name.encode())
        feed(digest, files[name])
    return digest.hexdigest()
