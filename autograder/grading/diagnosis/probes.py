"""Replay the calls of hidden tests, to check many versions of a module quickly.

A hidden test draws inputs, encodes calls and compares the answers. A probe only replays the
recorded calls, and stops at the first answer that is far from the solution's. Such an answer is
enough to reject a version. A version that passes the probe still has to pass the test itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import torch

from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, frame_path
from ...worker.protocol.values import read_answer
from ..comparator import FAR, distance, largest_entry
from ..outcomes import Outcome
from ..targets.in_process import Target

Steps = list[tuple[bytes, Answer | Outcome]]
_NOISE = 1e-2  # smaller gradients, relative to the value, may be rounding noise
_TOO_LARGE = 4  # limit on the largest tensor, as a multiple of the solution's largest tensor


class Recording:
    """Wraps a target and records its requests and answers by test."""

    attempts: Sequence[str] = ()

    def __init__(self, inner: Target) -> None:
        self._inner = inner
        self.steps: dict[str, Steps] = {}
        self._test = ""

    def begin(self, test: str, exercise: str) -> None:
        self._test = test
        self.steps.setdefault(test, [])  # a test can begin twice
        self._inner.begin(test, exercise)

    def request(self, frame: bytes) -> Answer:
        steps = self.steps[self._test]
        try:
            answer = self._inner.request(frame)
        except Outcome as outcome:
            steps.append((frame, outcome))
            raise
        steps.append((frame, answer))
        return answer

    def close(self) -> None:
        self._inner.close()


class Difference(NamedTuple):
    """An answer that differs from the solution's. `number`: the index of its call in the test."""

    test: str
    number: int
    answer: Answer | Outcome


@dataclass
class Probe:
    """The requests that a test makes, each with the solution's answer.

    within: the largest distance of an answer that passes; see `comparator.distance`
    """

    test: str
    steps: list[tuple[bytes, Answer]]
    within: float = 1.0
    size: int = field(init=False)
    _references: dict[int, ReferenceAnswer] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.size = sum(len(frame) for frame, _ in self.steps)

    @property
    def calls(self) -> set[str]:
        """The names of the module's functions and classes that the test calls."""
        return {frame_path(frame).partition(".")[0] for frame, _ in self.steps}

    def difference(self, target: Target, exercise: str) -> Difference | None:
        """Return the first answer that differs from the solution's, or None if none differs."""
        target.begin(self.test, exercise)
        for number, (frame, right) in enumerate(self.steps):
            try:
                answer = target.request(frame)
            except Outcome as outcome:
                return Difference(self.test, number, outcome)
            if number not in self._references:
                self._references[number] = ReferenceAnswer(right)
            if self._references[number].distance(answer) > self.within:
                return Difference(self.test, number, answer)
        return None


class ReferenceAnswer:
    """An answer of the solution, decoded only once for comparison with many answers."""

    def __init__(self, answer: Answer) -> None:
        self._reply = answer[0]
        self._decoded = _decoded_or_none(answer)

    @cached_property
    def _gradient_scale(self) -> float:
        value, gradients = self._decoded or (None, ())
        scale = max(map(largest_entry, gradients), default=0.0)
        return max(scale, _NOISE * largest_entry(value)) if torch.is_tensor(value) else scale

    def distance(self, mine: Answer) -> float:
        """Return the distance of an answer from the reference answer.

        An answer with a distance above 1 is wrong. The distance is FAR if the answers cannot be
        compared by their values, for example if only one of the calls raised an exception.
        """
        a, b = mine[0], self._reply
        same = a.status == b.status and not a.banned and bool(a.detached) == bool(b.detached)
        if not same or a.side_effects != b.side_effects:
            return FAR
        if b.raised is not None and (a.raised is None or a.raised.type != b.raised.type):
            return FAR
        if a.counts and b.counts and a.counts.largest > _TOO_LARGE * b.counts.largest:
            return FAR
        decoded = _decoded_or_none(mine)
        if decoded is None or self._decoded is None:
            return FAR
        (value, gradients), (right, right_gradients) = decoded, self._decoded
        return max(
            distance(value, right), distance(gradients, right_gradients, self._gradient_scale)
        )


def _decoded_or_none(answer: Answer) -> tuple[Any, tuple[Any, ...]] | None:
    try:
        return read_answer(answer)
    except frames.BadFrame:
        return None
