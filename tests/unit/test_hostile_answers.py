"""Test that any answer of a submission gets a verdict and never causes a system error."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.grading.assertions import properties
from autograder.grading.assertions.call_comparison import BothCalls, compare_gradients
from autograder.grading.assertions.case import CallOptions, CallResult
from autograder.grading.assertions.value_comparison import compare
from autograder.grading.comparator import EXACT
from autograder.grading.diagnosis.equivalence import same_answers
from autograder.grading.disclosure.signatures import Signatures
from autograder.grading.outcomes import Outcome, Wrong
from autograder.worker.protocol import frames as wire
from autograder.worker.protocol.values import Decoder, Drawing, Encoder, Figure, Image, read_special

NAN = float("nan")
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e5m2)
DTYPES = (*FLOATS, torch.complex64, torch.complex128, torch.bool, torch.uint8, torch.int8)
DTYPES += (torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64)
SHAPES = ((), (0,), (1,), (3,), (2, 3), (3, 2), (2, 3, 1), (0, 3), (2, 0), (1,) * 7)
TEXTS = ("", "text", "0.5", "\ud800", "a\nb", "x" * 3000, "\x00")


def laid_out(x: torch.Tensor, layout: str) -> Any:
    """Return the tensor in a different layout, or unchanged if the layout is impossible."""
    views: dict[str, Any] = {
        "coo": lambda: x.to_sparse(),
        "csr": lambda: x.to_sparse_csr(),
        "nested": lambda: torch.nested.nested_tensor([x, x]),
        "quantized": lambda: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.quint8),
        "meta": lambda: x.to("meta"),
        "expanded": lambda: x[..., :1].expand(*x.shape[:-1], 1 << 20),
        "strided": lambda: torch.as_strided(x.flatten()[:1], (2, 2), (0, 0)),
        "transposed": lambda: x.transpose(0, -1),
        "conjugate": lambda: x.conj(),
        "graph": lambda: x.float().requires_grad_() * 2,
        "subclass": lambda: torch.nn.Parameter(x, requires_grad=False),
        "numpy": lambda: x.numpy(),
        "big": lambda: x.numpy().astype(x.numpy().dtype.newbyteorder()),
        "scalar": lambda: x.numpy().reshape(-1)[0],
    }
    try:
        return views[layout]()
    except (RuntimeError, TypeError, IndexError, KeyError, ValueError, NotImplementedError):
        return x


@st.composite
def tensors(draw: st.DrawFn) -> Any:
    shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(DTYPES))
    fill = draw(st.sampled_from((0.0, 1.0, 0.5, NAN, float("inf"), -float("inf"), 1e300, 200.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = torch.full(shape, fill, dtype=torch.float64).to(dtype)
        layouts = ("plain", "coo", "csr", "nested", "quantized", "meta", "expanded", "strided")
        layouts += ("transposed", "conjugate", "graph", "subclass", "numpy", "big", "scalar")
        return laid_out(x, draw(st.sampled_from(layouts)))


ODD = (None, True, False, 0, -1, 3, 10**18, 10**290, 10**400, 0.5, NAN, float("inf"), 1j, b"x")
ODD += (*TEXTS, object(), int, np.array([object()], dtype=object), np.array(["a"]), range(3))
ODD += (np.longdouble(1), np.datetime64("2020"), np.zeros(2, dtype=[("a", "f4")]), np.bool_(True))
ODD += (np.int64(3), np.float16(0.5), np.complex64(1j), np.ma.masked_array([1.0]), {1, 2})
ODD += (torch.Size([2]), torch.float32, torch.device("cpu"), slice(1), Ellipsis)
LEAVES = st.one_of(tensors(), st.sampled_from(ODD))


def deep(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = [value]
    return value


VALUES = st.one_of(
    st.recursive(
        LEAVES,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.tuples(inner, inner),
            st.dictionaries(st.sampled_from(("a", "b", 1, None, "\ud800")), inner, max_size=3),
        ),
        max_leaves=5,
    ),
    st.builds(deep, LEAVES, st.integers(1, 200)),
)
NUMBERS = st.one_of(st.none(), st.sampled_from((0.0, 1.0, NAN, float("inf"), -2.5)))
WORDS = st.sampled_from(("", "Key", "Query", "x" * 500, "\x1b"))


@st.composite
def drawings(draw: st.DrawFn) -> Drawing:
    def image() -> Image:
        data = draw(tensors().filter(lambda x: isinstance(x, np.ndarray)) | st.just(np.ones(3)))
        return Image(data, draw(st.booleans()), draw(NUMBERS), draw(NUMBERS))

    images = tuple(image() for _ in range(draw(st.integers(0, 2))))
    ticks = draw(st.sampled_from(((), ("a", "b"), ("a",) * 50)))
    return Drawing(images, draw(WORDS), draw(WORDS), draw(WORDS), ticks, ticks, draw(st.booleans()))


def sent(value: Any) -> Any:
    """Return the reply that contains the value, or None if it is invalid."""
    encoder = Encoder(keep=lambda x: wire.HandleV(0, type(x).__name__, None) if x is int else None)
    try:
        frame = wire.pack(wire.Reply("ok", value=encoder(value)), encoder.buffers)
        start = wire.PREFIX.size
        header, _ = wire.frame_lengths(frame[:start], len(frame), len(frame))
        return wire.unpack_reply(frame[start : start + header], frame[start + header :])
    except (wire.BadFrame, msgspec.MsgspecError, UnicodeEncodeError):
        return None


def received(value: Any) -> Any:
    """Return the value as the trusted side receives it, or None if the reply is invalid."""
    answer = sent(value)
    if answer is None:
        return None
    reply, buffers = answer
    try:
        same_answers([answer], [answer])
        return Decoder(buffers, special=read_special)(reply.value)
    except (wire.BadFrame, msgspec.MsgspecError, UnicodeEncodeError):
        return None


X = torch.arange(6.0).reshape(2, 3)
CALL = BothCalls("f", (X,), {}, CallOptions(), CallOptions(), None)
PANEL = Drawing((Image(X.numpy(), True, 0.0, 1.0),), "Key", "Query", "T", ("a",), ("b",), True)
EXPECTED: tuple[Any, ...] = (
    *(X.to(d) for d in (*FLOATS[:4], torch.bool, torch.int64)),
    torch.tensor(0.5),
    torch.zeros(0),
    torch.tensor([-torch.inf, 1.0]),
    X.numpy(),
    np.float64(1),
    np.int64(3),
    np.bool_(True),
    (X, X),
    [1, 2.5],
    {"a": X, 1: (X,)},
    *("text", "", 3, 0.5, float("inf"), True, None),
    wire.HandleV(0, "Module", None),
    PANEL,
    Figure((PANEL, PANEL), "S"),
)
pytestmark = pytest.mark.filterwarnings("ignore")
many = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def judged(check: Any, *arguments: Any) -> None:
    """Check a student's value; only an Outcome may be raised."""
    with contextlib.suppress(Outcome):
        check(*arguments)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_submission_cannot_choose_a_tolerance_so_large_that_zeros_pass(
    dtype: torch.dtype,
) -> None:
    zeros = torch.zeros(2, 3, dtype=dtype)
    with pytest.raises(Wrong):
        properties.rows_sum_to_one(zeros)
    for pair in ((zeros, torch.full((2, 3), 0.4)), (torch.full((2, 3), 0.4), zeros)):
        with pytest.raises(Wrong):
            properties.same(*pair, "differ")


