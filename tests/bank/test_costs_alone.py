"""Test that each misconception of the bank, as the only mistake, loses its cost."""

from __future__ import annotations

import pytest

from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.report.schema import Verdict
from tests.courses import PROJECT


# Every second week, because each takes a minute or two.
@pytest.mark.thorough
@pytest.mark.parametrize("name", [week.name for week in load(PROJECT).weeks[1:8:2]])
def test_every_misconception_of_the_bank_loses_its_price_alone(name: str) -> None:
    course = load(PROJECT)
    week, lost = course.week(name), []
    engine = warm_engine(course, week, ("cpu", "fake-gpu"), b"costs do not depend on it", None)
    for one in engine.bank.misconceptions:
        report = engine.grade(one.name, {week.module: one.source.encode()}, one.exercise)
        assert not report.unexplained
        (found,) = (e for e in report.exercises if e.name == one.exercise)
        price = found.max_score * (1.0 - (one.cost or 0.0))
        no_work = (one.cost or 0.0) >= 0.9 and found.score <= price
        forbidden = any(t.verdict is Verdict.FORBIDDEN for t in found.tests)
        if not (forbidden or no_work) and found.max_score and abs(found.score - price) > 0.02:
            lost.append(f"{one.name}: {found.score} instead of {price}")
    engine.close()
    assert lost == []
