"""Right code beside every wrong helper of the bank, graded one after the other as a class is."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.model.course import load
from benchmarks.charged_again import measure

PROJECT = Path(__file__).resolve().parents[2]
COURSE = load(PROJECT)
CALL_EACH_OTHER = ("week02_masking", "week03_multihead", "week04_lsh", "week05_transformer")


def lost_beside_helpers(week: str) -> float:
    """The most points that right code loses beside one wrong helper."""
    return max(measure(COURSE, COURSE.week(week), 0, sandboxed=False).after)


def test_right_code_of_the_first_week_loses_nothing() -> None:
    assert lost_beside_helpers("week01_softmax") < 0.02


@pytest.mark.thorough
@pytest.mark.parametrize("week", [*CALL_EACH_OTHER, "week08_serving"])
def test_right_code_loses_next_to_nothing(week: str) -> None:
    assert lost_beside_helpers(week) <= 0.2
