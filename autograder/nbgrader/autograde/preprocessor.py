"""Write scores and feedback into a notebook instead of executing it, and save the scores.

nbgrader reads a code cell's score from the cell's outputs, and gives full marks for most outputs
that it does not recognize. Each grade cell therefore gets exactly two outputs: the feedback
(display_data, text/html) and the score (execute_result, text/plain, a plain decimal). If the
grading system fails, an error is raised and no score is recorded.

When a submission is graded again, stock nbgrader flags every manual mark for review. `SaveScores`
flags a mark only if its basis has changed: the text or pictures of a written answer, or the
automatic score that the mark overrides. If the student submits the marked answer again, the flag is
cleared.

Stock nbgrader commits after every cell. `SaveScores` uses one transaction per submission, so a
killed process cannot leave a submission with only some of its scores.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import from_dict
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import SaveAutoGrades
from sqlalchemy import event

from ...feedback.render import exercise_fragment
from ...files import write_state
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.message_text import best_electives
from ...model.report import scoring
from ...model.report.schema import Ending, SubmissionReport
from ..collect.cell_repair import CoursePreprocessor, Notebook, Resources
from ..collect.history import read_student
from ..collect.notebooks import pictures_of
from ..collect.submissions import full_history
from ..gradebook import report_store
from ..gradebook.due_dates import update_dates, update_penalty
from ..gradebook.effective_results import cell_scores
from ..gradebook.report_store import About
from ..release.archive import course_for
from ..workspace import cells_of, one_transaction

_NOT_COUNTED = "<p>Only your {}; this one does not.</p>"


# (week, student) -> the report to record and the identity of the graded submission
_prepared: dict[tuple[str, str], tuple[SubmissionReport, About]] = {}


@contextmanager
def prepared_report(week: Week, report: SubmissionReport, about: About) -> Iterator[None]:
    """Make `GradeInSandbox` record this report, within the block, instead of grading."""
    key = week.name, report.name
    _prepared[key] = report, about
    try:
        yield
    finally:
        del _prepared[key]


class GradeInSandbox(CoursePreprocessor):
    """Grades in the sandbox, or uses a prepared report. Replaces nbgrader's `Execute`."""

    def preprocess(self, nb: Notebook, resources: Resources) -> tuple[Notebook, Resources]:
        course = self.course()
        week = self.week(course, resources)
        student, sandbox = resources["nbgrader"]["student"], ""
        try:
            if (week.name, student) in _prepared:
                report, about = _prepared[week.name, student]
            else:
                full_history(course, week, student)
                report, sandbox = grade_student(course, week, student)
                about = report_store.submission_of(course, week, student)
                update_dates(course)
            _require_recordable(course, week, report)
            write_scores(nb, week, report)
        except Exception as error:
            self.log.error(
                "%s, %s: not recorded. %s", week.name, student, str(error) or repr(error)
            )
            _remove_ungraded_entry(week, resources)
            raise
        report_store.keep_report(course, week, student, report, about)
        place = f", sandbox {sandbox}" if sandbox else ""
        result = f"{report.score:g} of {report.max_score:g}{place}"
        self.log.info("%s, %s: %s", week.name, student, result)
        return nb, resources


class SaveScores(SaveAutoGrades, CoursePreprocessor):
    """Saves scores and late penalties. Flags a manual mark only if its basis has changed."""

    def preprocess(self, nb: Notebook, resources: ResourcesDict) -> tuple[Notebook, ResourcesDict]:
        about, course = resources["nbgrader"], self.course()
        week, student = self.week(course, resources), about["student"]
        self._previous_digests = report_store.judged_digests(course, week, student)
        self._digests: dict[str, str] = {}
        self.notebook_id, self.assignment_id = about["notebook"], about["assignment"]
        self.student_id = student
        with Gradebook(about["db_url"]) as gradebook, one_transaction(gradebook.db):
            self.gradebook: Any = gradebook
            self._cells = cells_of(gradebook, week, student)
            # Skip SaveAutoGrades.preprocess, because it would open the gradebook again.
            nb, resources = super(SaveAutoGrades, self).preprocess(nb, resources)  # type: ignore[no-untyped-call]  # nbgrader's own
            update_penalty(course, gradebook, week, student)
            path, digests = report_store.digests_file(course, week, student), self._digests
            event.listen(
                gradebook.db(), "after_commit", lambda _: write_state(path, digests), once=True
            )
        return nb, resources

    def _add_score(self, cell: Notebook, resources: ResourcesDict) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        grade, score = self._cells[name].grade, utils.determine_grade(cell, self.log)
        # If there are no pictures, hash only the text, because older versions did so.
        pictures = json.dumps(pictures_of(cell), sort_keys=True).removeprefix("{}")
        judged = f"{cell.source}{pictures}" if utils.is_solution(cell) else repr(score)
        digest = hashlib.blake2b(judged.encode("utf-8", "surrogatepass"), digest_size=16)
        self._digests[name] = digest.hexdigest()
        was_settled = not grade.needs_manual_grade
        marked = self._previous_digests.get(name if was_settled else f"{name} marked")
        grade.auto_score = score[0]
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        if grade.manual_score is not None and marked is not None:
            self._digests[f"{name} marked"] = marked
            grade.needs_manual_grade = marked != self._digests[name]


