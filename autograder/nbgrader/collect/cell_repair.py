"""Repair the cells of a student's notebook before nbgrader reads the notebook.

Students may delete or duplicate cells, change their types, edit metadata and forge outputs.
nbgrader repairs some of these changes, but others abort the grading of the whole class.
`RestoreCells` restores the metadata, the type and, if locked, the text of every released grade
cell, and adds missing grade cells. It removes all outputs, and nbgrader's metadata from all other
cells. Written answers keep the student's text. Content that could run in the instructor's browser
(HTML in Markdown, raw cells, attachments except pictures) is made inert, unless it was released.

`RestoreCells` replaces nbgrader's ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells
and CheckCellMetadata.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors.base import NbGraderPreprocessor
from traitlets import List, Unicode

from ...model.course import REGISTRY, Course, Week, load
from ...model.errors import NbgraderError
from ..workspace import Workspace
from .notebooks import CELLS, DATA_URL, first_cells, grade_id, pictures_of

Notebook = Any
Resources = dict[str, Any]
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_MAX_TEXT = 1 << 20
_CUT = "\n\n[The rest was cut off, because the notebook contains too much text.]"


class CoursePreprocessor(NbGraderPreprocessor):
    """A preprocessor with access to the course."""

    project = Unicode("", help="The folder of course.yaml.").tag(config=True)
    # nbconvert's HTML exporter sets this trait on every preprocessor, and warns if it is missing.
    display_data_priority = List(["text/html", "text/plain"]).tag(config=True)

    def course(self) -> Course:
        """Return the course, reloading course.yaml only if the file has changed."""
        root = Path(self.project)
        return _loaded(root, (root / REGISTRY).stat().st_mtime_ns)

    def week(self, course: Course, resources: Resources) -> Week:
        """Return the assignment's week; raise NbgraderError if course.yaml has no such week."""
        name = resources["nbgrader"]["assignment"]
        for week in course.weeks:
            if week.name == name:
                return week
        raise NbgraderError(f"course.yaml has no week {name}: grade it in another nbgrader folder")


@lru_cache(maxsize=4)
def _loaded(root: Path, changed: int) -> Course:
    return load(root)


class RestoreCells(CoursePreprocessor):
    """Restores the released grade cells of a student's notebook."""

    def preprocess(self, nb: Notebook, resources: Resources) -> tuple[Notebook, Resources]:
        course = self.course()
        week = self.week(course, resources)
        path = Workspace(course).released(week) / f"{resources['nbgrader']['notebook']}.ipynb"
        try:
            released = _released_notebook(path, path.stat().st_mtime_ns)
        except FileNotFoundError:
            raise NbgraderError(f"{week.name} is not released yet: no {path.name}") from None
        return restored(nb, released), resources


@lru_cache(maxsize=4)
def _released_notebook(path: Path, changed: int) -> Notebook:
    return nbformat.read(path, as_version=4)


def restored(nb: Notebook, released: Notebook) -> Notebook:
    """Return the student's notebook with the released grade cells restored.

    Written answers keep the student's text, and the student's other cells stay.
    """
    graded = first_cells(released.cells)
    texts = {c.source for c in released.cells}
    missing, own = dict(graded), first_cells(nb.cells, graded)
    cells = []
    for number, cell in enumerate(nb.cells):
        is_graded = own.get(grade_id(cell)) is cell
        original = missing.pop(grade_id(cell), None) if is_graded else None
        if original is not None or number < CELLS:
            cells.append(_repaired(cell, original, texts))
    cells += [nbformat.from_dict(dict(c)) for c in missing.values()]
    _limit_size(cells, set(graded))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return nbformat.NotebookNode(
        nbformat=nbformat.v4.nbformat,
        nbformat_minor=nbformat.v4.nbformat_minor,
        metadata=nbformat.from_dict(dict(released.metadata)),
        cells=cells,
    )


def _repaired(cell: Notebook, original: Notebook | None, texts: set[str]) -> Notebook:
    """Return a safe copy of a student's cell. `original`: the released cell, if it is graded."""
    source = str(cell.source)
    if original is None:
        if cell.cell_type == "code":
            return _new_cell("code", source)
        text = source if source in texts and cell.cell_type == "markdown" else _inert(source)
        return _with_pictures(_new_cell("markdown", text), cell)
    repaired = nbformat.from_dict(dict(original))
    if repaired.metadata["nbgrader"]["solution"]:
        # Keep an unchanged answer exactly, because nbgrader recognizes it by its checksum.
        repaired["source"] = source if source == original.source else _inert(source)
        _with_pictures(repaired, cell)
    if repaired.cell_type == "code":
        repaired["outputs"], repaired["execution_count"] = [], None
    return repaired


def _new_cell(kind: str, source: str) -> Notebook:
    """Return a new cell without validation, because the whole notebook is validated later."""
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return nbformat.from_dict({"cell_type": kind, "metadata": {}, "source": source, **code})


def _inert(text: str) -> str:
    """Insert a space into HTML tags so that browsers ignore them; formulas and code still work."""
    return _TAG.sub("< ", text)


def _with_pictures(fresh: Notebook, cell: Notebook) -> Notebook:
    if cell.cell_type == "markdown" and (kept := pictures_of(cell)):
        fresh["attachments"] = nbformat.from_dict(kept)
    return fresh


def _limit_size(cells: list[Notebook], graded: set[str]) -> None:
    """Drop ungraded cells and truncate long graded cells if the notebook has too much text.

    Neither embedded nor attached pictures count as text. A cell that is truncated loses its
    embedded pictures first.
    """
    if sum(map(_length, cells)) <= _MAX_TEXT:
        return
    cells[:] = [c for c in cells if grade_id(c) in graded]
    longest = _MAX_TEXT // len(cells)
    for cell in cells:
        if _length(cell) > longest:
            cell["source"] = DATA_URL.sub("()", cell["source"])[:longest] + _CUT


def _length(cell: Notebook) -> int:
    return len(DATA_URL.sub("()", cell["source"]))
