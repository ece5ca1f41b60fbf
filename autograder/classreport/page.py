"""The class report as one HTML page that opens offline, on a phone, in light and dark.

Who may be lying: names of submissions are chosen by students. Everything is escaped by the
templates, and the page forbids scripts and every load by its own content security policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.course.loader import Course
from ..pages.environment import environment
from .analysis import ENOUGH, WeekSummary
from .charts import bars, histogram
from .similar_pairs import side_by_side

if TYPE_CHECKING:
    from ..similarity.compare import Similarity


def week_page(
    course: Course, summary: WeekSummary, *, names: bool, alike: Similarity | None = None
) -> str:
    """A week; students are named only if `names` says so."""
    figures = {
        "scores": histogram(summary.shares, f"{summary.week}: students by share of the points"),
        "exercises": bars(
            [e.name for e in summary.exercises],
            [e.mean_share for e in summary.exercises],
            f"{summary.week}: mean share of the points by exercise",
        ),
    }
    template = environment("classreport").get_template("class_week.html.j2")
    return template.render(
        course=course,
        summary=summary,
        names=names,
        figures=figures,
        enough=ENOUGH,
        alike=alike,
        sides=side_by_side(alike, names=names) if alike else [],
    )


def course_page(course: Course, summaries: Sequence[WeekSummary], *, names: bool) -> str:
    """The course: the weeks that were graded, side by side."""
    students = sorted({s.name for week in summaries for s in week.graded})
    scores = {(w.week, s.name): s for w in summaries for s in w.graded}
    mistakes = sorted(
        ((w.week, m) for w in summaries for m in w.mistakes), key=lambda m: -len(m[1].students)
    )
    figure = bars(
        [w.week for w in summaries],
        [w.mean for w in summaries],
        "Mean share of the points by week",
    )
    template = environment("classreport").get_template("class_course.html.j2")
    return template.render(
        course=course,
        summaries=summaries,
        students=students,
        scores=scores,
        mistakes=mistakes[:15],
        names=names,
        figure=figure,
    )
