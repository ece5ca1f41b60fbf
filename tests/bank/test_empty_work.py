"""Check that a named mistake earns points only if the rest of the exercise is implemented.

Each program fails all hidden tests, like a misconception with a small cost. Empty programs earn
only the points of the tests that they pass. Complete programs in a different style lose only the
cost.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from autograder.grading.engine import Engine
from autograder.grading.outcomes import Flaw
from autograder.grading.running.pytest_plugin import Ran
from autograder.grading.triviality.answer_contents import (
    contents,
    has_outputs,
    same_contents,
    same_numbers,
)
from autograder.grading.triviality.trivial_programs import plain_calls
from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.report.schema import TestReport as Reported
from autograder.model.report.schema import Verdict
from autograder.worker.protocol import frames
from autograder.worker.protocol.frames import Answer
from autograder.worker.protocol.values import Encoder
from tests.courses import PROJECT

SECRET = b"what is earned does not depend on it"
EMPTY = {
    "causal_mask": "def causal_mask(seq_len, device=None):\n"
    "    return torch.full((seq_len, seq_len), float('nan'), device=device)\n",
    "combine_masks": "def combine_masks(causal, padding):\n"
    "    shape = len(padding), 1, *causal.shape[-2:]\n"
    "    return torch.ones(shape, dtype=torch.int64, device=causal.device)\n",
    "plot_attention": "def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):\n"
    "    return None\n",
}
HONEST = {
    "combine_masks": (
        0.75,
        "def combine_masks(causal, padding):\n"
        "    return causal * padding.unsqueeze(1).unsqueeze(1).to(torch.int64)\n",
    ),
    "plot_attention": (
        1.6,
        "def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):\n"
        "    fig = plt.gcf() if ax is None else ax.figure\n"
        "    if ax is None:\n"
        "        fig, ax = plt.subplots(figsize=(4, 3))\n"
        "    ax.imshow(weights.detach().float().cpu(), vmin=0, vmax=1, cmap='viridis')\n"
        "    ax.set(xlabel='Key', ylabel='Query')\n"
        "    if key_tokens is not None:\n"
        "        ax.set_xticks(np.arange(len(key_tokens)), key_tokens, rotation=45)\n"
        "    if query_tokens is not None:\n"
        "        ax.set_yticks(np.arange(len(query_tokens)), query_tokens)\n"
        "    return fig\n",
    ),
    "SelfAttention": (
        1.6,
        "class _Own(SelfAttention):\n"
        "    def __init__(self, *sizes, **more):\n"
        "        super().__init__(*sizes, **more)\n"
        "        for layer in list(self.children()):\n"
        "            layer.bias = torch.nn.Parameter(torch.zeros(layer.out_features))\n"
        "SelfAttention = _Own\n",
    ),
}
_BIASED = HONEST["SelfAttention"][1]
EMPTY["SelfAttention"] = _BIASED + "_Own.forward = lambda self, x, *a, **k: x * 0\n"


@pytest.fixture(scope="module")
def masks() -> Iterator[Engine]:
    course = load(PROJECT)
    engine = warm_engine(course, course.week("week02_masking"), ("cpu",), SECRET, None)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def attention() -> Iterator[Engine]:
    course = load(PROJECT)
    engine = warm_engine(course, course.week("week01_softmax"), ("cpu",), SECRET, None)
    yield engine
    engine.close()


def earned(engine: Engine, exercise: str, code: str) -> tuple[float, tuple[str, ...]]:
    source = f"{engine.bank.solution}\n\nimport math\nimport numpy as np\n\n\n{code}"
    report = engine.grade("somebody", {engine.week.module: source.encode()}, exercise)
    assert report.verdict == "graded", report.message
    assert not report.unexplained
    return report.exercises[0].score, report.exercises[0].diagnosis


@pytest.mark.parametrize("exercise", EMPTY)
def test_an_empty_exercise_earns_nothing_by_the_name_of_a_mistake(
    exercise: str, masks: Engine
) -> None:
    points, names = earned(masks, exercise, EMPTY[exercise])
    assert names, "it still has the name"
    assert points <= 0.2


EFFORTLESS = {
    "an argument": (
        "plot_attention",
        "def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):\n"
        "    return weights\n",
    ),
    "an argument in a list": (
        "plot_attention",
        "def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):\n"
        "    return [weights.numpy()]\n",
    ),
    "NaN": (
        "masked_softmax",
        "def masked_softmax(scores, mask, dim=-1):\n    return scores * float('nan')\n",
    ),
}


@pytest.mark.parametrize("what", EFFORTLESS)
def test_what_takes_no_work_earns_nothing_by_the_name_of_a_mistake(
    what: str, masks: Engine
) -> None:
    points, names = earned(masks, *EFFORTLESS[what])
    assert names
    assert points == 0.0


@pytest.mark.parametrize(("mask", "named"), [("", False), ("scores.masked_fill(~mask, 0)", True)])
def test_a_name_fits_only_programs_that_read_what_the_mistake_needs(
    mask: str, named: bool, masks: Engine
) -> None:
    head, end = "def masked_softmax(scores, mask, dim=-1):", "return torch.softmax(scores, dim)"
    code = f"{head}\n    {mask}\n    {end}\n"
    points, names = earned(masks, "masked_softmax", code)
    assert ("discards_the_filled_scores" in names) is named
    assert points <= 0.3


def test_tests_that_a_trivial_program_passes_earn_nothing_alone(masks: Engine) -> None:
    trivial = (
        "def causal_mask(seq_len, device=None):\n    return torch.ones(seq_len, seq_len) > 0\n"
    )
    assert earned(masks, "causal_mask", trivial)[0] == 0.0


def test_they_count_beside_a_test_that_needs_work(masks: Engine) -> None:
    short = (
        "def causal_mask(seq_len, device=None):\n"
        "    return torch.ones(seq_len, seq_len, dtype=bool).tril(-(seq_len > 4))\n"
    )
    report = masks.grade(
        "somebody", {masks.week.module: f"{masks.bank.solution}\n\n{short}".encode()}, "causal_mask"
    )
    (found,) = report.exercises
    passed = sum(t.weight for t in found.tests if t.verdict is Verdict.PASS)
    assert found.score == pytest.approx(passed / sum(t.weight for t in found.tests), abs=1e-4)
    assert any("single_token" in t.name for t in found.tests if t.verdict is Verdict.PASS)


@pytest.mark.parametrize("exercise", ["causal_mask", "combine_masks"])
def test_a_plain_library_call_earns_at_most_a_tenth(exercise: str, masks: Engine) -> None:
    for name, source in plain_calls(masks.bank, exercise):
        report = masks.grade("somebody", {masks.week.module: source.encode()}, exercise)
        assert report.exercises[0].score <= 0.1, name


@pytest.mark.parametrize("exercise", HONEST)
def test_who_did_the_work_loses_the_price_alone(exercise: str, masks: Engine) -> None:
    points, code = HONEST[exercise]
    assert earned(masks, exercise, code)[0] == pytest.approx(points)


@pytest.mark.parametrize(
    ("answers", "seen"),
    [
        ([torch.tensor([1.0, 2.0])], True),
        ([(torch.zeros(3), torch.tensor([0.0, 5.0]))], True),
        ([torch.full((3,), torch.nan)], False),
        ([torch.zeros(2, 2)], False),
        ([7], False),
        ([7, 9], True),
        (["a drawing", "of words"], False),
    ],
)
def test_an_answer_shows_work_if_its_numbers_differ(answers: list[object], seen: bool) -> None:
    def answer(value: object) -> Answer:
        encoder = Encoder()
        return frames.Reply("ok", value=encoder(value)), [memoryview(b) for b in encoder.buffers]

    told = Reported("a", Verdict.WRONG, 1.0, "It is wrong.")
    ran = Ran(told, "f", [answer(a) for a in answers], flaw=Flaw.VALUE)
    assert has_outputs([ran]) is seen
    crashed = Reported("b", Verdict.CRASHED, 1.0, "It raised.")
    assert not has_outputs([ran, Ran(crashed, "f", [])])


def test_an_error_like_a_mistakes_is_no_work(attention: Engine) -> None:
    points, names = earned(
        attention,
        "scaled_dot_product_attention_numpy",
        "def scaled_dot_product_attention_numpy(q, k, v):\n"
        "    k.transpose(0, 2, 1)\n"
        "    leading = q.shape[:-1]\n"
        "    output, weights = (*leading, v.shape[-1]), (*leading, k.shape[-2])\n"
        "    return np.zeros(output, q.dtype), np.zeros(weights, q.dtype)\n",
    )
    assert names == ("knows_three_axes_only",)
    assert points <= 0.2


# If the condition is false, the program returns zeros or raises an error.
IN_PART = {
    "another number type": (
        "scaled_dot_product_attention_numpy",
        "def scaled_dot_product_attention_numpy(q, k, v):\n"
        "    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2) / {scale})\n"
        "    if {condition}:\n"
        "        return weights @ v, weights\n"
        "    return np.zeros_like(weights @ v, int), np.zeros_like(weights, int)\n",
        {"condition": "k.shape[-2] % 2 == 0"},
        {"scale": "math.sqrt(q.shape[-1])"},
        {"scale": "q.shape[-1]"},
    ),
    "an error": (
        "scaled_dot_product_attention_numpy",
        "def scaled_dot_product_attention_numpy(q, k, v):\n"
        "    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2) / {scale})\n"
        "    if {condition}:\n"
        "        return weights @ v, weights\n"
        "    raise ValueError\n",
        {"condition": "q.shape[-2] % 2 == 0"},
        {"scale": "math.sqrt(q.shape[-1])"},
        {"scale": "q.shape[-1]"},
    ),
    "zeros of the mistake's type": (
        "softmax_numpy",
        "def softmax_numpy(x, axis=-1):\n"
        "    if not np.issubdtype(x.dtype, np.floating):\n"
        "        x = x.astype(np.float64)\n"
        "    e = np.exp(x - x.max(axis=axis, keepdims=True)){kind}\n"
        "    return e / e.sum(axis=axis, keepdims=True) * {condition}\n",
        {"condition": "x.dtype.type(x.ndim == 2)"},
        {"kind": ""},
        {"kind": ".astype(np.float64)"},
    ),
}


@pytest.mark.parametrize("how", IN_PART)
def test_a_mistake_beside_work_that_is_not_done_earns_less_than_the_work_without_it(
    how: str, attention: Engine
) -> None:
    exercise, text, part, right, wrong = IN_PART[how]
    without, _ = earned(attention, exercise, text.format(**part, **right))
    beside, _ = earned(attention, exercise, text.format(**part, **wrong))
    whole, names = earned(attention, exercise, text.format(condition=1, **wrong))
    assert names
    assert beside <= min(without, whole - 0.2)


@pytest.mark.parametrize(
    ("mine", "other", "near"),
    [
        ([1, 0], [True, False], True),
        ([1.0, float("nan")], [1.0, float("nan")], True),
        ([1.0, 0.0], [1.0, float("nan")], False),
        ([0, 0], [1, 0], False),
        ([[1], [2]], [1, 2], True),
        ([1, 2], [1, 2, 3], False),
    ],
)
def test_values_are_compared_in_spite_of_their_type(
    mine: list[float], other: list[float], near: bool
) -> None:
    parts = list(contents(torch.tensor(mine)))
    assert same_contents(parts, list(contents(np.array(other)))) is near


@pytest.mark.parametrize(
    ("mine", "shown"),
    [
        ((["a"], torch.arange(4.0)), True),
        ((["a"], torch.zeros(4)), False),
        ((["a"], torch.arange(5.0)), False),
        ((["a", "b"],), False),
    ],
)
def test_right_numbers_beside_wrong_texts_show_work(mine: object, shown: bool) -> None:
    right = ["a", "b"], torch.arange(4.0)
    assert same_numbers(list(contents(mine)), list(contents(right))) is shown
