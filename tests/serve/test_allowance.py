"""How many results a student may see, when, and which submission counts."""

from __future__ import annotations

import datetime as dt

import msgspec
import pytest

from autograder.model.course import Course, Immediate, Week
from autograder.serve.attempt_feedback import Allowance, allowance
from autograder.serve.tables import QueuedSubmission

NOON = dt.datetime(2027, 1, 20, 12, tzinfo=dt.UTC).timestamp()
HOUR = 3600.0


def submissions(
    *received: float, state: str = "graded", withheld: bool = False
) -> list[QueuedSubmission]:
    found = []
    for number, moment in enumerate(received):
        said = NOON - 30 * 24 * HOUR  # the time in the submission does not matter
        one = QueuedSubmission(
            f"R{number}", "ada", "week", "page", "d", said, state, withheld, NOON + moment
        )
        found.append(one)
    return found


def stand(
    course: Course, week: Week, earlier: list[QueuedSubmission], now: float = 0.0, **policy
) -> Allowance:
    immediate = Immediate(**policy)
    registry = msgspec.structs.replace(course.registry, immediate=immediate)
    return allowance(Course(course.root, registry), week, "ada", earlier, NOON + now)


def test_tries_are_counted_by_the_day_of_the_course(course, week):
    yesterday = -13 * HOUR - 60  # 00:00 in Zurich is 23:00 UTC of the day before
    assert stand(course, week, submissions(yesterday, -HOUR), tries=3).left == 2
    spent = stand(course, week, submissions(-3 * HOUR, -2 * HOUR, -HOUR), tries=3)
    assert (spent.left, spent.why, spent.withheld) == (0, "tries", True)


def test_tries_are_counted_by_the_hour_or_for_the_week(course, week):
    earlier = submissions(-2 * HOUR, -HOUR / 2)
    assert stand(course, week, earlier, tries=2, per="hour").left == 1
    assert stand(course, week, earlier, tries=2, per="week").why == "tries"


@pytest.mark.parametrize(("state", "held"), [("replaced", False), ("graded", True)])
def test_what_was_never_told_took_no_try(course, week, state, held):
    assert stand(course, week, submissions(-HOUR, state=state, withheld=held), tries=2).left == 2


def test_what_has_no_result_yet_takes_no_attempt(course, week):
    assert stand(course, week, submissions(-60, state="waiting"), tries=1).left == 1


def test_a_cooldown_is_waited_for_however_the_clock_was_set(course, week):
    assert stand(course, week, submissions(-60), cooldown_minutes=5).wait == 240
    assert stand(course, week, submissions(-400), cooldown_minutes=5).wait == 0
    assert stand(course, week, submissions(7 * HOUR), cooldown_minutes=5).wait == 300


def test_late_work_is_told_with_the_feedback_unless_the_course_says_otherwise(course, week):
    late = dt.datetime(2090, 1, 14, 12, tzinfo=dt.UTC).timestamp() - NOON
    assert stand(course, week, [], late).why == "due"
    assert stand(course, week, [], late, until="always").why == ""
    granted = allowance(course, week, "ada", [], NOON + late, dt.timedelta(days=2))
    assert granted.why == ""


def test_nothing_is_told_where_the_course_says_so(course, week):
    assert stand(course, week, [], show="nothing").why == "nothing"
