"""Read a week's scores through nbgrader."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.model.course import Course, Week
from autograder.nbgrader.workspace import cells_of, open_gradebook


@dataclass(frozen=True)
class WeekStanding:
    """One student's scores for a week in the gradebook."""

    student: str
    score: float
    max_score: float
    to_mark: int  # written answers that are not marked yet
    scores: dict[str, float] = field(default_factory=dict)  # by cell


def standings(course: Course, week: Week) -> list[WeekStanding]:
    """Return the week's scores in the gradebook, by student."""
    found = []
    with open_gradebook(course) as gradebook:
        for submission in gradebook.assignment_submissions(week.name):
            grades = [g for g, _ in cells_of(gradebook, week, submission.student.id).values()]
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