@many
@given(VALUES)
def test_every_value_compares_with_every_result(value: Any) -> None:
    seen = received(value)
    for expected in EXPECTED:
        judged(compare, seen, expected)
        judged(compare, seen, expected, expected, EXACT)


@many
@given(st.one_of(drawings(), st.builds(Figure, st.lists(drawings(), max_size=3), WORDS)))
def test_every_drawing_compares_with_every_result(drawing: Any) -> None:
    for expected in EXPECTED:
        judged(compare, drawing, expected)


@many
@given(tensors(), st.sampled_from([None, X, X.double(), X.bfloat16(), torch.zeros(0)]))
def test_every_gradient_compares_with_every_gradient_and_with_none(value: Any, own: Any) -> None:
    seen = received(value)
    gradient = seen if isinstance(seen, torch.Tensor) else None
    reply = wire.Reply("ok")
    mine, theirs = CallResult(None, None, (gradient,), reply), CallResult(None, None, (own,), reply)
    judged(compare_gradients, mine, theirs, None, [torch.ones(3)], None, CALL, Signatures())


def test_a_gradient_of_another_kind_where_there_is_none_is_wrong() -> None:
    reply = wire.Reply("ok")
    mine = CallResult(None, None, (torch.zeros(1, dtype=torch.complex64),), reply)
    none = CallResult(None, None, (None,), reply)
    with pytest.raises(Outcome, match="should be zero or None"):
        compare_gradients(mine, none, None, [], None, CALL, Signatures())


def test_zeros_are_right_where_there_is_no_gradient() -> None:
    reply = wire.Reply("ok")
    mine = CallResult(None, None, (torch.zeros(2, 3),), reply)
    none = CallResult(None, None, (None,), reply)
    compare_gradients(mine, none, None, [], None, CALL, Signatures())


@many
@given(VALUES)
def test_every_value_has_or_lacks_every_property(value: Any) -> None:
    seen = received(value)
    judged(properties.all_finite, seen)
    for dim in (-1, 0, 2):
        judged(properties.rows_sum_to_one, seen, dim)
    for mask in (torch.ones(2, 3, dtype=torch.bool), torch.ones(1, 3, dtype=torch.bool)):
        judged(properties.zero_where, seen, mask)
    for other in (X, X.bfloat16(), X.numpy(), torch.tensor(1 + 1j), 3, None, seen):
        judged(properties.same, seen, other, "not the same")
        judged(properties.same, other, seen, "not the same")


@many
@given(st.lists(st.integers(-(2**63), 2**64 - 1), min_size=3, max_size=3))
def test_every_count_has_an_exponent(counts: list[int]) -> None:
    sizes = dict(zip((8, 16, 32), counts, strict=True))
    assert isinstance(properties.growth_exponent(sizes), float)
