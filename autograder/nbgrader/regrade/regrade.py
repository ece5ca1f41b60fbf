"""Regrade a week after a hidden test was fixed, and undo a regrade.

A regrade changes only the automatic scores of exercises. Manual marks stay and take precedence.
Students who have submitted again since they were graded are left out; run `grade` for them.

The scores and late penalties of a plan are written to the gradebook in one transaction, followed by
the reports and graded notebooks. After an interruption, all steps can safely be repeated.
"""

from enum import Enum
from typing import Any

import msgspec
import nbformat

from ...batch.store import fingerprint
from ...files import course_secret, replace_file, write_state
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.report.comparison import differ
from ...model.report.schema import Ending, Report, SubmissionReport
from ..autograde.preprocessor import write_scores
from ..formgrader.manual_marks import keep_marks
from ..gradebook import report_store
from ..gradebook.due_dates import require_scores, update_penalty
from ..gradebook.effective_results import cell_scores
from ..workspace import Workspace, cells_of, open_gradebook
from .regrade_log import Plan, RegradeLog, ScoreChange

_TOLERANCE = 1e-6


class LeftOut(Enum):
    """The reason why a regrade does not change a student's score."""

    NOT_GRADED = "not graded yet: `autograder grade {week}`"
    GRADER_FAULT = "not graded because of a system error; the score stays"
    SUBMITTED_AGAIN = "submitted again since grading: `autograder grade {week}`"


class Preview(msgspec.Struct):
    """The changes that a regrade would make."""

    changes: list[ScoreChange] = []
    same: list[str] = []  # students without any change
    by_hand: dict[str, list[str]] = {}  # student -> hand-marked exercises
    left_out: dict[str, LeftOut] = {}  # student -> reason

    @property
    def rescored(self) -> list[ScoreChange]:
        return [c for c in self.changes if _rescored(c)]

    @property
    def reworded(self) -> list[ScoreChange]:
        """Return the changes that affect only verdicts or messages, not scores."""
        return [c for c in self.changes if not _rescored(c)]


def total(change: ScoreChange) -> tuple[float, float]:
    """Return a student's total automatic score before and after a change."""
    return sum(v or 0.0 for v in change.old_scores.values()), sum(change.new_scores.values())


def _rescored(change: ScoreChange) -> bool:
    return any(
        old is None or abs(old - change.new_scores[name]) > _TOLERANCE
        for name, old in change.old_scores.items()
    )


def preview(course: Course, week: Week, report: Report) -> Preview:
    """Compare a new report with the gradebook, without writing scores.

    Raise NbgraderError if no student was graded, or if the gradebook has lost scores.
    """
    found = Preview()
    keep_marks(course)
    with open_gradebook(course) as gradebook:
        named = [s.name for s in report.submissions]
        require_scores(course, week, {n for n in named if _grades(gradebook, week, n)})
        for new in report.submissions:
            why = _compare(course, week, gradebook, new, found)
            if why is not None:
                found.left_out[new.name] = why
    none_graded = all(why is LeftOut.NOT_GRADED for why in found.left_out.values())
    if none_graded and not (found.changes or found.same):
        raise NbgraderError(
            f"{week.name} has not been graded yet: run `autograder grade {week.name}` first"
        )
    return found


def _compare(
    course: Course, week: Week, gradebook: Any, new: SubmissionReport, found: Preview
) -> LeftOut | None:
    """Add a student to the preview, or return the reason why the student is left out."""
    student = new.name
    old = report_store.stored_report(course, week, student)
    grades = _grades(gradebook, week, student)
    if old is None or not any(g.auto_score is not None for g in grades.values()):
        return LeftOut.NOT_GRADED
    if new.verdict is Ending.GRADER_FAULT:
        return LeftOut.GRADER_FAULT
    about = report_store.submission_of(course, week, student)
    if old.number != about.number:
        return LeftOut.SUBMITTED_AGAIN
    scores = cell_scores(week, new)
    _require_same_points(week, grades)
    marked = [name for name in scores if grades[name].manual_score is not None]
    if marked:
        found.by_hand[student] = marked
    before = {name: grades[name].auto_score for name in scores}
    change = ScoreChange(student, before, scores, old, report_store.stamped(new, about))
    if _rescored(change) or differ(old, new):
        found.changes.append(change)
    else:
        found.same.append(student)
    return None


