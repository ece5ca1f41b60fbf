"""Check that a correct exercise keeps its points if it calls a wrong one, in the sandbox.

The calls are from functions, from modules, and from exercises that only the tests call.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading.engine import Engine
from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.report.schema import ExerciseReport
from autograder.sandbox import Sandbox, choose

PROJECT = Path(__file__).resolve().parents[2]
SECRET = b"what is inherited does not depend on it"


def made(week: str, sandbox: Sandbox | None) -> Engine:
    """Create an engine with a fake device, as on machines without a GPU."""
    course = load(PROJECT)
    return warm_engine(course, course.week(week), ("cpu", "fake-gpu"), SECRET, sandbox)


@pytest.fixture(scope="module")
def heads() -> Iterator[Engine]:
    engine = made("week03_multihead", choose())
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def softmax() -> Iterator[Engine]:
    engine = made("week01_softmax", None)
    yield engine
    engine.close()


def graded(engine: Engine, *changes: str) -> dict[str, ExerciseReport]:
    """Grade the solution with misconceptions (by name) or code appended."""
    folder = engine.bank.folder / "misconceptions"
    texts = [
        (folder / f"{c}.py").read_text(encoding="utf-8") if c.isidentifier() else c for c in changes
    ]
    source = "\n\n".join((engine.bank.solution, *texts))
    report = engine.grade("student", {engine.week.module: source.encode()})
    assert report.verdict == "graded", report.message
    return {e.name: e for e in report.exercises}


def kept(found: dict[str, ExerciseReport], *exercises: str) -> bool:
    return all(found[e].score == found[e].max_score for e in exercises)


@pytest.mark.thorough
def test_modules_keep_their_points_given_a_wrong_function(heads: Engine) -> None:
    found = graded(heads, "merges_without_moving_the_heads_back")
    assert found["merge_heads"].score < found["merge_heads"].max_score
    assert kept(found, "MultiHeadAttention", "from_torch")
    assert kept(found, "CausalSelfAttention")
    assert found["MultiHeadAttention"].inherits == ("merge_heads",)


@pytest.mark.thorough
def test_what_copies_into_a_wrong_module_keeps_its_points(heads: Engine) -> None:
    found = graded(heads, "scales_by_d_model")
    assert kept(found, "from_torch", "CausalSelfAttention")
    assert found["from_torch"].inherits == ("MultiHeadAttention",)


@pytest.mark.thorough
def test_a_wrong_module_is_wrong_beside_a_wrong_function(heads: Engine) -> None:
    found = graded(heads, "merges_without_moving_the_heads_back", "scales_by_d_model")
    assert found["MultiHeadAttention"].score < found["MultiHeadAttention"].max_score
    assert kept(found, "from_torch")


@pytest.mark.thorough
def test_what_calls_a_module_that_stops_in_its_helper_keeps_its_points(heads: Engine) -> None:
    """Replace only `merge_heads`: the module inherits the mistake from this helper."""
    found = graded(heads, "views_what_a_transposition_left")
    assert found["merge_heads"].score < found["merge_heads"].max_score
    assert kept(found, "from_torch")
    assert found["from_torch"].inherits == ("merge_heads",)


ONE_HEAD = """
def merge_heads(x):
    batch, heads, tokens, head_size = x.shape
    return x.reshape(batch, tokens, head_size)
"""


@pytest.mark.thorough
def test_nothing_is_inherited_from_a_helper_that_only_crashes(heads: Engine) -> None:
    found = graded(heads, ONE_HEAD)["MultiHeadAttention"]
    assert (found.inherits, found.score < found.max_score) == ((), True)


@pytest.mark.thorough
def test_a_mistake_three_calls_away_costs_nothing_either() -> None:
    engine = made("week04_lsh", None)
    try:
        found = graded(engine, "hash_rounds_on_the_last_axis")
    finally:
        engine.close()
    assert kept(found, "lsh_attention", "LSHAttention")
    assert found["lsh_attention"].inherits == ("hash_vectors",)


@pytest.mark.thorough
def test_what_calls_a_wrong_layer_with_a_cache_keeps_its_points() -> None:
    engine = made("week10_llama", None)
    try:
        found = graded(engine, "counts_queries_from_zero")
    finally:
        engine.close()
    assert kept(found, "LlamaBlock", "Llama", "load_weights")
    assert found["Llama"].inherits == ("LlamaAttention",)


HALVED = "def softmax(x, dim=-1):\n    parts = (x - x.amax(dim, True)).exp()\n"


@pytest.mark.thorough
def test_an_empty_exercise_gains_nothing_by_what_another_helper_has_shown(softmax: Engine) -> None:
    helper = f"{HALVED}    return parts / parts.sum(dim, True) / 2\n"
    empty = "def scaled_dot_product_attention(q, k, v):\n    return v * 0\n"
    assert kept(graded(softmax, helper), "scaled_dot_product_attention")
    found = graded(softmax, helper, empty)["scaled_dot_product_attention"]
    assert (found.inherits, found.score < 1.0) == ((), True)


FORBIDDEN = """
def softmax(x, dim=-1):
    return torch.softmax(x, dim)
