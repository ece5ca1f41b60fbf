"""Test late work with a table of cases, in several time zones, across daylight saving changes."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from autograder.model.course import Course, parse
from autograder.model.course.late import due_for, lateness
from autograder.model.errors import CourseError

REGISTRY = """\
course: tiny
title: A course
timezone: {zone}
late: {{{late}}}
weeks:
  - name: week01_one
    title: One
    module: one.py
    release: 2026-10-01T09:00:00
    due: {due}
    exercises:
      - {{name: step, points: 8}}
  - name: week02_two
    title: Two
    module: two.py
    release: 2027-04-01T09:00:00
    due: 2027-04-08T23:59:00
    exercises:
      - {{name: step, points: 8}}
"""
DAY = "percent: 10, per: day"
SATURDAY = "2026-10-24T23:59:00"  # the night in which Zurich's clock is set back: a day of 25 hours
SPRING = "2027-03-27T23:59:00"  # and forward: a day of 23 hours
PLAIN = "2026-10-12T23:59:00"


def course_of(late: str = DAY, due: str = PLAIN, zone: str = "Europe/Zurich") -> Course:
    return Course(Path(), parse(REGISTRY.format(late=late, due=due, zone=zone)))


def said(course: Course, handed: str, student: str = "ada", score: float = 8.0) -> str:
    moment = course.localized(dt.datetime.fromisoformat(handed))
    return lateness(course, student, {"week01_one": moment})["week01_one"].sentence(score)


@pytest.mark.parametrize(
    ("late", "due", "handed", "expected"),
    [
        (DAY, PLAIN, "2026-10-12T23:59:00", ""),
        (DAY, PLAIN, "2026-10-12T23:59:01", "1 min late, 10 % per day: 8.0 x 0.9 = 7.2"),
        (DAY, PLAIN, "2026-10-13T23:59:00", "1 day late, 10 % per day: 8.0 x 0.9 = 7.2"),
        (DAY, PLAIN, "2026-10-14T00:01:00", "1 day 2 min late, 10 % per day: 8.0 x 0.8 = 6.4"),
        (DAY, PLAIN, "2026-10-14T23:58:30", "2 days late, 10 % per day: 8.0 x 0.8 = 6.4"),
        (
            f"{DAY}, slip_days: 1",
            PLAIN,
            "2026-10-15T02:59:00",
            "2 days 3 h late, 1 slip day used, 10 % per day: 8.0 x 0.8 = 6.4",
        ),
        (
            f"{DAY}, slip_days: 5",
            PLAIN,
            "2026-10-15T02:59:00",
            "2 days 3 h late, 3 slip days used: no penalty",
        ),
        (
            f"{DAY}, grace_minutes: 15",
            PLAIN,
            "2026-10-13T00:14:00",
            "15 min late, within the grace period: no penalty",
        ),
        (
            f"{DAY}, grace_minutes: 15",
            PLAIN,
            "2026-10-13T00:14:01",
            "16 min late, 10 % per day: 8.0 x 0.9 = 7.2",
        ),
        (
            f"{DAY}, grace_minutes: 15",
            PLAIN,
            "2026-10-14T00:14:00",
            "1 day 15 min late, 10 % per day: 8.0 x 0.9 = 7.2",
        ),
        (
            f"{DAY}, floor: 50",
            PLAIN,
            "2026-10-30T12:00:00",
            "17 days 12 h late, 10 % per day, but at least 50 % is kept: 8.0 x 0.5 = 4.0",
        ),
        (DAY, PLAIN, "2026-12-30T12:00:00", "78 days 12 h late, 10 % per day: 8.0 x 0 = 0.0"),
        (
            "percent: 2, per: hour",
            PLAIN,
            "2026-10-13T02:00:00",
            "2 h 1 min late, 2 % per hour: 8.0 x 0.94 = 7.52",
        ),
        (
            "percent: 2, per: hour, slip_days: 1",
            PLAIN,
            "2026-10-14T01:59:00",
            "1 day 2 h late, 1 slip day used, 2 % per hour: 8.0 x 0.96 = 7.68",
        ),
        (
            "percent: 2, per: hour, slip_days: 1",
            PLAIN,
            "2026-10-13T01:59:00",
            "2 h late, 1 slip day used: no penalty",
        ),
        # one calendar day late, though 25 or 23 hours have passed
        (DAY, SATURDAY, "2026-10-25T23:59:00", "1 day late, 10 % per day: 8.0 x 0.9 = 7.2"),
        (DAY, SATURDAY, "2026-10-26T00:59:00", "1 day 1 h late, 10 % per day: 8.0 x 0.8 = 6.4"),
        (DAY, SPRING, "2027-03-28T23:59:00", "1 day late, 10 % per day: 8.0 x 0.9 = 7.2"),
        (DAY, SPRING, "2027-03-29T00:59:00", "1 day 1 h late, 10 % per day: 8.0 x 0.8 = 6.4"),
        # hours of elapsed time: the day has 25, and the repeated hour counts
        (
            "percent: 2, per: hour",
            SATURDAY,
            "2026-10-25T23:59:00",
            "1 day late, 2 % per hour: 8.0 x 0.5 = 4.0",
        ),
        (
            "percent: 2, per: hour",
            SPRING,
            "2027-03-28T23:59:00",
            "1 day late, 2 % per hour: 8.0 x 0.54 = 4.32",
        ),
        # the repeated hour: the second 02:30 is an hour later
        (
            "percent: 2, per: hour",
            "2026-10-25T01:30:00",
            "2026-10-25T01:30:00+00:00",
            "2 h late, 2 % per hour: 8.0 x 0.96 = 7.68",
        ),
    ],
)
def test_the_sentence_shows_the_computation(late: str, due: str, handed: str, expected: str):
    assert said(course_of(late, due), handed) == expected


@pytest.mark.parametrize(
    ("zone", "minute_after"),
    [
        ("Europe/Zurich", "2026-10-12T22:00:00+00:00"),
        ("America/Los_Angeles", "2026-10-13T07:00:00+00:00"),
        ("Asia/Kathmandu", "2026-10-12T18:15:00+00:00"),
        ("Pacific/Kiritimati", "2026-10-12T10:00:00+00:00"),
        ("UTC", "2026-10-13T00:00:00+00:00"),
    ],
)
def test_due_dates_are_in_the_courses_zone(zone: str, minute_after: str):
    course = course_of(zone=zone)
    late = dt.datetime.fromisoformat(minute_after)
    assert said(course, minute_after).startswith("1 min late")
    assert said(course, (late - dt.timedelta(minutes=1)).isoformat()) == ""


def test_the_zone_of_the_submission_time_does_not_matter():
    course = course_of()
    assert said(course, "2026-10-13T07:00:00+09:00") == said(course, "2026-10-12T15:00:00-07:00")


def test_slip_days_are_used_in_the_order_of_due_dates():
    course = course_of(f"{DAY}, slip_days: 3")
    handed = {
        "week02_two": dt.datetime(2027, 4, 10, 12, tzinfo=course.zone),
        "week01_one": dt.datetime(2026, 10, 14, 12, tzinfo=course.zone),
    }
    found = lateness(course, "ada", handed)
    assert [(w, one.days, one.slip_days, one.units) for w, one in found.items()] == [
        ("week01_one", 2, 2, 0),
        ("week02_two", 2, 1, 1),
    ]
    assert lateness(course, "bob", dict([*handed.items()][:1]))["week02_two"].units == 0


def test_an_extension_is_for_one_student_and_week():
    late = f"{DAY}, extensions: [{{student: ada, week: week01_one, until: 2026-10-14T12:00:00}}]"
    course = course_of(late)
    assert said(course, "2026-10-14T12:00:00") == ""
    assert said(course, "2026-10-14T14:00:00") == (
        "2 h late (after your extension), 10 % per day: 8.0 x 0.9 = 7.2"
    )
    assert said(course, "2026-10-14T12:00:00", "bob").startswith("1 day 12 h late, 10 %")


def test_the_longer_of_two_extensions_counts():
    late = f"{DAY}, extensions: [{{student: ada, week: week01_one, until: 2026-10-14T12:00:00}}]"
    course = course_of(late)
    week = course.weeks[0]
    longer = due_for(course, week, "ada", dt.timedelta(days=7))
    assert longer == dt.datetime(2026, 10, 19, 23, 59, tzinfo=course.zone)
    assert due_for(course, week, "ada", dt.timedelta(hours=1)).day == 14


def test_without_a_policy_lateness_has_no_penalty():
    text = REGISTRY.format(late=DAY, due=PLAIN, zone="UTC").replace(f"late: {{{DAY}}}\n", "")
    course = Course(Path(), parse(text))
    moment = dt.datetime(2026, 10, 14, 1, tzinfo=dt.UTC)
    assert lateness(course, "ada", {"week01_one": moment})["week01_one"].penalty(8.0) == 0


def test_penalty_and_kept_points_add_up_to_the_score():
    course = course_of("percent: 33, per: day")
    moment = dt.datetime(2026, 10, 13, 1, tzinfo=course.zone)
    one = lateness(course, "ada", {"week01_one": moment})["week01_one"]
    assert one.kept(7.77) + one.penalty(7.77) == pytest.approx(7.77)


@pytest.mark.parametrize(
    ("late", "message"),
    [
        ("percent: 101", "late.percent: must be at most 100"),
        ("percent: 10, per: week", "late.per: invalid enum value 'week'"),
        ("percent: 10, slip_days: -1", "late.slip_days: must be at least 0"),
        (
            f"{DAY}, extensions: [{{student: a, week: week99_x, until: 2026-10-14T12:00:00}}]",
            "late.extensions[0].week: the course has no week 'week99_x'",
        ),
        (
            f"{DAY}, extensions: [{{student: a, week: week01_one, until: 2026-10-11T12:00:00}}]",
            "late.extensions[0].until: 2026-10-11 12:00:00 is not after the due date of week01_one",
        ),
    ],
)
def test_a_mistake_in_the_policy_is_reported(late: str, message: str):
    with pytest.raises(CourseError) as caught:
        course_of(late)
    assert message in str(caught.value)
