"""Mending what a student may have done to the notebook's cells, before anything else reads them.

Theory of operation. The notebook is the student's: cells may be deleted, doubled, retyped, their
metadata edited, their outputs forged. nbgrader mends a part of this and stops the whole batch on
some of the rest. Here every cell that was handed out for grading gets its metadata, type and (where
locked) its text back, a missing one is put back, and no other cell has nbgrader metadata. Answers
to written questions keep the student's text. All outputs go. What is not from us and could act in
the instructor's browser (HTML in Markdown, raw cells, attachments other than pictures) is made
inert.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbgrader.preprocessors.base import NbGraderPreprocessor
from traitlets import List, Unicode

from ...model.course.loader import REGISTRY, Course, Week, load
from ...model.errors import NbgraderError
from ..autograde.notebook_cells import PassedCells, new_cell
from ..workspace import Workspace
from .notebooks import PICTURES

Notebook = Any
Resources = dict[str, Any]
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_CELLS_BOUND, _TEXT_BOUND = 1000, 1 << 20


class CoursePreprocessor(NbGraderPreprocessor):
    """A preprocessor that knows the course."""

    project = Unicode("", help="The folder of course.yaml.").tag(config=True)
    # nbconvert's HTML exporter sets this on every preprocessor, and warns if it may not.
    display_data_priority = List(["text/html", "text/plain"]).tag(config=True)

    def course(self) -> Course:
        return course_at(Path(self.project))

    def week(self, course: Course, resources: Resources) -> Week:
        """The week that is being graded; an assignment that is none is not ours to grade."""
        name = resources["nbgrader"]["assignment"]
        for week in course.weeks:
            if week.name == name:
                return week
        raise NbgraderError(
            f"{name} is no week of course.yaml, so nothing here can grade it: "
            "grade it in a workspace of its own"
        )


def course_at(root: Path) -> Course:
    """The course whose course.yaml stands there, as it is now."""
    try:
        state = (root / REGISTRY).stat()
    except OSError:
        return load(root)  # which says what is wrong
    return _loaded(root, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _loaded(root: Path, changed: int, size: int) -> Course:
    """Reading takes a tenth of what a notebook takes, and several of us ask for each."""
    return load(root)


class RestoreCells(CoursePreprocessor):
    """The student's notebook with the cells that were handed out as they were."""

    def preprocess(self, nb: Notebook, resources: Resources) -> tuple[Notebook, Resources]:
        course = self.course()
        week = self.week(course, resources)
        path = Workspace(course).released(week) / f"{resources['nbgrader']['notebook']}.ipynb"
        try:
            released = handed_out(path).notebook
        except FileNotFoundError:
            raise NbgraderError(
                f"{week.name} was never released: there is no {path.name}"
            ) from None
        return restored(nb, released), resources


class HandedOut(NamedTuple):
    """The released notebook, which the whole class has, and what is known of its cells."""

    notebook: Notebook  # which nobody changes
    passed: PassedCells


def handed_out(path: Path) -> HandedOut:
    """The released notebook as it is now; FileNotFoundError if there is none."""
    state = path.stat()
    return _handed_out(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _handed_out(path: Path, changed: int, size: int) -> HandedOut:
    notebook = nbformat.read(path, as_version=4)
    return HandedOut(notebook, PassedCells(notebook))


def restored(nb: Notebook, released: Notebook) -> Notebook:
    """A notebook made of the student's cells and the released ones."""
    graded = {_grade_id(c): c for c in released.cells if _grade_id(c)}
    texts = {c.source for c in released.cells}
    missing = dict(graded)
    cells = []
    for cell in nb.cells[:_CELLS_BOUND]:
        original = missing.pop(_grade_id(cell), None)
        cells.append(_mended(cell, original, texts))
    cells += [nbformat.from_dict(dict(c)) for c in missing.values()]
    _cut(cells, set(graded))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    # Who writes it checks it, once all steps are done.
    return nbformat.NotebookNode(
        nbformat=nbformat.v4.nbformat,
        nbformat_minor=nbformat.v4.nbformat_minor,
        metadata=nbformat.from_dict(dict(released.metadata)),
        cells=cells,
    )


def _grade_id(cell: Notebook) -> str:
    """The cell's grade id, or "" if it has none (or what is there is no text)."""
    grading = cell.metadata.get("nbgrader", {})
    name = grading.get("grade_id", "") if isinstance(grading, dict) else ""
    return name if isinstance(name, str) else ""


def _mended(cell: Notebook, original: Notebook | None, texts: set[str]) -> Notebook:
    """A fresh cell: nothing of the student's but its text, and pictures in Markdown."""
    source = str(cell.source)
    if original is None:
        if cell.cell_type == "code":
            return new_cell("code", source)
        text = source if source in texts and cell.cell_type == "markdown" else _inert(source)
        return _with_pictures(new_cell("markdown", text), cell)
    mended = nbformat.from_dict(dict(original))
    if mended.metadata["nbgrader"]["solution"]:
        # The untouched answer stays as it is: nbgrader knows it by its checksum.
        mended["source"] = source if source == original.source else _inert(source)
        _with_pictures(mended, cell)
    if mended.cell_type == "code":
        mended["outputs"], mended["execution_count"] = [], None
    return mended


def _inert(text: str) -> str:
    """Text in which no HTML tag begins; formulas and code still mean the same."""
    return _TAG.sub("< ", text)


def _with_pictures(fresh: Notebook, cell: Notebook) -> Notebook:
    attachments = cell.get("attachments")
    if cell.cell_type != "markdown" or not isinstance(attachments, dict):
        return fresh
    kept = {
        name: {kind: data for kind, data in bundle.items() if kind in PICTURES}
        for name, bundle in attachments.items()
        if isinstance(bundle, dict)
    }
    if kept := {name: bundle for name, bundle in kept.items() if bundle}:
        fresh["attachments"] = nbformat.from_dict(kept)
    return fresh


def _cut(cells: list[Notebook], graded: set[str]) -> None:
    """If the notebook is too large, drop what is not graded; answers are cut to the bound."""
    if sum(len(c.source) for c in cells) <= _TEXT_BOUND:
        return
    cells[:] = [c for c in cells if _grade_id(c) in graded]
    for cell in cells:
        cell["source"] = cell["source"][: _TEXT_BOUND // len(cells)]
