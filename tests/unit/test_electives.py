"""Test that the best electives count, as many as course.yaml allows."""

from __future__ import annotations

import datetime as dt

import pytest

from autograder.model.course import Exercise, Week
from autograder.model.report.schema import ExerciseReport
from autograder.model.report.scoring import counted, full_points, submission_report

SCORES = {"required": 1.0, "poor": 0.5, "good": 2.5, "best": 3.0}


def week(counting: int | None) -> Week:
    exercises = tuple(Exercise(n, 3.0, elective=n != "required") for n in SCORES)
    day = dt.datetime(2027, 1, 1)
    return Week("week06_x", "X", "x.py", day, day, exercises, electives_counted=counting)


@pytest.fixture
def reports() -> list[ExerciseReport]:
    return [ExerciseReport(name, score, 3.0) for name, score in SCORES.items()]


def test_the_best_electives_count(reports) -> None:
    assert {r.name for r in counted(week(2), reports)} == {"required", "good", "best"}


def test_a_required_exercise_counts_however_poor(reports) -> None:
    assert "required" in {r.name for r in counted(week(1), reports)}


def test_without_a_number_all_electives_count(reports) -> None:
    assert len(counted(week(None), reports)) == 4


def test_the_score_is_the_sum_of_what_counts(reports) -> None:
    assert submission_report("ada", week(2), tuple(reports), []).score == 6.5


def test_full_points_are_those_of_a_perfect_submission() -> None:
    assert full_points(week(2)) == 9.0
