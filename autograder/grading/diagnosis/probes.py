"""What right code answers in a week's tests, call by call: a quick look at many versions of a file.

A hidden test draws, encodes, compares. To tell that a version is still wrong it is enough to put
the test's own requests to it and to see that an answer is far from the solution's. What passes
here is not right yet: that only the tests themselves say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from ...worker.protocol import frames
from ...worker.protocol.dtypes import FLOAT_TYPES
from ...worker.protocol.values import TORCH_DTYPES, Decoder
from ..decoding import Drawing, Figure, Image, read_special
from ..outcomes import Outcome
from ..targets.in_process import Answer, Target, frame_path

FAR = math.inf
Steps = list[tuple[bytes, Answer | Outcome]]
_NOISE = 1e-2
# Farther than this from the solution is wrong, in parts of the largest entry.
_LOOSE = {TORCH_DTYPES[name]: t.wrong_beyond for name, t in FLOAT_TYPES.items()}


class Recording:
    """A target that notes what it was asked and answered, test by test."""

    attempts: Sequence[str] = ()

    def __init__(self, inner: Target) -> None:
        self._inner = inner
        self.steps: dict[str, Steps] = {}
        self._test = ""

    def begin(self, test: str, exercise: str) -> None:
        self._test = test
        self.steps.setdefault(
            test, []
        )  # a test can begin twice: what is known of it was asked first
        self._inner.begin(test, exercise)

    def request(self, frame: bytes) -> Answer:
        try:
            answer = self._inner.request(frame)
        except Outcome as outcome:
            self.steps[self._test].append((frame, outcome))
            raise
        self.steps[self._test].append((frame, answer))
        return answer

    def close(self) -> None:
        self._inner.close()


class Difference(NamedTuple):
    """An answer that is not right code's, and its number in its test."""

    test: str
    number: int
    answer: Answer | Outcome


@dataclass
class Probe:
    """A test's requests with the solution's answers, and how far a right answer may be off."""

    test: str
    steps: list[tuple[bytes, Answer]]
    within: float = 1.0
    size: int = field(init=False)
    _right: dict[int, AnswerReadOnce] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.size = sum(len(frame) for frame, _ in self.steps)

    @property
    def calls(self) -> set[str]:
        """The names in the submission's module that are called."""
        return {frame_path(frame).partition(".")[0] for frame, _ in self.steps}

    def difference(self, target: Target, exercise: str) -> Difference | None:
        """The first answer of a target that is not right code's in this test."""
        target.begin(self.test, exercise)
        for number, (frame, right) in enumerate(self.steps):
            try:
                answer = target.request(frame)
            except Outcome as outcome:
                return Difference(self.test, number, outcome)
            if number not in self._right:
                self._right[number] = AnswerReadOnce(right)
            if self._right[number].distance(answer) > self.within:
                return Difference(self.test, number, answer)
        return None


class AnswerReadOnce:
    """An answer that others are compared with, read once."""

    def __init__(self, answer: Answer) -> None:
        self._reply = answer[0]
        self._read = _read_or_none(answer)
        value, gradients = self._read or (None, ())
        scale = max((_size(g) for g in gradients if isinstance(g, torch.Tensor)), default=0.0)
        if isinstance(value, torch.Tensor):  # where gradients are zero they hold rounding noise
            scale = max(scale, _NOISE * _size(value))
        self._scale = scale

    def distance(self, mine: Answer) -> float:
        """How far an answer is from this one, in parts of what is surely too far; FAR if it is of
        another kind."""
        a, b = mine[0], self._reply
        same = a.status == b.status and not a.banned and bool(a.detached) == bool(b.detached)
        if not same or a.side_effects != b.side_effects:
            return FAR
        if b.raised is not None and (a.raised is None or a.raised.type != b.raised.type):
            return FAR
        if a.counts and b.counts and a.counts.largest > 4 * b.counts.largest:
            return FAR
        answered = _read_or_none(mine)
        if answered is None or self._read is None:
            return FAR
        (value, gradients), (right, slopes) = answered, self._read
        return max(_apart(value, right), _apart(gradients, slopes, self._scale))


