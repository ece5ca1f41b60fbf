"""Test that a mistake costs the same if the helpers that an exercise calls are wrong too."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from autograder.grading.dependencies.error_carried_forward import read_call_graph
from autograder.grading.engine import Engine
from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.course.bank import Misconception
from autograder.model.report.schema import ExerciseReport

PROJECT = Path(__file__).resolve().parents[2]
COURSE = load(PROJECT)
DEVICES = ("cpu", "fake-gpu")


def graded(engine: Engine, exercise: str, *wrong: Misconception) -> ExerciseReport:
    """Grade the solution with these misconceptions appended; return the report of an exercise."""
    folder = engine.bank.folder / "misconceptions"
    texts = [(folder / f"{w.name}.py").read_text(encoding="utf-8") for w in wrong]
    source = "\n\n".join((engine.bank.solution, *texts))
    report = engine.grade("student", {engine.week.module: source.encode()})
    assert not report.unexplained
    return next(e for e in report.exercises if e.name == exercise)


def reported_differently(week: str, count: int) -> list[str]:
    """Return wrong programs whose points or named mistakes change if a helper is wrong too."""
    engine = warm_engine(COURSE, COURSE.week(week), DEVICES, b"what is wrong stays wrong", None)
    try:
        names = tuple(e.name for e in engine.week.exercises)
        calls, of = read_call_graph(engine.bank.solution, names), engine.bank.of_exercise
        pairs = [(w, h) for e in names for w in of(e) for c in calls.reached(e) for h in of(c)]
        alone: dict[str, ExerciseReport] = {}
        found = []
        for wrong, helper in random.Random(1).sample(pairs, count):
            if "" != wrong.belief == helper.belief:  # charged once, in the helper
                continue
            if wrong.name not in alone:
                alone[wrong.name] = graded(engine, wrong.exercise, wrong)
            one, beside = alone[wrong.name], graded(engine, wrong.exercise, helper, wrong)
            if (one.score, one.diagnosis) != (beside.score, beside.diagnosis):
                found.append(f"{wrong.name} beside {helper.name}")
        return found
    finally:
        engine.close()


@pytest.mark.thorough
def test_mistakes_of_the_first_week_are_reported_as_with_correct_helpers() -> None:
    assert not reported_differently("week01_softmax", 6)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "week",
    ["week02_masking", "week03_multihead", "week04_lsh", "week05_transformer", "week08_serving"],
)
def test_mistakes_are_reported_as_with_correct_helpers(week: str) -> None:
    assert not reported_differently(week, 6)
