"""Send hand-made requests to the correct helpers, in the real sandbox.

No exercise of the course sends such requests. Only the correct softmax may reply, the report must
not show a system error, and the next submission must still pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading.engine import Engine
from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.report.schema import SubmissionReport
from autograder.sandbox import SandboxMissing, choose
from tests.attacks.laboratory import ATTACKED
from tests.imports import ROOT

BODY = (Path(__file__).parent / "asking" / "by_hand.py").read_text(encoding="utf-8")
ATTENTION = "scaled_dot_product_attention"
SLOW = {"for_ever", "often"}  # run until the time limit
MODES = [
    pytest.param(mode, marks=[pytest.mark.thorough] if mode in SLOW else [])
    for mode in re.findall(r'^    "(\w+)": lambda', BODY, re.MULTILINE)
    if mode != "what_is_lent"
]


class Asked:
    """Grades week 1 in the sandbox; stores the scores without hand-made requests."""

    def __init__(self) -> None:
        course = load(ROOT)
        self.week = course.weeks[0]
        self.engine: Engine = warm_engine(
            course, self.week, ("cpu",), b"inputs of this test alone " * 2, choose(ATTACKED)
        )
        self.plain = self.scores(self.graded(""))

    def graded(self, mode: str) -> SubmissionReport:
        before = f"{self.engine.bank.solution}\n\nMODE, ATTENTION = {mode!r}, {ATTENTION!r}\n"
        return self.engine.grade("somebody", {self.week.module: f"{before}{BODY}".encode()})

    def right(self) -> SubmissionReport:
        return self.engine.grade("next", {self.week.module: self.engine.bank.solution.encode()})

    @staticmethod
    def scores(report: SubmissionReport) -> dict[str, float]:
        assert report.verdict == "graded", report.message
        return {e.name: e.score for e in report.exercises}


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    try:
        found = Asked()
    except SandboxMissing as error:
        pytest.skip(str(error))
    yield found
    found.engine.close()


def test_the_modes_are_what_the_submission_knows() -> None:
    assert len(MODES) > 15


def test_what_is_lent_does_answer_such_questions(asked: Asked) -> None:
    """Check by the score that the correct helper replies; without it the other tests are void."""
    assert asked.scores(asked.graded("what_is_lent"))[ATTENTION] > 1


@pytest.mark.parametrize("mode", MODES)
def test_nothing_but_what_is_lent_answers(asked: Asked, mode: str) -> None:
    report = asked.graded(mode)
    scores = asked.scores(report)
    assert scores[ATTENTION] <= asked.plain[ATTENTION] < 0.5
    assert scores["softmax"] == asked.plain["softmax"]
    assert not report.unexplained
    right = asked.right()
    assert right.score == right.max_score
