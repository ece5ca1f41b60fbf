"""Test that parameters and inputs that do not fit are charged once, beside the other mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.report.schema import ExerciseReport
from tests.courses import PROJECT

Grade = Callable[[str, str], ExerciseReport]

HEADS = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model}")
        self.num_heads = num_heads
        layers = (nn.Linear(d_model, d_model, bias=BIAS) for _ in range(4))
        self.query, self.key, self.value, self.out = layers

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() == 3:
            raise ValueError("a mask of 3 dimensions")
        x = (self.query(query), self.key(key), self.value(value))
        q, k, v = (split_heads(one, self.num_heads) for one in x)
        weights = _masked_softmax(q @ k.transpose(-2, -1) / SCALE, mask)
        return self.out(merge_heads(weights @ v)), weights
"""

TILES = """
_tiled = tiled_attention


def tiled_attention(q, k, v, block_size=64, causal=False):
    batch, n, d = q.shape
    assert k.shape[1] % block_size == 0
    return _tiled(FACTOR * q, k, v, block_size, causal)
"""


def grader(week_name: str) -> Iterator[Grade]:
    course = load(PROJECT)
    week = course.week(week_name)
    engine = warm_engine(course, week, ("cpu",), b"contracts need no secret", None)

    def grade(exercise: str, text: str) -> ExerciseReport:
        source = f"{engine.bank.solution}\n\n{text}".encode()
        report = engine.grade("student", {week.module: source}, exercise)
        assert not report.unexplained
        return next(e for e in report.exercises if e.name == exercise)

    yield grade
    engine.close()


heads = pytest.fixture(scope="module")(lambda: (yield from grader("week03_multihead")))
tiles = pytest.fixture(scope="module")(lambda: (yield from grader("week07_flash")))


@pytest.mark.parametrize("bias", [True, False])
def test_a_module_with_other_parameters_loses_only_their_price(heads: Grade, bias: bool) -> None:
    text = HEADS.replace("BIAS", str(bias)).replace("SCALE", "math.sqrt(q.shape[-1])")
    report = heads("MultiHeadAttention", text)
    assert (report.score, report.diagnosis) == (3.4, ("shows:names of state",))


def test_a_mistake_beside_other_parameters_is_named_and_charged(heads: Grade) -> None:
    report = heads(
        "MultiHeadAttention", HEADS.replace("BIAS", "False").replace("SCALE", "q.shape[-1]")
    )
    assert report.diagnosis == ("shows:names of state", "divides_by_the_head_size")
    assert report.score == 2.4


@pytest.mark.thorough
def test_code_for_one_shape_loses_only_the_price_of_the_adapter(tiles: Grade) -> None:
    report = tiles("tiled_attention", TILES.replace("FACTOR", "1.0"))
    assert (report.score, report.diagnosis) == (4.0, ("stops_on_other_shapes",))


def test_a_mistake_in_code_for_one_shape_is_named_and_charged(tiles: Grade) -> None:
    report = tiles("tiled_attention", TILES.replace("FACTOR", "d**0.5"))
    assert report.diagnosis == ("stops_on_other_shapes", "scores_not_scaled")
    assert report.score == 2.5