def _require_recordable(course: Course, week: Week, report: SubmissionReport) -> None:
    """Raise NbgraderError if recording the report would be wrong.

    A system error must not become a score, and a submission that cannot be graded must not replace
    the scores of a graded submission.
    """
    if report.verdict is Ending.GRADER_FAULT:
        raise NbgraderError(
            f"{report.message} Grade {report.name} again; `autograder doctor` looks for the cause."
        )
    now = report_store.stored_report(course, week, report.name)
    graded = now is not None and now.verdict is Ending.GRADED
    if graded and report.verdict is not Ending.GRADED:
        raise NbgraderError(f"{report.message} The earlier submission stays in the gradebook.")


def grade_student(course: Course, week: Week, student: str) -> tuple[SubmissionReport, str]:
    """Grade a student's collected submission; return the report and the name of the sandbox."""
    from ...batch.grade import grade_batch
    from ...model.availability import axis

    submission, graders = read_student(course, week, student), course_for(course, week, student)
    report = grade_batch(graders, graders.week(week.name), [submission], devices=axis(), jobs=1)
    return report.submissions[0], report.sandbox


def write_scores(nb: Notebook, week: Week, report: SubmissionReport) -> None:
    """Clear the outputs of all code cells, then write feedback and scores into the grade cells.

    Raise NbgraderError if a grade cell and course.yaml disagree about an exercise's points.
    """
    exercises = {e.name: e for e in report.exercises}
    points = {e.name: e.points for e in week.exercises}
    scores = cell_scores(week, report)
    counted = {e.name for e in scoring.counted(week, report.exercises)}
    message = report.message  # shown only in the first grade cell
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        grading = cell.metadata.get("nbgrader", {})
        if not grading.get("grade"):
            continue
        name = grading["grade_id"]
        if points.get(name) != grading["points"]:
            raise NbgraderError(
                f"{week.name}: the released notebook gives {grading['points']:g} points for "
                f"{name!r}, but course.yaml does not: run `autograder release {week.name}` again"
            )
        exercise = exercises.get(name) or scoring.ungraded(week.exercise(name))
        html, message = _fragment(exercise, points[name], message), ""
        if name in exercises and name not in counted:
            html = f"{html}\n{_NOT_COUNTED.format(best_electives(week.electives_counted or 0))}"
        cell.outputs = [
            _output("display_data", {"text/html": html}),
            _output("execute_result", {"text/plain": decimal(scores[name])}, execution_count=None),
        ]


# Cached, because students who fail the same tests, or none, get identical feedback.
_fragment = lru_cache(maxsize=256)(exercise_fragment)


def _output(kind: str, data: dict[str, str], **fields: object) -> Notebook:
    return from_dict({"output_type": kind, "metadata": {}, "data": data, **fields})


def decimal(score: float) -> str:
    """Format a score as a plain decimal. Raise NbgraderError if it is negative or NaN."""
    if not score >= 0:
        raise NbgraderError(f"{score} is not a score")
    return f"{score:.4f}".rstrip("0").rstrip(".")


def _remove_ungraded_entry(week: Week, resources: Resources) -> None:
    student = resources["nbgrader"]["student"]
    with Gradebook(resources["nbgrader"]["db_url"]) as gradebook:
        cells = cells_of(gradebook, week, student)
        scores = [score for g, _ in cells.values() for score in (g.auto_score, g.manual_score)]
        if scores and not any(score is not None for score in scores):
            gradebook.remove_submission(week.name, student)
