"""Fixtures: a course of one week and hand-made reports, without grading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.model.course import Course, Week, parse
from autograder.model.report.schema import (
    Diagnosis,
    Ending,
    ExerciseReport,
    SubmissionReport,
    TestReport,
    Verdict,
)

REGISTRY = """
course: tiny
title: A tiny course
timezone: Europe/Zurich
weeks:
  - name: week02_masking
    title: Masks
    module: masking.py
    release: 2027-01-18T09:00:00
    due: 2027-01-25T23:59:00
    exercises:
      - {name: causal_mask, points: 2}
      - {name: masked_softmax, points: 3}
    questions:
      - {name: why, points: 4}
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return Course(tmp_path, parse(REGISTRY))


@pytest.fixture
def week(course: Course) -> Week:
    return course.weeks[0]


def check(
    name: str, verdict: str = "pass", message: str = "", claim: str = "", line: int = 0
) -> TestReport:
    return TestReport(f"test_x.py::{name}", Verdict(verdict), 1.0, message, claim=claim, line=line)


def exercise(
    name: str, *tests: TestReport, score: float = 0.0, points: float = 2.0, diagnosis: str = ""
) -> ExerciseReport:
    explained = (Diagnosis("d", diagnosis, "Which `axis` is it?"),) if diagnosis else ()
    return ExerciseReport(name, score, points, tests=tests, explained=explained)


@pytest.fixture
def submission() -> Callable[..., SubmissionReport]:
    def make(*exercises: ExerciseReport, **more: object) -> SubmissionReport:
        fields: dict[str, object] = {
            "name": "ada",
            "verdict": Ending.GRADED,
            "score": sum(e.score for e in exercises),
            "max_score": 5.0,
            "seconds": 0.1,
            "exercises": exercises,
        }
        return SubmissionReport(**(fields | more))  # type: ignore[arg-type]

    return make
