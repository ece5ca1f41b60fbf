"""Test the table of float types, and that a missing operator of torch costs no points."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from autograder.grading import comparator
from autograder.grading.assertions.case import PLAIN, Side
from autograder.grading.outcomes import Crashed, NotRun
from autograder.worker.monitor.side_effects import Before
from autograder.worker.protocol import frames
from autograder.worker.protocol.dtypes import FLOAT_TYPES, FloatType, dtype_without_operator

FLOAT8 = FloatType("float8_e4m3fn", 1, 2, 0.6, in_numpy=False, by_default=False)
LACKING: dict[str, Callable[[torch.Tensor], Any]] = {
    "operator": lambda x: x.exp(),
    "reduction": lambda x: x.amax(),
    "scalar": lambda x: x / 2,
    "promotion": lambda x: x - torch.ones(2),
    "conversion": lambda x: x.numpy(),
}


@pytest.fixture(autouse=True)
def float8(monkeypatch: pytest.MonkeyPatch) -> torch.Tensor:
    """Add float8 to the table, as a type in which tests run only on request."""
    monkeypatch.setitem(FLOAT_TYPES, FLOAT8.name, FLOAT8)
    monkeypatch.setitem(comparator._ROUNDINGS, torch.float8_e4m3fn, FLOAT8.roundings)
    return torch.tensor([1.0, float("nan")]).to(torch.float8_e4m3fn)


def message_of(function: Callable[[torch.Tensor], Any], x: torch.Tensor) -> str:
    with pytest.raises((RuntimeError, TypeError)) as caught:
        function(x)
    return str(caught.value)


@pytest.mark.parametrize("name", FLOAT_TYPES)
def test_a_row_describes_the_type_as_torch_does(name: str) -> None:
    row, dtype = FLOAT_TYPES[name], getattr(torch, name)
    assert row.item_bytes == dtype.itemsize
    assert row.roundings * torch.finfo(dtype).eps < row.wrong_beyond < 1


@pytest.mark.parametrize("kind", LACKING)
def test_a_missing_operator_is_recognised(kind: str, float8: torch.Tensor) -> None:
    assert dtype_without_operator(message_of(LACKING[kind], float8)) == FLOAT8.name


def test_an_operator_that_a_default_dtype_lacks_is_an_error() -> None:
    message = message_of(lambda x: torch.linalg.inv(x), torch.eye(2, dtype=torch.float16))
    assert "Half" in message
    assert not dtype_without_operator(message)
    assert not dtype_without_operator("\"exp\" not implemented for 'BFloat16'")


def test_mixed_dtypes_are_an_error(float8: torch.Tensor) -> None:
    assert not dtype_without_operator(message_of(lambda x: x[None] @ torch.ones(2, 1), float8))


@pytest.mark.parametrize(("dtype", "outcome"), [(FLOAT8.name, NotRun), ("float32", Crashed)])
def test_a_missing_operator_is_excused_only_in_a_test_of_its_dtype(
    dtype: str, outcome: type[Exception], float8: torch.Tensor
) -> None:
    bases = "NotImplementedError", "RuntimeError"
    raised = frames.Raised(bases[0], bases[1:], message_of(LACKING["operator"], float8), 1)
    side: Any = Side(SimpleNamespace(), "cpu", is_reference=False)
    case = SimpleNamespace(dtype=dtype, module="m.py")
    call = frames.Call("f", None, "f", (), {}, "cpu")
    with pytest.raises(outcome):
        side._check_submission(case, call, frames.Reply("raised", raised=raised), PLAIN)


def test_zeros_are_not_a_correct_gradient_in_float8() -> None:
    gradient = torch.tensor([0.2, -0.1])
    in_float8 = gradient.to(torch.float8_e4m3fn)
    bound = comparator.verdict_bound(in_float8, gradient.double(), None, terms=2.5)
    assert float((in_float8.double() - gradient).abs().max()) <= bound < 0.2


def test_an_argument_that_contains_nan_is_unchanged(float8: torch.Tensor) -> None:
    assert not Before([float8], [], {}).compare()
