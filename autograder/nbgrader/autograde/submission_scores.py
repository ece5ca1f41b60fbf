"""A submission's scores enter the gradebook all or none, and its marks given by hand stay settled.

Stock nbgrader keeps a mark when it grades again, and asks for it to be looked at again, always:
a mended hidden test would send the instructor back to every written answer of the class. Here a
mark stays settled where what it was given for has not changed: the text of a written answer, or
the automatic score that was overridden. A new answer is asked for again, as before, and keeps its
mark until then; if the marked answer comes back, its mark is settled again.

Stock nbgrader also commits after every cell: killed between two, it leaves a submission half
scored. Here a submission is one transaction.
"""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import SaveAutoGrades

from ...files.atomic import replace_file
from ..collect.cell_repair import CoursePreprocessor, Notebook
from ..gradebook.report_store import recorded_folder
from .bulk_entry import SubmittedCells
from .shared_connection import once_written, one_transaction


class SaveScores(SaveAutoGrades, CoursePreprocessor):
    """nbgrader's SaveAutoGrades, which forgets no mark that still holds."""

    def preprocess(self, nb: Notebook, resources: ResourcesDict) -> tuple[Notebook, ResourcesDict]:
        about, course = resources["nbgrader"], self.course()
        folder = recorded_folder(course, self.week(course, resources))
        path = folder / f"{about['student']}.answers"
        self._graded_before = _read(path)
        self._graded_now: dict[str, str] = {}
        self.notebook_id, self.assignment_id = about["notebook"], about["assignment"]
        self.student_id = about["student"]
        with Gradebook(about["db_url"]) as gradebook, one_transaction(gradebook.db):
            self.gradebook: Any = SubmittedCells(gradebook.db, about)
            # over SaveAutoGrades, which would open the gradebook itself
            nb, resources = super(SaveAutoGrades, self).preprocess(nb, resources)  # type: ignore[no-untyped-call]  # nbgrader's own
            self.gradebook.write()
            graded = json.dumps(self._graded_now).encode()
            once_written(gradebook.db, partial(_write, path, graded))
        return nb, resources

    def _add_score(self, cell: Notebook, resources: ResourcesDict) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        judged = str(cell.source) if utils.is_solution(cell) else repr(utils.determine_grade(cell))
        digest = hashlib.blake2b(judged.encode("utf-8", "surrogatepass"), digest_size=16)
        self._graded_now[name] = digest.hexdigest()
        grade: Any = self.gradebook.find_grade(
            name, self.notebook_id, self.assignment_id, self.student_id
        )
        settled = not grade.needs_manual_grade
        marked = self._graded_before.get(name if settled else f"{name} marked")
        super()._add_score(cell, resources)
        if grade.manual_score is not None and marked is not None:
            self._graded_now[f"{name} marked"] = marked  # what the mark was given for
            grade.needs_manual_grade = marked != self._graded_now[name]


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path, data)


def _read(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
