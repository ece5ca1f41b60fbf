"""Give the results of a program the form of the solution's results.

The form of a result is its type, dtype and shape and the order of its parts. If only the form of a
result is wrong, its values show whether the rest of the exercise is correct.
"""

import operator
from collections.abc import Mapping
from itertools import permutations
from typing import Any

import msgspec
import torch

from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, nested
from ...worker.protocol.values import Encoder, read_answer
from ..comparator import Tolerance, as_tensor, close, is_array, rounding_of
from ..outcomes import Answers
from .in_process import Recording, Target

_MOST_PARTS = 4  # of a result, and axes of an array, whose orders are tried
_HIDES = -1000.0  # a float in a mask that is added to scores; smaller floats hide a key as well


class FittedResults(Recording):
    """Wraps a program. `right`: the solution's replies in each test."""

    def __init__(self, inner: Target, right: Mapping[str, Answers]) -> None:
        super().__init__(inner)
        self._right, self._calls = right, 0

    def begin(self, test: str, exercise: str) -> None:
        super().begin(test, exercise)
        self._calls = 0

    def request(self, frame: bytes) -> Answer:
        answer = super().request(frame)
        self._calls += 1
        right = [*self._right.get(self._test, ())][self._calls - 1 : self._calls]
        return _fitted(answer, right[0]) if right and isinstance(right[0], tuple) else answer


def _fitted(answer: Answer, right: Answer) -> Answer:
    reply = answer[0]
    tensors = [v for v in nested([reply.value]) if isinstance(v, frames.TensorV)]
    try:
        (value, gradients), (expected, theirs) = read_answer(answer), read_answer(right)
    except frames.BadFrame:
        return answer
    if reply.status != "ok" or (fitted := fit(value, expected)) is value:
        return answer
    encoder = _Encoder()
    encoder.device = tensors[0].device if tensors else "cpu"
    if not gradients:  # the shapes of cotangents did not fit
        gradients = theirs
    new = msgspec.structs.replace(
        reply,
        value=encoder(fitted),
        gradients=None if reply.gradients is None else tuple(map(encoder, gradients)),
    )
    return new, [memoryview(b) for b in encoder.buffers]


class _Encoder(Encoder):
    """Encodes tensors as if they were on `device`."""

    device: str

    def tensor(self, x: torch.Tensor) -> frames.Value:
        value = super().tensor(x)
        return (
            msgspec.structs.replace(value, device=self.device)
            if isinstance(value, frames.TensorV)
            else value
        )


def fit(value: Any, right: Any) -> Any:
    """Return a result in the form of the correct result, or unchanged if it cannot be fitted.

    Parts are reordered only if their forms differ. The axes of an array are reordered such that
    its values are closest to the correct values. A mask of floats that is added to scores becomes a
    mask of bools.
    """
    if isinstance(right, (tuple, list)):
        parts = value if isinstance(value, (tuple, list)) else (value,)
        orders = permutations(parts, len(right)) if len(parts) <= _MOST_PARTS else ()
        for order in orders:
            fitted = [fit(mine, theirs) for mine, theirs in zip(order, right, strict=True)]
            if all(map(_has_form, fitted, right)):
                same = len(fitted) == len(parts) and all(map(operator.is_, fitted, parts))
                return value if same else type(right)(fitted)
        return value
    if isinstance(value, (tuple, list)):
        arrays = filter(is_array, value[:_MOST_PARTS])
        return next((y for x in arrays if _has_form(y := fit(x, right), right)), value)
    if not is_array(value) or _has_form(value, right):
        return value
    if not is_array(right):
        return value.item() if isinstance(right, (int, float)) and not value.shape else value
    x = _fitted_tensor(as_tensor(value), as_tensor(right))
    return x if isinstance(right, torch.Tensor) else x.numpy()[() if right.ndim == 0 else ...]


def _has_form(value: Any, right: Any) -> bool:
    if not (is_array(value) and is_array(right)):
        return type(value) is type(right)
    same_type = isinstance(value, torch.Tensor) == isinstance(right, torch.Tensor)
    return same_type and value.shape == right.shape and value.dtype == right.dtype


def _fitted_tensor(x: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    if x.is_meta or right.is_meta or x.numel() != right.numel() or x.is_complex():
        return x
    if right.dtype is torch.bool and x.is_floating_point():
        x = x == 0 if bool((x < _HIDES).any()) else x != 0
    if x.shape != right.shape:
        same, wanted = x.squeeze(), right.squeeze()
        orders = permutations(range(same.ndim)) if same.ndim <= _MOST_PARTS else ()
        moved = [y for axes in orders if (y := same.permute(axes)).shape == wanted.shape]
        if not moved:
            return x
        x = min(moved, key=lambda y: _gap(y, wanted)).reshape(right.shape)
    lost = rounding_of(x.dtype)
    if lost > rounding_of(right.dtype) and close(x.double(), right.double(), Tolerance(0, lost)):
        return right
    return x.to(right.dtype)


def _gap(x: torch.Tensor, right: torch.Tensor) -> float:
    return float((x.double() - right.double()).nan_to_num().abs().sum())
