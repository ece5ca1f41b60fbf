"""From reports to nbgrader's gradebook, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...model.course.loader import Course, Week
from ...model.report.schema import Report
from ...model.report.scoring import rounded
from ..autograde.recorder import RecordedScores, Recorder, require_released
from ..collect.submissions import collected
from ..formgrader.manual_marks import require_marks
from ..workspace import open_gradebook
from .database import read_gradebook
from .due_dates import bring_dates
from .rebuild import require_held

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
    """One student's scores for a week as the gradebook holds them."""

    student: str
    score: float
    max_score: float
    to_mark: int  # written answers that nobody has marked yet
    scores: dict[str, float] = field(default_factory=dict)


def record(
    course: Course,
    week: Week,
    report: Report,
    on_done: Callable[[], None] = lambda: None,
) -> RecordedScores:
    """Run nbgrader's autograde step for every submission of the report, in this process."""
    with Recorder(course, week) as recorder:
        for submission in report.submissions:
            recorder.enter(submission)
            on_done()
        return recorder.ended()


def standings(course: Course, week: Week) -> list[WeekStanding]:
    """The week's scores from the gradebook, by student."""
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
    """What each student gets for a week: all points, less what late work costs.

    Raises NbgraderError if the gradebook has lost scores that were recorded.
    """
    require_marks(course, week)
    bring_dates(course)
    decimals = course.registry.decimals
    _, entries = read_gradebook(course)
    scores = {
        e.student: max(0.0, rounded(e.score - e.penalty, decimals))
        for e in entries
        if e.week == week.name
    }
    require_held(course, week, scores)
    return scores
