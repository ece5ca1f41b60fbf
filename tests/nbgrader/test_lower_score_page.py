"""Test the feedback page of a student whose latest submission earned less than an earlier one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.model.course import Course, Week, load
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.publish_feedback import return_feedback
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import SOLUTION, graded, report

pytestmark = pytest.mark.filterwarnings(  # nbgrader leaves timestamp.txt open
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
WORSE = SOLUTION.replace("x + x", "x * x")


def feedback(course: Course, week: Week, hand_in: Callable[..., Path], counts: str) -> str:
    """Return ada's page after 3 points on 10 January and 1 point on 11 January."""
    path = course.root / "course.yaml"
    path.write_text(f"{path.read_text('utf-8')}counts: {counts}\n", "utf-8")
    course = load(course.root)
    for day, (source, points) in enumerate(((SOLUTION, 2), (WORSE, 0)), start=10):
        hand_in("ada", {"doubling.py": source}, f"2020-01-{day} 12:00:00.000000 UTC")
        collect(course, week)
        record(course, week, report(graded("ada", points, 1)))
    return_feedback(course, week)
    return Workspace(course).feedback_page("ada", week).read_text("utf-8")


@pytest.mark.parametrize(
    ("counts", "consequence"),
    [("latest", "Your instructor can restore it."), ("best", "The better one counts.")],
)
def test_the_feedback_page_reports_a_lower_result_next_to_the_better_one(
    course: Course, week: Week, hand_in: Callable[..., Path], counts: str, consequence: str
) -> None:
    page = feedback(course, week, hand_in, counts)
    said = "from 10 January, 13:00 earned 3 points for this week, your latest one 1."
    assert f"{said} {consequence}" in page