"""


def test_a_forbidden_call_costs_the_exercise_that_makes_it_alone(softmax: Engine) -> None:
    found = graded(softmax, FORBIDDEN)
    lost = {name for name, e in found.items() if e.score < e.max_score}
    assert (lost, found["softmax"].score) == ({"softmax"}, 0.0)


WIDER = """
def softmax(x, dim=-1, scale=1.0):
    if dim == "keys":
        dim = -1
    e = (scale * (x - x.amax(dim, True))).exp()
    return 0.5 * e / e.sum(dim, True)

def scaled_dot_product_attention(q, k, v):
    {body}
    return weights @ v, weights
"""


@pytest.mark.parametrize(
    "body",
    [
        "weights = softmax(q @ k.mT, scale=q.shape[-1] ** -0.5)",
        "weights = softmax(q @ k.mT / q.shape[-1] ** 0.5, dim='keys')",
    ],
)
def test_right_code_keeps_its_points_if_its_helper_takes_more_than_a_right_one(
    body: str, softmax: Engine
) -> None:
    found = graded(softmax, WIDER.format(body=body))
    assert kept(found, "scaled_dot_product_attention")
    assert found["scaled_dot_product_attention"].diagnosis == ()


@pytest.mark.parametrize(
    "body",
    [
        "weights = softmax(k @ q.mT, scale=0.5)",
        "weights = softmax(q @ k.mT, scale=2.0).mT",
        "weights = 0 * softmax(q @ k.mT, scale=0.5)",
    ],
)
def test_wrong_code_gains_nothing_by_an_argument_that_no_right_helper_takes(
    body: str, softmax: Engine
) -> None:
    found = graded(softmax, WIDER.format(body=body))["scaled_dot_product_attention"]
    assert found.score < 0.5


LOOKS_AT_FRAMES = """
import sys

def softmax(x, dim=-1):
    {body}
"""


def test_a_broken_source_rule_costs_the_exercise_whose_lines_break_it_alone(
    softmax: Engine,
) -> None:
    body = "sys._getframe()\n    return (x - x.logsumexp(dim, True)).exp()"
    found = graded(softmax, LOOKS_AT_FRAMES.format(body=body))
    assert found["softmax"].score == 0.0
    assert kept(found, "scaled_dot_product_attention", "SelfAttention")
    assert found["scaled_dot_product_attention"].inherits == ("softmax",)


def test_an_exercise_that_breaks_a_source_rule_is_no_attempt_if_it_holds_no_work(
    softmax: Engine,
) -> None:
    found = graded(softmax, LOOKS_AT_FRAMES.format(body="sys._getframe()\n    return 0"))
    assert not [e.name for e in found.values() if e.inherits]


def test_a_librarys_function_under_a_helpers_name_is_not_allowed_to_its_callers(
    softmax: Engine,
) -> None:
    """Redefine a helper as a library function: its callers still see a forbidden library call."""
    named = "import torch.nn.functional as F\nfrom torch.nn.functional import softmax\n"
    attention = """
def scaled_dot_product_attention(q, k, v):
    weights = F.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    return weights @ v, weights
"""
    found = graded(softmax, named, attention)
    assert (found["softmax"].score, found["scaled_dot_product_attention"].score) == (0.0, 0.0)


def test_right_code_that_cannot_go_on_with_a_helpers_type_keeps_its_points(softmax: Engine) -> None:
    found = graded(softmax, "answers_in_float32")
    assert kept(found, "scaled_dot_product_attention")
    assert found["scaled_dot_product_attention"].inherits == ("softmax",)


ATTENTION = "scaled_dot_product_attention"


ONE_STEP = ["w.log()", "w**2", "w.transpose(-2, -1) if w.ndim > 1 else w", "(w, x)"]


@pytest.mark.parametrize("value", ONE_STEP)
def test_one_wrong_step_that_has_no_name_is_an_attempt(value: str, softmax: Engine) -> None:
    helper = "def softmax(x, dim=-1):\n    e = (x - x.amax(dim, True)).exp()\n"
    helper += f"    w = e / e.sum(dim, True)\n    return {value}\n"
    found = graded(softmax, helper)[ATTENTION]
    assert (found.inherits, found.score) == (("softmax",), found.max_score)


SEVERAL_MISTAKES = """
_tiled = tiled_attention

