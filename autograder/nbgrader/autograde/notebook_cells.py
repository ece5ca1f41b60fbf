"""Cells, outputs and their check, without a look at the schema for each of them.

nbformat holds every new cell against the notebooks' schema, and nbgrader holds every cell's
metadata against its own, which it compiles anew for each. What is made here is plain, the
notebook that it goes into is checked as a whole, and metadata that was checked before is known.
"""

from __future__ import annotations

import copy
import json
from typing import Any, ClassVar

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import CheckCellMetadata, OverwriteCells, OverwriteKernelspec

from .bulk_entry import ReleasedCells, kernelspec_of

_MOST_KNOWN = 256


def new_cell(kind: str, source: str) -> Any:
    """A code or a Markdown cell; whoever puts it into a notebook gives it an id."""
    cell = NotebookNode(cell_type=kind, metadata=NotebookNode(), source=source)
    if kind == "code":
        cell.update(execution_count=None, outputs=[])
    return cell


def new_result(kind: str, data: dict[str, str]) -> Any:
    """A `display_data` or an `execute_result`."""
    output = NotebookNode(output_type=kind, metadata=NotebookNode(), data=NotebookNode(data))
    if kind == "execute_result":
        output["execution_count"] = None
    return output


class PassedCells:
    """The notebooks' schema, asked of no cell that is as one of a notebook that passed.

    Without a notebook, or with one that does not pass, it is asked of all.
    """

    def __init__(self, notebook: Any = None, *, relaxed: bool = False) -> None:
        self._relaxed = relaxed
        self._kind: tuple[Any, Any] | None = None
        self._known: dict[str, Any] = {}
        if notebook is not None and self._passes(notebook):
            self._kind = _kind(notebook)
            self._known = {c["id"]: copy.deepcopy(c) for c in notebook.cells if "id" in c}

    def _passes(self, notebook: Any) -> bool:
        try:
            nbformat.validate(notebook, relax_add_props=self._relaxed)
        except nbformat.ValidationError:
            return False
        return True

    def check(self, notebook: Any) -> None:
        """Raise ValidationError if the notebook does not pass."""
        cells = notebook.get("cells")
        if self._kind == _kind(notebook) and isinstance(cells, list):
            rest = [c for c in cells if not self._has(c)]
            notebook = NotebookNode({**notebook, "cells": rest})
        nbformat.validate(notebook, relax_add_props=self._relaxed)

    def _has(self, cell: Any) -> bool:
        name = cell.get("id") if isinstance(cell, dict) else None
        return isinstance(name, str) and name in self._known and bool(self._known[name] == cell)


def _kind(notebook: Any) -> tuple[Any, Any]:
    return notebook.get("nbformat"), notebook.get("nbformat_minor")


class CheckedOnce(CheckCellMetadata):
    """nbgrader's check, once for notebooks whose cells say the same of themselves to nbgrader."""

    _known: ClassVar[set[str]] = set()

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        about = [(c.cell_type, c.metadata.get("nbgrader")) for c in nb.cells]
        said = json.dumps(about, sort_keys=True)
        if said not in self._known:
            nb, resources = super().preprocess(nb, resources)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known.add(said)
        return nb, resources


class OverwrittenAtOnce(OverwriteCells):
    """nbgrader's OverwriteCells, which reads all cells of the released notebook at once."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        if self.add_missing_cells:
            return super().preprocess(nb, resources)
        about = resources["nbgrader"]
        self.notebook_id, self.assignment_id = about["notebook"], about["assignment"]
        with Gradebook(about["db_url"]) as gradebook:
            self.gradebook: Any = ReleasedCells(gradebook.db, about)
            # over OverwriteCells, which would open the gradebook itself
            return super(OverwriteCells, self).preprocess(nb, resources)  # type: ignore[no-any-return, no-untyped-call]  # nbgrader's own


class KernelspecAtOnce(OverwriteKernelspec):
    """nbgrader's OverwriteKernelspec, which asks for nothing else of the released notebook."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            if kernel := kernelspec_of(gradebook.db, about):
                nb.metadata["kernelspec"] = kernel
        return nb, resources
