"""Read a week's scores from nbgrader's gradebook, after late penalties."""

from __future__ import annotations

from ...model.course import Course, Week
from ...model.report.scoring import rounded
from ..formgrader.manual_marks import require_marks
from .database import read_gradebook
from .due_dates import update_dates
from .rebuild import require_scores


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
