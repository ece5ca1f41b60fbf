"""What right code answers with the helpers of a class is kept as far as there is room for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading import expected
from autograder.grading.engine import Engine
from autograder.model.course import load
from autograder.model.report import SubmissionReport

PROJECT = Path(__file__).resolve().parents[2]
ATTENTION = "scaled_dot_product_attention"
# Two helpers that stop, so that another stands in for both, and one whose answers are lent.
STOPS = "def softmax(x, dim=-1):\n    raise RuntimeError('no')\n"
GIVES_NOTHING = "def softmax(x, dim=-1):\n    x = torch.exp(x)\n    x / x.sum(dim)\n"
ADDS = "def softmax(x, dim=-1):\n    return torch.exp(x) / (torch.exp(x).sum(dim, True) + 0.1)\n"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    course = load(PROJECT)
    made = Engine(course, course.week("1"), ("cpu",), b"answers and room alone " * 2, None)
    yield made
    made.close()


def graded(engine: Engine, text: str) -> SubmissionReport:
    source = f"{engine.bank.solution}\n\n{text}"
    return engine.grade("somebody", {engine.week.module: source.encode()})


@pytest.mark.parametrize("room", [0, 300_000], ids=["no room", "room for a few"])
def test_right_code_keeps_its_points_when_the_room_is_full(
    room: int, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expected, "_MOST_BYTES", room)
    monkeypatch.setattr(engine._heritage, "expectations", expected.KnownExpectations())
    for text in (STOPS, ADDS, GIVES_NOTHING, STOPS):
        report = graded(engine, text)
        assert report.unexplained == ()
        attention = next(e for e in report.exercises if e.name == ATTENTION)
        assert attention.score == attention.max_score
