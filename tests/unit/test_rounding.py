"""Test that scores are rounded once, as configured, and are equal on all pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.model.course import load
from autograder.model.report.schema import Ending, ExerciseReport, SubmissionReport
from autograder.model.report.scoring import rounded, with_rounded_scores

TINY = load(Path(__file__).resolve().parents[1] / "golden" / "course")


@pytest.mark.parametrize(
    ("points", "decimals", "given_points"),
    [(1.3333, 2, 1.33), (0.125, 2, 0.13), (2.5, 0, 3.0), (1.005, 2, 1.01), (7.0, 2, 7.0)],
)
def test_half_of_the_last_decimal_goes_up(
    points: float, decimals: int, given_points: float
) -> None:
    assert rounded(points, decimals) == given_points


@given(st.lists(st.floats(0, 3), min_size=2, max_size=2), st.integers(0, 4))
def test_the_total_is_the_sum_of_what_is_shown(points: list[float], decimals: int) -> None:
    week = TINY.weeks[0]
    exercises = tuple(
        ExerciseReport(e.name, p, e.points) for e, p in zip(week.exercises, points, strict=True)
    )
    report = SubmissionReport("ada", Ending.GRADED, sum(points), 5.0, 0.0, "", exercises)
    shown = with_rounded_scores(report, week, decimals)
    assert shown.score == rounded(sum(e.score for e in shown.exercises), decimals)