def _grades(gradebook: Any, week: Week, student: str) -> dict[str, Any]:
    cells = cells_of(gradebook, week, student)
    return {e.name: cells[e.name].grade for e in week.exercises if e.name in cells}


def _require_same_points(week: Week, grades: dict[str, Any]) -> None:
    for exercise in week.exercises:
        held = grades[exercise.name].max_score if exercise.name in grades else None
        if held != exercise.points:
            raise NbgraderError(
                f"{week.name}: course.yaml gives {exercise.points:g} points for "
                f"{exercise.name!r}, but the released notebook does not: run "
                f"`autograder release {week.name}` and `autograder grade {week.name}` first"
            )


def plan_of(course: Course, week: Week, report: Report, found: Preview, reason: str) -> Plan:
    """Return the plan that carries out the changes of a preview."""
    graders = fingerprint(course, week, report.devices, course_secret(course), report.sandbox)
    return Plan(week=week.name, reason=reason, graders=graders.hex(), changes=tuple(found.changes))


def undoing(course: Course, week: Week, log: RegradeLog, reason: str) -> tuple[Plan, list[str]]:
    """Return a plan that undoes the last regrade, and the students it cannot restore.

    A student who was graded again after the regrade keeps the new scores. Raise NbgraderError if
    there is nothing to undo.
    """
    last = log.last()
    if last is None:
        done = "all regrades were undone" if log.entries() else "it was never regraded"
        raise NbgraderError(f"nothing to undo in {week.name}: {done}")
    back, gone = [], []
    with open_gradebook(course) as gradebook:
        for change in last.changes:
            grades = _grades(gradebook, week, change.student)
            held = report_store.stored_report(course, week, change.student)
            if held is None or not _as_left(grades, held, change):
                gone.append(change.student)
                continue
            old = {name: score or 0.0 for name, score in change.old_scores.items()}
            back.append(ScoreChange(change.student, dict(change.new_scores), old, held, change.old))
    if not back:
        raise NbgraderError(
            f"nothing to undo in {week.name}: all its students were graded again since"
        )
    plan = Plan(
        week=week.name, reason=reason, graders=last.graders, changes=tuple(back), undoes=last.id
    )
    return plan, gone


def _as_left(grades: dict[str, Any], recorded: report_store.Recorded, change: ScoreChange) -> bool:
    """Return True if the submission and its scores are still as the change left them."""
    return recorded.number == change.new.number and all(
        name in grades and abs((grades[name].auto_score or 0.0) - score) <= _TOLERANCE
        for name, score in change.new_scores.items()
    )


def carry_out(course: Course, week: Week, log: RegradeLog, plan: Plan) -> None:
    """Write the scores, reports and notebooks of a plan, and log the plan."""
    log.begin(plan)
    for change in write_gradebook(course, week, plan):
        write_state(report_store.recorded_file(course, week, change.student), change.new)
        write_notebook(course, week, change)
    log.end(plan)


def write_gradebook(course: Course, week: Week, plan: Plan) -> list[ScoreChange]:
    """Write all scores and late penalties in one transaction; return the changes written.

    Skip a student who was graded again after the plan was interrupted, or whose exercises in the
    gradebook differ from the plan's.
    """
    current = []
    with open_gradebook(course) as gradebook:
        for change in plan.changes:
            grades = _grades(gradebook, week, change.student)
            held = report_store.stored_report(course, week, change.student)
            graded_again = held is not None and held.number != change.new.number
            if grades.keys() != change.new_scores.keys() or graded_again:
                continue
            for name, score in change.new_scores.items():
                grades[name].auto_score = score
            update_penalty(course, gradebook, week, change.student)
            current.append(change)
        gradebook.db.commit()
    return current


def write_notebook(course: Course, week: Week, change: ScoreChange) -> None:
    """Update the scores and feedback in the graded notebook that Formgrader shows, if it exists."""
    path = Workspace(course).autograded(change.student, week) / f"{week.name}.ipynb"
    if path.is_file():
        notebook = nbformat.read(path, as_version=4)
        write_scores(notebook, week, change.new)
        data = nbformat.writes(notebook).encode()
        replace_file(path, data, path.stat().st_mode & 0o777)
