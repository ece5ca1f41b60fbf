"""The feedback page of one student and week, and the fragment for a notebook cell.

Not trusted: names, exception messages and source lines, which students choose and which may appear
on these pages. The templates escape everything (autoescape, no `safe` filter; a test checks this),
and the page's Content-Security-Policy forbids scripts and all requests. Hidden tests appear as
claims and messages, never as source code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from ..model.availability import FAKE_GPU
from ..model.course import Course, Week
from ..model.report.schema import Ending, ExerciseReport, SubmissionReport
from ..pages.environment import environment
from .view import ExerciseView, Marks, view_exercise


def feedback_page(
    report: SubmissionReport,
    week: Week,
    course: Course,
    *,
    student: str | None = None,
    late: str = "",
    notes: Sequence[str] = (),
    marks: Marks | None = None,
    notebook: Sequence[Any] = (),
) -> str:
    """Return a self-contained HTML page that opens offline, on phones, in light and dark mode.

    late: the arithmetic of the late penalty, or "". notes: remarks about the submission. marks: the
    scores in the gradebook, if they are known. notebook: the rendered cells to show below
    (nbgrader/formgrader/submitted_cells.py).
    """
    reports = {e.name: e for e in report.exercises}
    exercises = [
        view_exercise(reports.get(e.name) or ExerciseReport(e.name, 0.0, e.points), e.points)
        for e in week.exercises
    ]
    template = environment("feedback").get_template("page.html.j2")
    return template.render(
        course=course,
        week=week,
        report=report,
        student=student or report.name,
        due=course.localized(week.due),
        late=late,
        notes=notes,
        exercises=exercises,
        steps=next_steps(exercises) if report.verdict is Ending.GRADED else [],
        marks=marks,
        answers=[m for q in week.questions if marks and (m := marks.of(q.name))],
        answered={q.name for q in week.questions},
        explained={e.name for e in exercises} if report.verdict is Ending.GRADED else set(),
        notebook=notebook,
        styles=_code_styles() if notebook else "",
        has_fake_gpu=any(FAKE_GPU in t.name for e in report.exercises for t in e.tests),
        electives={e.name for e in week.exercises if e.elective},
        written=sum(q.points for q in week.questions),
    )


def exercise_fragment(
    exercise: ExerciseReport, maximum: float | None = None, message: str = ""
) -> str:
    """Return one exercise as HTML with inline styles, for the output of a notebook cell.

    Text inherits its colour, so it is readable on light and dark backgrounds. message: why the
    submission could not be graded, or "".
    """
    template = environment("feedback").get_template("fragment.html.j2")
    return template.render(exercise=view_exercise(exercise, maximum), message=message)


def next_steps(exercises: list[ExerciseView]) -> list[ExerciseView]:
    """Return up to three exercises to work on.

    Exercises with named mistakes come first, then those that are begun, then unwritten ones; within
    each group in the order of the week, because later exercises build on earlier ones.
    """
    order = {"partly": 1, "wrong": 1, "open": 2}
    left = [e for e in exercises if e.state in order and e.open_points > 0]
    return sorted(left, key=lambda e: 0 if e.report.explained else order[e.state])[:3]


def _code_styles() -> Markup:
    from ..pages.markdown import code_styles  # students do not install the sanitizer

    return code_styles()