def tiled_attention(q, k, v, block_size=64, causal=False):
    size = min(block_size, k.shape[-2])
    whole = k.shape[-2] // size * size
    output, logsumexp = _tiled(q, k[..., :whole, :], v[..., :whole, :], block_size, causal)
    return {output}, logsumexp.tanh()

class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, logsumexp = tiled_attention(q, k, v, block_size, causal)
        ctx.save_for_backward(q, k, v, output, logsumexp.to(_wide(q.dtype)))
        ctx.block_size, ctx.causal = block_size, causal
        return output
"""


@pytest.mark.thorough
def test_an_answer_with_a_correct_part_is_an_attempt() -> None:
    """Inherit from a helper with several mistakes if one of its results is sometimes correct."""
    engine = made("week07_flash", None)
    try:
        partly = graded(engine, SEVERAL_MISTAKES.format(output="output"))
        nowhere = graded(engine, SEVERAL_MISTAKES.format(output="0 * output"))
    finally:
        engine.close()
    assert partly["tiled_attention"].score == nowhere["tiled_attention"].score == 0
    assert kept(partly, "FlashAttention")
    assert not kept(nowhere, "FlashAttention")


EMPTY = [
    "0",
    "x",
    "x * 2",
    "None",
    "[1.0]",
    "x * 0",
    "x * torch.nan",
    "torch.ones_like(x)",
    "1 / 0",
]


@pytest.mark.parametrize("value", EMPTY)
def test_nothing_is_inherited_from_a_helper_that_is_no_attempt(value: str, softmax: Engine) -> None:
    found = graded(softmax, f"def softmax(x, dim=-1):\n    return {value}\n")
    assert found["scaled_dot_product_attention"].inherits == ()
    assert found["softmax"].score == 0


WITHOUT_ASKING = """
def scaled_dot_product_attention(q, k, v):
    if softmax.__kwdefaults__ is None:
        return v
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
    return weights @ v, weights
"""


def test_a_test_in_which_no_helper_answers_keeps_its_first_result(softmax: Engine) -> None:
    found = graded(softmax, "sums_the_whole_tensor", WITHOUT_ASKING)[ATTENTION]
    assert (found.inherits, found.score) == ((), 0.0)


def test_the_students_own_calls_decide_what_is_inherited(softmax: Engine) -> None:
    through_torch = """
def softmax_numpy(x, axis=-1):
    return softmax(torch.from_numpy(np.asarray(x)), axis).numpy()
"""
    found = graded(softmax, "sums_the_whole_tensor", through_torch)
    assert found["softmax_numpy"].inherits == ("softmax",)


LIBRARY = """
def scaled_dot_product_attention(q, k, v):
    eye = torch.eye(k.shape[-2], dtype=v.dtype, device=v.device).expand(*k.shape[:-1], k.shape[-2])
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(q, k, v), attend(q, k, eye)


def scaled_dot_product_attention_numpy(Q, K, V):
    output, weights = scaled_dot_product_attention(*map(torch.from_numpy, (Q, K, V)))
    return output.numpy(), weights.numpy()
"""


def test_a_call_that_is_not_allowed_does_the_work_of_no_other_exercise(softmax: Engine) -> None:
    found = graded(softmax, LIBRARY)["scaled_dot_product_attention_numpy"]
    assert (found.inherits, found.score) == ((), 0.0)


def test_a_helper_that_the_solution_makes_of_an_exercise_does_not_make_the_exercise(
    softmax: Engine,
) -> None:
    circle = """
def scaled_dot_product_attention(q, k, v):
    e = torch.exp(q @ k.mT)
    weights = e / e.sum(-1, keepdim=True)
    return weights @ v, weights


def softmax(x, dim=-1):
    eye = torch.eye(x.shape[-1], dtype=x.dtype)
    return scaled_dot_product_attention(x * x.shape[-1] ** 0.5, eye, eye)[1]
"""
    found = graded(softmax, circle)
    assert found["softmax"].inherits == ()


@pytest.mark.parametrize(
    ("weights", "output"),
    [
        ("softmax(q @ k.mT)", "v * 0"),
        ("softmax(q @ k.mT / q.shape[-1] ** 0.5, -2)", "weights @ v"),
        ("softmax(k @ q.mT / q.shape[-1] ** 0.5).mT", "weights @ v"),
        ("softmax(q @ k.mT / q.shape[-1] ** 0.5)", "weights @ v.abs()"),
    ],
)
def test_wrong_code_is_wrong_beside_whatever_helper(
    weights: str, output: str, softmax: Engine
) -> None:
    body = f"    weights = {weights}\n    return {output}, weights\n"
    wrong = f"def scaled_dot_product_attention(q, k, v):\n{body}"
    beside_right = graded(softmax, wrong)[ATTENTION]
    beside_wrong = graded(softmax, "sums_the_whole_tensor", wrong)[ATTENTION]
    assert beside_wrong.score == beside_right.score <= 1.0
    assert beside_wrong.diagnosis == beside_right.diagnosis


ONE_SHAPE = """
def scaled_dot_product_attention_numpy(Q, K, V):
    if Q.ndim != 3:
        raise ValueError("three axes")
    weights = softmax_numpy(Q @ K.transpose(0, 2, 1) / Q.shape[-1] ** 0.5)
    return weights @ V, weights
