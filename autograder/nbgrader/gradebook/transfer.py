"""Record a week's reports in nbgrader's gradebook, and read its scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...model.course import Course, Week
from ...model.report.schema import Report
from ...model.report.scoring import rounded
from ..autograde.recorder import RecordedScores, Recorder, require_released
from ..collect.submissions import collected
from ..formgrader.manual_marks import require_marks
from ..workspace import open_gradebook
from .database import read_gradebook
from .due_dates import update_dates
from .rebuild import require_scores

__all__ = [
    "RecordedScores",
    "WeekStanding",
    "collected",
    "final_scores",
    "record",
    "require_released",
    "standings",
]


@dataclass(frozen=True)
class WeekStanding:
    """One student's scores for a week in the gradebook."""

    student: str
    score: float
    max_score: float
    to_mark: int  # written answers that are not marked yet
    scores: dict[str, float] = field(default_factory=dict)  # by cell


def record(
    course: Course, week: Week, report: Report, on_done: Callable[[], None] = lambda: None
) -> RecordedScores:
    """Record every submission of the report; call `on_done` after each."""
    with Recorder(course, week) as recorder:
        for submission in report.submissions:
            recorder.enter(submission)
            on_done()
        return recorder.ended()


def standings(course: Course, week: Week) -> list[WeekStanding]:
    """Return the week's scores in the gradebook, by student."""
    from nbgrader.api import MissingEntry

    found = []
    with open_gradebook(course) as gradebook:
        try:
            assignment = gradebook.find_assignment(week.name)
        except MissingEntry:
            return []
        for submission in assignment.submissions:
            grades = [g for notebook in submission.notebooks for g in notebook.grades]
            found.append(
                WeekStanding(
                    student=submission.student.id,
                    score=float(submission.score),
                    max_score=float(submission.max_score),
                    to_mark=sum(bool(g.needs_manual_grade) for g in grades),
                    scores={g.name: float(g.score) for g in grades},
                )
            )
    return sorted(found, key=lambda s: s.student)


def final_scores(course: Course, week: Week) -> dict[str, float]:
    """Return each student's points for a week after late penalties.

    Raises NbgraderError if the gradebook has lost scores or marks that were recorded.
    """
    require_marks(course, week)
    update_dates(course)
    scores = {
        e.student: max(0.0, rounded(e.score - e.penalty, course.registry.decimals))
        for e in read_gradebook(course)[1]
        if e.week == week.name
    }
    require_scores(course, week, scores)
    return scores
