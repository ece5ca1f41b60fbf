"""Compute a week's scores after late penalties, and check that all answers are marked."""

import datetime as dt
from collections.abc import Container, Sequence

from ...lms.grade_files import FinalScore
from ...model.course import Course, Week
from ...model.course.late import due_for
from ...model.errors import NbgraderError
from ...model.message_text import plural
from ...model.report.scoring import rounded
from ..collect.groups import share_marks
from ..formgrader.manual_marks import require_marks
from ..status import to_collect
from ..workspace import Workspace
from .database import lateness_by_entry, read_gradebook
from .due_dates import require_scores, update_dates


def final_scores(course: Course, week: Week) -> dict[str, FinalScore]:
    """Return each student's score for a week after late penalties.

    Raise NbgraderError if the gradebook has lost recorded scores or marks.
    """
    require_marks(course, week)
    update_dates(course)
    scores = {
        e.student: FinalScore(
            points=max(0.0, rounded(e.score - e.penalty, course.registry.decimals)),
            penalty=e.penalty,
            submitted=e.handed_in,
            lateness=late,
        )
        for e, late in lateness_by_entry(course)
        # an extension before the first submission creates an entry without time and scores
        if e.week == week.name and (e.graded or e.handed_in)
    }
    require_scores(course, week, scores)
    return scores


def require_marked(
    course: Course, weeks: Sequence[Week], students: Container[str] | None = None
) -> None:
    """Share marks within groups; raise NbgraderError if an answer is still not marked.

    students: the students whose answers are checked; default: all students
    """
    for week in weeks:
        share_marks(course, week)
    _, entries = read_gradebook(course)
    for week in weeks:
        waiting = [
            e.to_mark
            for e in entries
            if e.week == week.name and e.to_mark and (students is None or e.student in students)
        ]
        if waiting:
            answers, people = plural(sum(waiting), "answer"), plural(len(waiting), "student")
            raise NbgraderError(
                f"{week.name}: {answers} by {people} {'is' if sum(waiting) == 1 else 'are'} not "
                "marked yet and would count 0: mark them in the service or in Formgrader (`cd "
                "nbgrader && jupyter lab`), or use --unmarked"
            )


def overdue(course: Course, week: Week, graded: Container[str]) -> list[str]:
    """Return the students whose due date has passed and who have not submitted anything.

    graded: students who already have a score and are left out
    """
    students, entries = read_gradebook(course)
    handed_in = {*Workspace(course).students("submitted", week), *to_collect(course, week)}
    more = {e.student: e.extension for e in entries if e.week == week.name}
    now = dt.datetime.now(dt.UTC)
    return [
        student
        for student in students
        if student not in graded
        and student not in handed_in
        and due_for(course, week, student, more.get(student, dt.timedelta())) < now
    ]
