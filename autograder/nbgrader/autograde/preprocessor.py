"""Grading in nbgrader's own pipeline, in the place where it would run the student's notebook.

nbgrader reads a score from a cell's outputs, and gives full marks to nearly everything it does not
understand. So each grade cell gets exactly two outputs: the feedback (display_data, text/html) and
the score (execute_result, text/plain, a plain decimal). Nothing is executed here. A fault of ours
is raised, so that nbgrader records nothing: it is never a zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

from ...feedback.html import exercise_fragment
from ...files.sharing import share_attachments
from ...model.course.loader import Course, Week
from ...model.errors import NbgraderError
from ...model.report import scoring
from ...model.report.schema import Report, SubmissionReport
from ...model.report.verdicts import Ending
from ..collect.cell_repair import CoursePreprocessor, Notebook, Resources
from ..collect.submitted import read_student
from ..gradebook.due_dates import bring_dates
from ..gradebook.report_store import NOTHING, About, Recorded, keep_report, kept_report
from ..gradebook.unchanged_scores import cell_scores
from ..release.archive import course_for
from ..workspace import Workspace
from .notebook_cells import new_result

_NOT_COUNTED = "<p>Of the electives your best {} count; this one is not among them.</p>"
_at_hand: dict[tuple[str, str], tuple[SubmissionReport, str, Mapping[str, About]]] = {}


@contextmanager
def at_hand(report: Report, abouts: Mapping[str, About] = NOTHING) -> Iterator[None]:
    """Within it, the preprocessor records this report instead of asking the result store.

    abouts: by student, what their report is of, where that is known.
    """
    reports = {(report.week, s.name): (s, report.sandbox, abouts) for s in report.submissions}
    _at_hand.update(reports)
    try:
        yield
    finally:
        for key in reports:
            _at_hand.pop(key, None)


class GradeInSandbox(CoursePreprocessor):
    """Stands where nbgrader has Execute: writes scores and feedback into the grade cells."""

    def preprocess(self, nb: Notebook, resources: Resources) -> tuple[Notebook, Resources]:
        course = self.course()
        week = self.week(course, resources)
        student = resources["nbgrader"]["student"]
        try:
            known = _at_hand.get((week.name, student))
            report, sandbox, abouts = known or (*grade_student(course, week, student), NOTHING)
            if known is None:  # through nbgrader's own command or page: its due date decides
                bring_dates(course)
            _refuse_fault(report)
            _refuse_in_place_of(report, kept_report(course, week, student))
            write_scores(nb, week, report)
            workspace = Workspace(course)
            share_attachments(
                workspace.submitted(student, week), workspace.autograded(student, week)
            )
        except Exception as error:
            self.log.error(
                "%s, %s: nothing was recorded. %s", week.name, student, str(error) or repr(error)
            )
            _forget_ungraded(resources)
            raise
        keep_report(course, week, student, report, abouts.get(student))
        said = f"{week.name}, {student}: {report.score:g} of {report.max_score:g}"
        self.log.info("%s, sandbox %s", said, sandbox)
        return nb, resources


def _refuse_fault(report: SubmissionReport) -> None:
    if report.verdict is Ending.GRADER_FAULT:
        raise NbgraderError(
            f"{report.message} Grade {report.name} again; `autograder doctor` looks for the cause."
        )


def _refuse_in_place_of(report: SubmissionReport, now: Recorded | None) -> None:
    """Raise NbgraderError if what cannot be graded would replace what was."""
    graded = now is not None and now.verdict is Ending.GRADED
    if graded and report.verdict is not Ending.GRADED:
        raise NbgraderError(f"{report.message} The earlier submission stays in the gradebook.")


def grade_student(course: Course, week: Week, student: str) -> tuple[SubmissionReport, str]:
    """Grade what one student handed in, and name the sandbox; at once if the store knows it."""
    from ...batch.grade import grade_batch
    from ...model.device_axes import axis

    submission, of = read_student(course, week, student), course_for(course, week, student)
    report = grade_batch(of, of.week(week.name), [submission], devices=axis(), jobs=1)
    return report.submissions[0], report.sandbox


def write_scores(nb: Notebook, week: Week, report: SubmissionReport) -> None:
    """Feedback and score, into the grade cells' outputs."""
    exercises = {e.name: e for e in report.exercises}
    points = {e.name: e.points for e in week.exercises}
    scores = cell_scores(week, report)
    counted = {e.name for e in scoring.counted(week, report.exercises)}
    message = report.message  # for the first exercise's cell alone
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
                f"{name!r}, which course.yaml does not: `autograder release {week.name}` again"
            )
        exercise = exercises.get(name) or scoring.ungraded(week.exercise(name))
        html, message = _fragment(exercise, points[name], message), ""
        if name in exercises and name not in counted:
            html = f"{html}\n{_NOT_COUNTED.format(week.electives_counted)}"
        cell.outputs = [
            new_result("display_data", {"text/html": html}),
            new_result("execute_result", {"text/plain": decimal(scores[name])}),
        ]


# Many of a class fail at the same, and most of them at nothing.
_fragment = lru_cache(maxsize=256)(exercise_fragment)


def decimal(score: float) -> str:
    """A score as nbgrader reads it: digits and a point, never an exponent or a sign."""
    if not score >= 0:
        raise NbgraderError(f"{score} is no score")
    return f"{score:.4f}".rstrip("0").rstrip(".")


def _forget_ungraded(resources: Resources) -> None:
    """Take back the empty entry that nbgrader made for a submission that has no score yet."""
    from nbgrader.api import Gradebook, MissingEntry

    about = resources["nbgrader"]
    with Gradebook(about["db_url"]) as gradebook:
        try:
            submission = gradebook.find_submission(about["assignment"], about["student"])
        except MissingEntry:
            return
        grades = [g for notebook in submission.notebooks for g in notebook.grades]
        if all(g.auto_score is None and g.manual_score is None for g in grades):
            gradebook.remove_submission(about["assignment"], about["student"])
