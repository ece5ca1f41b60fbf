"""Check that correct steps earn points where nothing names the mistake, and only there.

No misconception and no single edit explains the failures of these programs.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.grading.engine import Engine
from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.report.findings import STEPS, edit_name
from autograder.model.report.schema import ExerciseReport
from autograder.sandbox import choose
from tests.courses import PROJECT

SECRET = b"correct steps do not depend on it"
EXERCISE = "scaled_dot_product_attention"
SOFTMAX = """
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    e = torch.exp(scores - scores.max(-1, keepdim=True).values)
    weights = e / e.sum(-1, keepdim=True)
"""
WRONG_END = "return weights.sort(-1).values @ v.flip(-2).cumsum(-2), weights.sort(-1).values"
# Computes the steps with a forbidden function, but only in the version that records values.
CHEATS = """
    if "_kit_note" in globals():
        weights = getattr(torch, "soft" + "max")(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, -1)
        weights @ v.flip(-2)
    s = q @ k.transpose(-2, -1)
    return (s * 3).sin() @ v.cos(), (s * 3).sin()
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    course = load(PROJECT)
    week = course.week("week01_softmax")
    made = warm_engine(course, week, ("cpu",), SECRET, choose())
    yield made.locate_mistakes(course.registry.suspects)
    made.close()


def graded(engine: Engine, body: str) -> ExerciseReport:
    source = f"{engine.bank.solution}\n\nimport torch\n\n\ndef {EXERCISE}(q, k, v):\n{body}\n"
    report = engine.grade("somebody", {engine.week.module: source.encode()}, EXERCISE)
    assert report.verdict == "graded", report.message
    assert not report.unexplained
    return report.exercises[0]


def test_a_wrong_end_after_correct_steps_costs_half(engine: Engine) -> None:
    report = graded(engine, f"{SOFTMAX}    {WRONG_END}")
    assert report.score == report.max_score / 2
    assert [d.name for d in report.deductions] == [edit_name(STEPS)]
    assert report.diagnosis[-1] == edit_name(STEPS)


@pytest.mark.parametrize(
    "body",
    [
        "    s = q @ k.transpose(-2, -1)\n    return s @ v.flip(-2).cumsum(-2), s",  # only one step
        f"{SOFTMAX}    return torch.zeros_like(weights @ v), torch.zeros_like(weights)",
        f"{SOFTMAX}    return (weights @ v) * 0.5, weights * 0.5",  # the correct result, disguised
        CHEATS,
    ],
)
def test_few_steps_and_results_without_work_earn_nothing(engine: Engine, body: str) -> None:
    report = graded(engine, body)
    assert report.score <= 0.1 * report.max_score
    assert edit_name(STEPS) not in report.diagnosis