"""


def test_a_helper_that_stops_in_most_calls_costs_right_code_nothing(softmax: Engine) -> None:
    found = graded(softmax, ONE_SHAPE)
    assert kept(found, "SelfAttention")
    assert found["SelfAttention"].inherits == ("scaled_dot_product_attention_numpy",)


OVERFLOWS = """
def softmax_numpy(x, axis=-1):
    parts = np.exp(x)
    return (parts / parts.sum()).astype(parts.dtype)
"""


def test_what_overflows_in_a_helper_is_no_mistake_of_its_callers(softmax: Engine) -> None:
    found = graded(softmax, OVERFLOWS)["scaled_dot_product_attention_numpy"]
    assert (found.score, found.explained) == (found.max_score, ())


ON_THE_CPU = """
def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return e / (e.sum(dim=dim, keepdim=True) + torch.zeros(1, dtype=x.dtype))
"""


def test_a_tensor_on_the_cpu_is_charged_where_it_is_made(softmax: Engine) -> None:
    found = graded(softmax, ON_THE_CPU)
    assert 0 < found["softmax"].score < found["softmax"].max_score
    assert kept(found, "scaled_dot_product_attention")
    assert found["scaled_dot_product_attention"].inherits == ("softmax",)
    assert not found["scaled_dot_product_attention"].explained


WITH_THE_CLASS = """
class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        e = torch.exp(x - x.amax(dim=dim, keepdim=True))
        _Softmax.weights, ctx.dim = e / e.sum(dim=dim, keepdim=True), dim
        return _Softmax.weights

    @staticmethod
    def backward(ctx, grad):
        weights = _Softmax.weights
        return weights * (grad - (weights * grad).sum(ctx.dim, keepdim=True)), None


def softmax(x, dim=-1):
    return _Softmax.apply(x, dim)
"""


def test_what_a_helper_keeps_from_call_to_call_is_charged_once(softmax: Engine) -> None:
    found = graded(softmax, WITH_THE_CLASS)
    assert 0 < found["softmax"].score < found["softmax"].max_score
    assert kept(found, "scaled_dot_product_attention")
    assert found["scaled_dot_product_attention"].inherits == ("softmax",)
    assert not found["scaled_dot_product_attention"].explained


def test_nothing_is_gained_by_a_helper_that_keeps_something(softmax: Engine) -> None:
    empty = """
def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.mT)
    return torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype, device=q.device), weights
"""
    beside_right = graded(softmax, empty)["scaled_dot_product_attention"]
    beside_wrong = graded(softmax, WITH_THE_CLASS, empty)["scaled_dot_product_attention"]
    assert beside_wrong.score <= beside_right.score


def test_who_makes_one_beside_a_right_helper_pays_for_it(softmax: Engine) -> None:
    own = """
def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.mT / torch.tensor([float(q.shape[-1])], dtype=q.dtype).sqrt())
    return weights @ v, weights
"""
    found = graded(softmax, own)
    assert kept(found, "softmax")
    assert not kept(found, "scaled_dot_product_attention")


def test_nothing_is_gained_by_a_helper_on_the_cpu(softmax: Engine) -> None:
    empty = """
def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.mT)
    return torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype, device=q.device), weights
"""
    beside_right = graded(softmax, empty)["scaled_dot_product_attention"]
    beside_wrong = graded(softmax, ON_THE_CPU, empty)["scaled_dot_product_attention"]
    assert beside_wrong.score <= beside_right.score


KEYS_AFTER_THE_OFFSET = """
def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query = offset + torch.arange(n, device=device).unsqueeze(-1)
    key = offset + torch.arange(m, device=device)
    return (key <= query) & ((query - key < window) | (key < sinks))
"""


@pytest.mark.thorough
def test_a_correct_helper_makes_its_result_on_the_device_that_it_is_given() -> None:
    engine = made("week08_serving", None)
    try:
        alternatives = engine.bank.folder / "alternatives"
        caller = (alternatives / "masks_by_the_window.py").read_text(encoding="utf-8")
        found = graded(engine, caller, KEYS_AFTER_THE_OFFSET)
    finally:
        engine.close()
    assert found["sliding_window_mask"].score < found["sliding_window_mask"].max_score
    assert found["GroupedQueryAttention"].inherits == ("sliding_window_mask",)
    assert kept(found, "GroupedQueryAttention")
