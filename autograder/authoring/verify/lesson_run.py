"""Running a week's lesson from top to bottom beside the solution, in a kernel of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.course.loader import Course, Week
from ...model.errors import KitError
from ...student.commands.notebook import WHOLE_LESSON
from ..lesson.handout import week_files
from .proof import Verification

_CELL_SECONDS = 300


def verify_lesson(course: Course, week: Week) -> Verification:
    """Every cell runs without an error or a warning, and every check in it is green."""
    result = Verification(week.name)
    try:
        files = week_files(course, week)
    except KitError as error:
        result.gaps.append(str(error))
        return result
    notebook = run_lesson(course, week, files)
    result.gaps += (f"the lesson: {said}" for said in complaints(notebook))
    return result


def run_lesson(course: Course, week: Week, files: dict[str, bytes]) -> Any:
    """The notebook among `files` with its outputs, run with the solution in the stub's place."""
    with tempfile.TemporaryDirectory(prefix="autograder-lesson-") as place:
        folder = Path(place) / week.name
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        (folder / week.module).write_bytes(course.solution(week).read_bytes())
        return _run(folder, f"{week.name}.ipynb")


def _run(folder: Path, name: str) -> Any:
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    notebook = nbformat.read(folder / name, as_version=4)
    begun: list[Any] = []
    settings = {
        "IPYTHONDIR": str(folder / ".ipython"),
        "PYTHONWARNINGS": "default",
        "NBGRADER_EXECUTION": "validate",  # a check that is not green raises
        WHOLE_LESSON: "1",
    }
    before = {key: os.environ.get(key) for key in settings}
    os.environ |= settings
    try:
        NotebookClient(
            notebook,
            timeout=_CELL_SECONDS,
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
            on_cell_execute=lambda cell, cell_index: begun.append(cell),
        ).execute()
    except CellTimeoutError:
        _end_in(begun[-1], "TimeoutError", f"it ran for more than {_CELL_SECONDS} s")
    except DeadKernelError:
        _end_in(begun[-1], "DeadKernelError", "Python ended in this cell")
    finally:
        for key, value in before.items():
            os.environ.pop(key) if value is None else os.environ.update({key: value})
    return notebook


def _end_in(cell: Any, kind: str, reason: str) -> None:
    """Give the cell in which a run ended the error that the kernel could not report."""
    import nbformat

    cell.outputs.append(nbformat.v4.new_output("error", ename=kind, evalue=reason, traceback=[]))


def complaints(notebook: Any) -> Iterator[str]:
    """What went wrong in a run notebook, each with the number and first line of its code cell."""
    cells = (c for c in notebook.cells if c.cell_type == "code")
    for number, cell in enumerate(cells, start=1):
        where = f"code cell {number}, {cell.source.strip().split(chr(10))[0]}"
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"{where}: {output.ename}: {output.evalue}"
            elif output.output_type == "stream" and output.name == "stderr":
                yield f"{where}: on stderr: {output.text[:500]}"
