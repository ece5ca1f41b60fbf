"""Test that each week's syllabus lists the exercises and questions of course.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from autograder.authoring.lesson.syllabus import (
    read_syllabus,
    syllabus_path,
    syllabus_problems,
    total_minutes,
)
from autograder.model.course import Course, load
from tests.courses import copy_course

PROJECT = load(Path(__file__).resolve().parents[2])
WEEK8 = next(w for w in PROJECT.weeks if w.name == "week08_serving")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return load(copy_course(tmp_path / "course", ("week08_serving",)))


def problem(course: Course, **changed: object) -> str:
    """Return the problem that is reported for week 8's syllabus after some changes."""
    path = syllabus_path(course, course.weeks[0])
    told = yaml.safe_load(path.read_text(encoding="utf-8")) | changed
    path.write_text(yaml.safe_dump(told), encoding="utf-8")
    return " ".join(syllabus_problems(course, course.weeks[0]))


@pytest.mark.parametrize("week", PROJECT.weeks, ids=lambda w: w.name)
def test_every_week_of_the_course_has_an_entry(week) -> None:
    read = read_syllabus(PROJECT, week)
    assert read is not None
    assert all(r.address.startswith("https://") for r in read.readings)


def test_a_week_needs_no_entry(course: Course) -> None:
    syllabus_path(course, course.weeks[0]).unlink()
    assert list(syllabus_problems(course, course.weeks[0])) == []


def test_the_total_counts_as_many_electives_as_count() -> None:
    read = read_syllabus(PROJECT, WEEK8)
    assert read is not None
    least, most = total_minutes(WEEK8, read)
    assert least == 35 + (5 + 15 + 25 + 25 + 10 + 20) + 25 + 25
    assert most == 35 + (10 + 30 + 45 + 45 + 20 + 30) + 70 + 40


def test_an_exercise_that_is_missing_is_named(course: Course) -> None:
    assert "the exercise 'KVCache' is missing" in problem(
        course,
        exercises={
            e.name: {"minutes": [1, 2], "difficulty": 1, "weight": 1}
            for e in course.weeks[0].exercises
            if e.name != "KVCache"
        },
    )


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"questions": {"who": {"minutes": [1, 2], "difficulty": 1, "weight": 1}}},
            "has no question 'who'",
        ),
        ({"questions": {"who": {"minutes": [1, 2], "difficulty": 9, "weight": 1}}}, "<= 5"),
        ({"author": "me"}, "unknown field `author`"),
        ({"origin": ""}, "$.origin"),
    ],
)
def test_what_is_wrong_is_named(course: Course, changed: dict[str, object], told: str) -> None:
    assert told in problem(course, **changed)
