"""Test that parameters and inputs that do not fit are charged once, beside the other mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from autograder.grading.triviality.answer_contents import with_form
from autograder.grading.warmup import warm_engine
from autograder.model.course import Suspects, load
from autograder.model.report.schema import ExerciseReport
from autograder.worker.protocol import frames
from autograder.worker.protocol.frames import Answer
from autograder.worker.protocol.values import Encoder, read_answer
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


MASKED = """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, FILL)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
"""

HASHED = """
def hash_vectors(x, rotations):
    rotated = torch.einsum("btd,rdc->SUM", x.float(), rotations.float())
    return torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1)
"""


def grader(week_name: str) -> Iterator[Grade]:
    course = load(PROJECT)
    week = course.week(week_name)
    engine = warm_engine(course, week, ("cpu",), b"contracts need no secret", None)
    engine.locate_mistakes(Suspects(seconds=60.0, submission=600.0))

    def grade(exercise: str, text: str) -> ExerciseReport:
        source = f"{engine.bank.solution}\n\n{text}".encode()
        report = engine.grade("student", {week.module: source}, exercise)
        assert not report.unexplained
        return next(e for e in report.exercises if e.name == exercise)

    yield grade
    engine.close()


masks = pytest.fixture(scope="module")(lambda: (yield from grader("week02_masking")))
hashes = pytest.fixture(scope="module")(lambda: (yield from grader("week04_lsh")))
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


@pytest.mark.thorough
def test_a_mistake_in_code_for_one_shape_is_named_and_charged(tiles: Grade) -> None:
    report = tiles("tiled_attention", TILES.replace("FACTOR", "d**0.5"))
    assert report.diagnosis == ("stops_on_other_shapes", "scores_not_scaled")
    assert report.score == 2.5


@pytest.mark.thorough
def test_one_leading_dimension_costs_only_the_price_of_the_adapter(hashes: Grade) -> None:
    report = hashes("hash_vectors", HASHED.replace("SUM", "brtc"))
    assert (report.score, report.diagnosis) == (1.6, ("stops_on_other_shapes",))


@pytest.mark.parametrize("fill", ["-1e9", "-torch.inf"])
def test_an_edit_that_fixes_most_tests_is_charged_in_place_of_them(masks: Grade, fill: str) -> None:
    """The rest of the method is correct, as the tests show that pass with the edit."""
    report = masks("scaled_dot_product_attention", MASKED.replace("FILL", fill))
    assert report.diagnosis == ("line:mask",)
    assert 0.4 <= report.score / report.max_score <= 0.6


LOOKED_UP = """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = SCALE * (q @ k.transpose(-2, -1))
    if mask is not None:
        weights = masked_softmax(scores, mask)
    else:
        weights = torch.softmax(scores, dim=-1)
    return weights @ v
"""


@pytest.mark.parametrize(("scale", "least"), [("q.shape[-1] ** -0.5", 0.5), ("1.0", 0.0)])
def test_a_missing_part_is_charged_once_if_the_other_part_is_right(
    masks: Grade, scale: str, least: float
) -> None:
    report = masks("scaled_dot_product_attention", LOOKED_UP.replace("SCALE", scale))
    share = report.score / report.max_score
    assert least <= share <= least + 0.35, report.deductions


COMBINED = """
def combine_masks(causal, padding):
    both = causal & padding[:, None, :]RESULT
"""


def test_a_result_without_an_axis_loses_only_its_price(masks: Grade) -> None:
    report = masks("combine_masks", COMBINED.replace("RESULT", "\n    return both"))
    assert report.diagnosis == ("forgets_the_head_axis",)
    assert report.score == 0.7


def test_a_mistake_beside_a_result_without_an_axis_is_named_and_charged(masks: Grade) -> None:
    """The bank contains both mistakes, but no program with both."""
    report = masks(
        "combine_masks", COMBINED.replace("RESULT", " & padding[:, :, None]\n    return both")
    )
    assert report.diagnosis == ("forgets_the_head_axis", "padding_hides_queries_too")
    assert report.score == 0.35


def answer(value: object, gradients: tuple[object, ...] | None = None) -> Answer:
    encoder = Encoder()
    encoded = None if gradients is None else tuple(map(encoder, gradients))
    reply = frames.Reply("ok", value=encoder(value), gradients=encoded)
    return reply, [memoryview(b) for b in encoder.buffers]


ROWS = torch.arange(6.0).reshape(2, 3)
SEEN = torch.ones(2, 2).tril() > 0


@pytest.mark.parametrize(
    ("value", "right"),
    [
        (ROWS.double(), ROWS),
        (ROWS.T, ROWS),
        (ROWS[None], ROWS),
        (ROWS.numpy(), ROWS),
        (ROWS.half() / 3, ROWS / 3),
        ((ROWS, ROWS.sum(0)), ROWS),
        ((ROWS.sum(0), ROWS), (ROWS, ROWS.sum(0))),
        (ROWS, (ROWS, ROWS.sum(0))),
        ((ROWS.sum(0),), (ROWS, ROWS.sum(0))),
        (torch.zeros(2, 2).masked_fill(~SEEN, -torch.inf), SEEN),
        (SEEN.long(), SEEN),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_result_of_another_form_is_converted(value: Any, right: Any) -> None:
    converted, _ = read_answer(with_form(answer(value), answer(right)))
    pairs = zip(converted, right, strict=True) if isinstance(right, tuple) else [(converted, right)]
    assert all(torch.equal(x, y) and x.dtype == y.dtype for x, y in pairs)


@pytest.mark.parametrize("value", [None, 3, "text", ROWS[:1], (ROWS.sum(0), ROWS.sum(0))])
def test_other_results_stay_as_they_are(value: object) -> None:
    given = answer(value)
    assert with_form(given, answer(ROWS)) is given


@pytest.mark.parametrize("value", [(), [], None, 3.0, ROWS + 1, ROWS[:1]])
def test_parts_are_added_only_to_correct_parts(value: object) -> None:
    given = answer(value)
    assert with_form(given, answer((ROWS, ROWS.sum(0)))) is given


def test_wrong_values_stay_wrong() -> None:
    value, _ = read_answer(with_form(answer(ROWS.double() + 1), answer(ROWS)))
    assert torch.equal(value, ROWS + 1)


def test_gradients_that_no_cotangent_fits_count_as_correct() -> None:
    _, gradients = read_answer(with_form(answer(ROWS.T, ()), answer(ROWS, (ROWS,))))
    assert torch.equal(gradients[0], ROWS)
