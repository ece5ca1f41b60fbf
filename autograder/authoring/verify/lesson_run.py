"""Run a week's lesson from top to bottom with the solution, in a separate kernel."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.course import Course, Week
from ...model.errors import KitError
from ..lesson.handout import week_files
from .results import Verification

_CELL_SECONDS = 300


def verify_lesson(course: Course, week: Week) -> Verification:
    """Verify that every cell runs without an error or a warning and that every check passes."""
    result = Verification(week.name)
    try:
        files = week_files(course, week)
    except KitError as error:
        result.gaps.append(str(error))
        return result
    notebook = run_lesson(course, week, files)
    result.gaps += (f"the lesson: {problem}" for problem in cell_problems(notebook))
    return result


def run_lesson(course: Course, week: Week, files: dict[str, bytes]) -> Any:
    """Return the notebook among `files` with its outputs, run with the solution as the module."""
    with tempfile.TemporaryDirectory(prefix="autograder-lesson-") as place:
        folder = Path(place) / week.name
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        (folder / week.module).write_bytes(course.solution(week).read_bytes())
        return _execute(folder, f"{week.name}.ipynb")


def cell_problems(notebook: Any) -> Iterator[str]:
    """Yield the errors and warnings of an executed notebook, with the cell's number and start."""
    cells = (c for c in notebook.cells if c.cell_type == "code")
    for number, cell in enumerate(cells, start=1):
        where = f"code cell {number}, {cell.source.strip().split(chr(10))[0]}"
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"{where}: {output.ename}: {output.evalue}"
            elif output.output_type == "stream" and output.name == "stderr":
                yield f"{where}: on stderr: {output.text[:500]}"


def _execute(folder: Path, name: str) -> Any:
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    notebook = nbformat.read(folder / name, as_version=4)
    started: list[Any] = []
    reasons: dict[type[Exception], str] = {
        CellTimeoutError: f"it ran for more than {_CELL_SECONDS} s",
        DeadKernelError: "Python ended in this cell",
    }
    settings = {
        "IPYTHONDIR": str(folder / ".ipython"),
        "PYTHONWARNINGS": "default",
        "NBGRADER_EXECUTION": "validate",  # a failing check raises
    }
    client = NotebookClient(
        notebook,
        timeout=_CELL_SECONDS,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
        on_cell_execute=lambda cell, **_: started.append(cell),
    )
    try:
        client.execute(env=os.environ | settings)
    except tuple(reasons) as error:
        started[-1].outputs.append(
            nbformat.v4.new_output(
                "error", ename=type(error).__name__, evalue=reasons[type(error)], traceback=[]
            )
        )
    return notebook
