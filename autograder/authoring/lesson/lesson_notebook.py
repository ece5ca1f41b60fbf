"""Build the notebook that students get from a lesson in Markdown.

A lesson is jupytext Markdown with two kinds of marks. A code cell that contains only
`check("softmax")` becomes the cell that carries that exercise's grade. A line
`<!-- answer: scale -->` becomes the cell in which students answer that question. Each exercise and
each question of course.yaml needs exactly one mark. Cell ids are derived from the cells' content,
so the same lesson gives the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from ...model.course import Course, Week
from ...model.errors import BuildError

ANSWER = "*Your answer here.*"
_CHECK = re.compile(r"""check\(\s*(["'])([^"']+)\1\s*\)""")
_ANSWER = re.compile(r"^<!--\s*answer:\s*(\S*)\s*-->\s*$", re.MULTILINE)
_FIGURE = re.compile(r"!\[[^\]]*\]\(figures/([^)\s]+)\)")
_SCHEMA = 3
Notebook = Any  # nbformat has no types


def lesson_path(course: Course, week: Week) -> Path:
    return course.exercise_folder(week) / "lesson.md"


def lesson_text(course: Course, week: Week) -> str:
    path = lesson_path(course, week)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BuildError(f"{path.relative_to(course.root)}: the lesson is missing") from None


def lesson_notebook(course: Course, week: Week) -> Notebook:
    """Return the notebook of a week's lesson; raise BuildError if the lesson has a mistake."""
    location = str(lesson_path(course, week).relative_to(course.root))
    return make_notebook(lesson_text(course, week), week, location)


def make_notebook(text: str, week: Week, location: str) -> Notebook:
    """Return the notebook of a lesson's text; `where` is the lesson's name in error messages."""
    read = jupytext.reads(text, fmt="md").cells
    _check_places(read, week, location)
    cells: list[Notebook] = []
    for cell in read:
        if cell.cell_type == "code":
            cells.append(_code_cell(cell.source, week))
        else:
            cells += _markdown_cells(cell.source, week)
    notebook = nbformat.v4.new_notebook(
        cells=_identified(cells),
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
    )
    nbformat.validate(notebook)
    return notebook


def figures_used(text: str) -> list[str]:
    """Return the file names of the figures in a lesson, in order and without repetition."""
    return list(dict.fromkeys(_FIGURE.findall(text)))


def _code_cell(source: str, week: Week) -> Notebook:
    exercise = _graded(source)
    if exercise is None:
        return nbformat.v4.new_code_cell(source)
    points = week.exercise(exercise).points
    grading = _grading(exercise, points, solution=False)
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": grading})


def _graded(source: str) -> str | None:
    found = _CHECK.fullmatch(source.strip())
    return found.group(2) if found else None


def _markdown_cells(source: str, week: Week) -> list[Notebook]:
    cells = []
    points = {q.name: q.points for q in week.questions}
    for number, part in enumerate(_ANSWER.split(source)):
        if number % 2:
            grading = _grading(part, points[part], solution=True)
            cells.append(nbformat.v4.new_markdown_cell(ANSWER, metadata={"nbgrader": grading}))
        elif part.strip():
            cells.append(nbformat.v4.new_markdown_cell(part.strip("\n")))
    return cells


def _grading(name: str, points: float, *, solution: bool) -> dict[str, Any]:
    return {
        "grade": True,
        "grade_id": name,
        "locked": not solution,
        "points": float(points),
        "schema_version": _SCHEMA,
        "solution": solution,
        "task": False,
    }


def _identified(cells: list[Notebook]) -> list[Notebook]:
    """Set cell ids that depend only on the content, and on earlier cells with the same content."""
    seen: Counter[str] = Counter()
    for cell in cells:
        grading = cell.metadata.get("nbgrader")
        if grading:
            cell["id"] = f"grade-{grading['grade_id']}"[:64]
            continue
        digest = hashlib.blake2b(cell.source.encode(), digest_size=6).hexdigest()
        cell["id"] = f"{digest}-{seen[digest]}" if seen[digest] else digest
        seen[digest] += 1
    return cells


def _check_places(cells: list[Notebook], week: Week, location: str) -> None:
    code = [c.source for c in cells if c.cell_type == "code"]
    prose = [c.source for c in cells if c.cell_type == "markdown"]
    checks = [name for name in map(_graded, code) if name is not None]
    answers = [name for source in prose for name in _ANSWER.findall(source)]
    _check_names(
        checks, [e.name for e in week.exercises], location, "exercise", 'a code cell `check("{}")`'
    )
    _check_names(
        answers,
        [q.name for q in week.questions],
        location,
        "question",
        "a line `<!-- answer: {} -->`",
    )


def _check_names(found: list[str], listed: list[str], location: str, kind: str, place: str) -> None:
    for name, times in Counter(found).items():
        if name not in listed:
            raise BuildError(
                f"{location}: {place.format(name)}: course.yaml has no {kind} of that name, only "
                f"{', '.join(listed) or 'none'}"
            )
        if times > 1:
            raise BuildError(f"{location}: {place.format(name)} appears {times} times: keep one")
    for name in listed:
        if name not in found:
            raise BuildError(
                f"{location}: the {kind} {name!r} is missing: add {place.format(name)}"
            )
