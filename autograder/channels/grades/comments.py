"""Write the comment on a pushed grade: the feedback of the hidden tests as plain text."""

from __future__ import annotations

from collections.abc import Iterable

from ...feedback.text import submission_text
from ...model.course import Course, Week
from ...nbgrader.gradebook.report_store import kept_report

_MORE = "For the full page with marks and comments, run: nbgrader fetch_feedback"


def comments_of(course: Course, week: Week, students: Iterable[str]) -> dict[str, str]:
    """Return comments by student, for the students who have a report."""
    found = {}
    for student in students:
        report = kept_report(course, week, student)
        if report is not None:
            text = submission_text(report, week)
            found[student] = f"{week.title}\n\n{text}\n\n{_MORE} {week.name}"
    return found
