"""Save a submission's scores in one transaction, and keep unchanged manual marks settled.

Stock nbgrader keeps a manual mark when it grades again, but always marks it for review, so
a fixed hidden test would send the instructor back to every written answer of the class. Here a mark
stays settled as long as its basis is unchanged: the text of a written answer, or the
automatic score that it overrides. A new answer needs review and keeps its mark until then; if
the marked answer returns, its mark is settled again.

Stock nbgrader also commits after every cell, so a process that is killed leaves a submission half
scored. Here a submission is one transaction.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import SaveAutoGrades

from ..collect.cell_repair import CoursePreprocessor, Notebook
from ..gradebook.late_penalty import update_penalty
from ..gradebook.report_store import digests_file, judged_digests
from ..state_files import write_state
from ..workspace import cells_of
from .shared_gradebook import after_commit, one_transaction


class SaveScores(SaveAutoGrades, CoursePreprocessor):
    """nbgrader's SaveAutoGrades, with late penalties, which keeps settled marks settled."""

    def preprocess(self, nb: Notebook, resources: ResourcesDict) -> tuple[Notebook, ResourcesDict]:
        about, course = resources["nbgrader"], self.course()
        week, student = self.week(course, resources), about["student"]
        self._previous_digests = judged_digests(course, week, student)
        self._digests: dict[str, str] = {}
        self.notebook_id, self.assignment_id = about["notebook"], about["assignment"]
        self.student_id = student
        with Gradebook(about["db_url"]) as gradebook, one_transaction(gradebook.db):
            self.gradebook: Any = gradebook
            self._cells = cells_of(gradebook, week, student)
            # Skips SaveAutoGrades.preprocess, which would open the gradebook itself.
            nb, resources = super(SaveAutoGrades, self).preprocess(nb, resources)  # type: ignore[no-untyped-call]  # nbgrader's own
            update_penalty(course, gradebook, week, student)
            write = partial(write_state, digests_file(course, week, student), self._digests)
            after_commit(gradebook.db, write)
        return nb, resources

    def _add_score(self, cell: Notebook, resources: ResourcesDict) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        grade, score = self._cells[name].grade, utils.determine_grade(cell, self.log)
        judged = str(cell.source) if utils.is_solution(cell) else repr(score)
        digest = hashlib.blake2b(judged.encode("utf-8", "surrogatepass"), digest_size=16)
        self._digests[name] = digest.hexdigest()
        was_settled = not grade.needs_manual_grade
        marked = self._previous_digests.get(name if was_settled else f"{name} marked")
        grade.auto_score = score[0]
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        if grade.manual_score is not None and marked is not None:
            self._digests[f"{name} marked"] = marked
            grade.needs_manual_grade = marked != self._digests[name]
