"""The class report as one HTML page that works offline, on phones, and in light and dark mode.

Students choose the names of submissions. Templates escape everything, and the page's content
security policy forbids scripts and loading anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.course import Course
from ..pages.environment import environment
from .analysis import MIN_STUDENTS, WeekSummary
from .similar_pairs import compare_pairs

if TYPE_CHECKING:
    from ..similarity.compare import Similarity

_MAX_MISTAKES = 15


def week_page(
    course: Course, summary: WeekSummary, *, names: bool, similarity: Similarity | None = None
) -> str:
    """Return the page of a week. `names`: show the names of students."""
    template = environment("classreport").get_template("class_week.html.j2")
    return template.render(
        course=course,
        summary=summary,
        names=names,
        min_students=MIN_STUDENTS,
        similarity=similarity,
        comparisons=compare_pairs(similarity, names=names) if similarity else [],
    )


def course_page(course: Course, summaries: Sequence[WeekSummary], *, names: bool) -> str:
    """Return the page of the course: the graded weeks side by side."""
    mistakes = sorted(
        ((w.week, m) for w in summaries for m in w.mistakes), key=lambda m: -len(m[1].students)
    )
    template = environment("classreport").get_template("class_course.html.j2")
    return template.render(
        course=course,
        summaries=summaries,
        students=sorted({s.name for week in summaries for s in week.graded}),
        scores={(w.week, s.name): s for w in summaries for s in w.graded},
        mistakes=mistakes[:_MAX_MISTAKES],
        names=names,
    )
