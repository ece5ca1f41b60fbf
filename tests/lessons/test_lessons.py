"""Every lesson runs with the solution without a warning, and all checks pass.

Its outputs form a page of the students' site without secrets.

The notebook is the one that `release` hands out.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from PIL import Image

from autograder.authoring.lesson.handout import figures_used, lesson_text, week_files
from autograder.authoring.verify.public_files import cell_problems, imported_modules
from autograder.files import write_files
from autograder.model.course import Course, Week, load
from autograder.site.build import week_pages
from tests.weeks import each_week

PROJECT = load(Path(__file__).resolve().parents[2])
WRITTEN = [
    w
    for w in PROJECT.weeks
    if (PROJECT.exercise_folder(w) / "lesson.md").is_file()
    and (PROJECT.exercise_folder(w) / w.module).is_file()
]
CELL_SECONDS = 1800
# Their cells train, draw from many runs, or run kernels in an interpreter.
LONG = (
    "week01_softmax",
    "week02_masking",
    "week03_multihead",
    "week05_transformer",
    "week06_beyond",
    "week07_flash",
    "week08_serving",
    "week09_kernels",
    "week10_llama",
    "week11_circuits",
    "week12_recurrent",
    "week13_memory",
)
every_week = pytest.mark.parametrize("week", WRITTEN, ids=lambda w: w.name)


def solved_folder(course: Course, week: Week, folder: Path) -> Any:
    """What `release` gives to students, with solutions in the place of stubs; the notebook."""
    files = week_files(course, week)
    write_files(folder, files | imported_modules(course, week, files))
    (folder / week.module).write_bytes(course.solution(week).read_bytes())
    return nbformat.read(folder / f"{week.name}.ipynb", as_version=4)


@every_week
def test_every_figure_of_a_lesson_is_drawn(week: Week) -> None:
    for name in figures_used(lesson_text(PROJECT, week)):
        path = PROJECT.figures(week) / name
        assert path.is_file(), f"{path.relative_to(PROJECT.root)} is missing"
        if path.suffix == ".svg":
            assert b"<path" in path.read_bytes()
            continue
        with Image.open(io.BytesIO(path.read_bytes())) as picture:
            assert min(picture.size) > 100


@each_week(WRITTEN, thorough=LONG)
def test_a_lesson_runs_and_its_checks_are_green(
    week: Week, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / ".ipython"))
    folder = tmp_path / week.name
    folder.mkdir()
    notebook = solved_folder(PROJECT, week, folder)
    client = NotebookClient(
        notebook, timeout=CELL_SECONDS, allow_errors=True, resources={"metadata": {"path": folder}}
    )
    client.execute()
    assert list(cell_problems(notebook)) == []
    for cell in (c for c in notebook.cells if "nbgrader" in c.metadata and c.cell_type == "code"):
        shown = [o.data.get("text/plain", "") for o in cell.outputs if "data" in o]
        assert "All public checks pass" in "".join(shown), f"{cell.source}: {shown}"
    nbformat.validate(notebook)
    assert week_pages(PROJECT, week, week_files(PROJECT, week), notebook), "leaks would raise"
