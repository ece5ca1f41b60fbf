"""Test late work through nbgrader: in the gradebook and on the student's page."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.model.course import Course, Week, load
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.gradebook.due_dates import update_dates
from autograder.nbgrader.gradebook.final_scores import final_scores
from autograder.nbgrader.publish_feedback import return_feedback
from autograder.nbgrader.status import status
from autograder.nbgrader.workspace import Workspace, open_api, open_gradebook
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report

# nbgrader leaves timestamp.txt open when it releases feedback.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
POLICY = "late: {percent: 10, slip_days: 1, grace_minutes: 15}\nweeks:\n"
# The week is due on 13 January 2020, 23:59 in Zurich, which is 22:59 UTC.
TWO_DAYS_THREE_HOURS = "2020-01-16 01:59:00.000000 UTC"
Handed = Callable[..., Course]


@pytest.fixture
def handed(course: Course, hand_in: Callable[..., Path], notebook: str) -> Handed:
    """Submit 3 points as ada at a given time, then collect and record them."""

    def handed(time: str, more: str = "") -> Course:
        registry = course.root / "course.yaml"
        text = registry.read_text(encoding="utf-8").replace("weeks:\n", POLICY, 1) + more
        registry.write_text(text, encoding="utf-8")
        late = load(course.root)
        hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook}, time)
        collect(late, late.weeks[0], check_owner=False)
        record(late, late.weeks[0], report(graded("ada", 2, 1)))
        return late

    return handed


def penalty(course: Course) -> float:
    with open_gradebook(course) as gradebook:
        return float(gradebook.find_submission(WEEK, "ada").late_submission_penalty)


def mark_the_written_answer(course: Course, points: float) -> None:
    with open_gradebook(course) as gradebook:
        grade = gradebook.find_grade("why", WEEK, WEEK, "ada")
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def page(course: Course, week: Week) -> str:
    return_feedback(course, week)
    return Workspace(course).feedback_page("ada", week).read_text(encoding="utf-8")


def test_the_penalty_follows_the_course(handed: Handed) -> None:
    assert penalty(handed(TWO_DAYS_THREE_HOURS)) == pytest.approx(0.6)


def test_within_the_grace_period_nothing_is_taken_off(handed: Handed) -> None:
    assert penalty(handed("2020-01-13 23:10:00.000000 UTC")) == 0


def test_an_extension_of_the_gradebook_counts_too(handed: Handed) -> None:
    course = handed("2020-01-11 12:00:00.000000 UTC")
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_submission(WEEK, "ada", timestamp=TWO_DAYS_THREE_HOURS)
        gradebook.grant_extension(WEEK, "ada", days=2)
    assert "3 h late (after your extension), 1 slip day used: no penalty" in page(
        course, course.weeks[0]
    )


def test_feedback_shows_the_arithmetic_with_the_written_answer_in_it(handed: Handed) -> None:
    course = handed(TWO_DAYS_THREE_HOURS)
    mark_the_written_answer(course, 2.0)
    shown = page(course, course.weeks[0])
    assert "2 days 3 h late, 1 slip day used, 10 % per day: 5.0 x 0.8 = 4.0." in shown
    assert penalty(course) == pytest.approx(1.0)


def test_feedback_in_time_says_nothing_of_lateness(handed: Handed) -> None:
    course = handed("2020-01-11 12:00:00.000000 UTC")
    assert "late" not in page(course, course.weeks[0]).lower()


def changed(course: Course, before: str, after: str) -> Course:
    """Edit the registry of the course and load it again."""
    registry = course.root / "course.yaml"
    text = registry.read_text(encoding="utf-8")
    assert before in text
    registry.write_text(text.replace(before, after), encoding="utf-8")
    return load(course.root)


LATER = ("due: 2020-01-13T23:59:00", "due: 2020-01-20T23:59:00")
EARLIER = ("due: 2020-01-13T23:59:00", "due: 2020-01-08T23:59:00")
EXTENDED = (
    "slip_days: 1,",
    f"slip_days: 1, extensions: [{{student: ada, week: {WEEK}, until: 2020-01-20T23:59:00}}],",
)


@pytest.mark.parametrize(
    ("time", "edit", "final"),
    [
        (TWO_DAYS_THREE_HOURS, LATER, 3),
        (TWO_DAYS_THREE_HOURS, EXTENDED, 3),
        ("2020-01-11 12:00:00.000000 UTC", EARLIER, 2.4),
    ],
)
def test_another_due_date_counts_in_the_export_without_a_release(
    handed: Handed, time: str, edit: tuple[str, str], final: float
) -> None:
    course = changed(handed(time), *edit)
    assert final_scores(course, course.weeks[0])["ada"].points == final


def test_a_final_score_has_the_facts_about_late_work(handed: Handed) -> None:
    course = handed(TWO_DAYS_THREE_HOURS)
    score = final_scores(course, course.weeks[0])["ada"]
    assert (score.points, score.penalty) == pytest.approx((2.4, 0.6))
    assert score.submitted == dt.datetime(2020, 1, 16, 1, 59, tzinfo=dt.UTC)
    assert score.lateness is not None
    assert (score.lateness.days, score.lateness.slip_days) == (3, 1)


@pytest.mark.parametrize("edit", [LATER, EXTENDED])
def test_another_due_date_counts_in_the_feedback_without_a_release(
    handed: Handed, edit: tuple[str, str]
) -> None:
    course = changed(handed(TWO_DAYS_THREE_HOURS), *edit)
    assert "2 days 3 h late" not in page(course, course.weeks[0])
    assert penalty(course) == 0


def test_another_due_date_counts_when_nbgrader_itself_grades(handed: Handed) -> None:
    course = changed(handed("2020-01-11 12:00:00.000000 UTC"), *EARLIER)
    assert open_api(course).autograde(WEEK, "ada")["success"]
    assert penalty(course) == pytest.approx(0.6)


def test_grading_says_whose_penalty_is_another_one(handed: Handed) -> None:
    course = changed(handed(TWO_DAYS_THREE_HOURS), *LATER)
    done = record(course, course.weeks[0], report())
    assert done.notes == [f"{WEEK}: late penalties changed: ada 0 (was 0.6)"]


def test_feedback_with_the_former_penalty_is_stale(handed: Handed) -> None:
    course = handed(TWO_DAYS_THREE_HOURS)
    page(course, course.weeks[0])
    course = changed(course, *LATER)
    update_dates(course)
    (found,) = status(course)
    assert (found.late, found.stale) == ({}, ["ada"])
