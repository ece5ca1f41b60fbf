"""Test that wrong helpers cost a correct exercise no points."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from benchmarks.charged_again import beside_helpers, lost_elsewhere

PROJECT = Path(__file__).resolve().parents[2]
COURSE = load(PROJECT)


def lost_beside_helpers(week: str) -> float:
    """Return the most points that correct code loses because of one wrong helper.

    Each helper has one misconception; `python -m benchmarks.charged_again` tries all of them.
    """
    engine = warm_engine(COURSE, COURSE.week(week), ("cpu",), b"correct code", None)
    try:
        return max(
            sum(lost_elsewhere(engine, program, wrong, "full").values())
            for program, wrong in beside_helpers(engine, each=1)
        )
    finally:
        engine.close()


@pytest.mark.thorough
def test_right_code_of_the_first_week_loses_nothing() -> None:
    assert lost_beside_helpers("week01_softmax") < 0.02


@pytest.mark.thorough
@pytest.mark.parametrize(
    "week",
    [
        "week02_masking",
        "week03_multihead",
        "week04_lsh",
        "week05_transformer",
        "week07_flash",
        "week08_serving",
    ],
)
def test_right_code_loses_next_to_nothing(week: str) -> None:
    assert lost_beside_helpers(week) <= 0.2