def distance(mine: Answer, right: Answer) -> float:
    """How far an answer is from the right one, in parts of what is surely too far."""
    return AnswerReadOnce(right).distance(mine)


def _read_or_none(answer: Answer) -> tuple[Any, tuple[Any, ...]] | None:
    try:
        return read(answer)
    except frames.BadFrame:
        return None


def read(answer: Answer) -> tuple[Any, tuple[Any, ...]]:
    """The value and the gradients of an answer; raises wire.BadFrame."""
    decoder = Decoder(answer[1], special=read_special)
    return decoder(answer[0].value), tuple(decoder(g) for g in answer[0].gradients or ())


def _apart(a: Any, b: Any, scale: float = 0.0) -> float:
    if isinstance(b, (np.ndarray, np.generic)):
        if not isinstance(a, (np.ndarray, np.generic)) or a.dtype != b.dtype:
            return FAR
        a, b = (torch.from_numpy(np.array(x)) for x in (a, b))
    if isinstance(b, torch.Tensor):
        return _tensors_apart(a, b, scale) if isinstance(a, torch.Tensor) else FAR
    if isinstance(b, (tuple, list)):
        if not isinstance(a, (tuple, list)) or len(a) != len(b):
            return FAR
        return max((_apart(x, y, scale) for x, y in zip(a, b, strict=True)), default=0.0)
    if isinstance(b, dict):
        if not isinstance(a, dict) or a.keys() != b.keys():
            return FAR
        return max((_apart(a[k], b[k], scale) for k in b), default=0.0)
    if isinstance(b, float) and isinstance(a, (int, float)):
        return _tensors_apart(torch.tensor(float(a)).double(), torch.tensor(b).double(), scale)
    if isinstance(b, (bool, int, str)):
        return 0.0 if type(a) is type(b) and a == b else FAR
    if isinstance(b, (Drawing, Figure)):
        return _pictures_apart(a, b)
    return 0.0 if type(a) is type(b) else FAR


def _pictures_apart(a: Any, b: Drawing | Figure) -> float:
    """How far the images of a drawing are; what is written beside them the tests themselves say."""
    if isinstance(b, Figure):
        return _apart(a.axes, b.axes) if isinstance(a, Figure) else FAR
    if not isinstance(a, Drawing) or len(a.images) != len(b.images):
        return FAR
    return max((_images_apart(x, y) for x, y in zip(a.images, b.images, strict=True)), default=0.0)


def _images_apart(a: Image, b: Image) -> float:
    if (a.vmin, a.vmax, a.top_row_first) != (b.vmin, b.vmax, b.top_row_first):
        return FAR
    mine, right = (torch.as_tensor(np.asarray(x.data, dtype="float64")) for x in (a, b))
    return _tensors_apart(mine, right, 0.0)


def _tensors_apart(a: torch.Tensor, b: torch.Tensor, scale: float) -> float:
    if a.shape != b.shape or a.dtype != b.dtype:
        return FAR
    if a.is_meta or b.is_meta:
        return 0.0
    if not b.is_floating_point():
        return 0.0 if torch.equal(a, b) else FAR
    left, right = a.double(), b.double()
    if not torch.equal(torch.isfinite(left), torch.isfinite(right)):
        return FAR
    gap = _size(torch.where(torch.isfinite(right), left - right, torch.zeros_like(right)))
    largest = max(_size(right), scale, 1e-30)
    return gap / largest / _LOOSE.get(b.dtype, 1e-3)


def _size(x: torch.Tensor) -> float:
    if x.is_meta or not x.is_floating_point():
        return 0.0
    finite = x[torch.isfinite(x)]
    return float(finite.abs().max()) if finite.numel() else 0.0
