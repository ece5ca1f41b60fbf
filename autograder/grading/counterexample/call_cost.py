"""Measure how much there is to read in a sequence of calls: numbers first, then everything else.

Wrong calls are ranked by their kind and their cost.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from ...model.availability import CPU
from ...worker.protocol.frames import Answer
from ..assertions.call_comparison import IN_A_ROW
from ..comparator import as_tensor, is_array
from ..outcomes import Outcome
from .answer_difference import AnswerDifference
from .call_sequence import Pattern, Step, leaves_of
from .value_text import float_literal, pattern_text, storage, transposed_axes

Calls = tuple[Step, ...]
PATTERNS: tuple[Pattern, ...] = ("ones", "eye", "counted", "normal")  # the simplest first
_LONG = 12  # entries of the longest mask that is read at a glance
MOST_CHARACTERS = 2000  # of calls that a person reads
_LARGE = MOST_CHARACTERS // 3  # entries of an array that is too long to be shown, as in `0, 0, `
_HIDDEN = 2  # added to the rank of calls that no notebook cell can make
_LATER = {"gradient": 1, "exception": 1, "argument": 1, "effect": 2, "device": 2, "detached": 2,
          "message": 2, "memory access": 2, "forbidden": 2, "work": 4, "stopped": 4}  # fmt: skip


def cost(calls: Calls) -> tuple[float, float]:
    """Return how many numbers the calls contain, and how much else there is to read."""
    numbers, clutter = 0.0, 0.0
    for step in calls:
        options = step.options
        clutter += 5 + 3 * len(step.kwargs) + len(step.args) + 3 * bool(options.brought)
        clutter += 8 * (options.device != CPU) + 3 * (options.dtype not in (None, "float32"))
        clutter += options.count + options.printing + (options.order is not None)
        parts = list(leaves_of((step.args, step.kwargs)))
        if step.cotangents is not None:
            clutter += 4
            plain = all(bool((c == 1).all()) for c in step.cotangents)
            parts += () if plain else step.cotangents
        if step.fill is not None:
            numbers, clutter = numbers + 1, clutter + 2 + PATTERNS.index(step.fill)
        else:
            parts += (step.state or {}).values()
        for part in parts:
            own = _array_cost(part) if is_array(part) else _plain_cost(part)
            numbers, clutter = numbers + own[0], clutter + own[1]
    return numbers, clutter


def is_too_long(calls: Calls) -> bool:
    """Return True if the numbers in the calls cannot be shown, which is faster than the text."""
    return cost(calls)[0] > _LARGE


def needs_hidden_code(calls: Calls) -> bool:
    """Return True if a call is to code of the hidden tests, which no student can make."""
    brought = {s.options.brought for s in calls if not s.public_module}
    return not brought <= {"", IN_A_ROW}


def _plain_cost(value: Any) -> tuple[float, float]:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return 1, _entry_cost(value) + min(abs(value), 99) / 100
    return 0, len(value) if isinstance(value, str) else 1


def _array_cost(value: Any) -> tuple[float, float]:
    """Return the cost of an array's text, which contains the whole storage of a view."""
    x = as_tensor(value)
    plain = x.dtype in (torch.int64, torch.bool, torch.float32, torch.float64)
    unusual = x.dtype == (torch.float64 if x is value else torch.float32)
    numbers, clutter = 0.0, x.ndim + 4.0 * (not plain) + 4.0 * unusual
    if dense(value) is not value and (axes := transposed_axes(x)) is not None:
        numbers, clutter, x = 2.0, clutter + 3, x.transpose(*axes)
        value = x if isinstance(value, torch.Tensor) else x.numpy()
    elif dense(value) is not value:
        numbers, clutter = 2.0 * x.ndim, clutter + 6
        x = value = storage(value if x is value else torch.from_numpy(value))
    if x.numel() > max(2, x.ndim) and bool((x == x.flatten()[0]).all()):
        first = x.flatten()[0].item()
        return numbers + x.ndim + (first not in (0, 1)), clutter + 2 + _entry_cost(first)
    pattern = pattern_text(value)
    if pattern is not None:
        return numbers + pattern[1], clutter + len(pattern[0]) / 10
    if x.dtype == torch.bool or x.numel() > _LARGE or not x.numel():
        is_short = x.dtype == torch.bool and x.numel() <= _LONG
        return numbers + x.numel() * (not is_short), clutter + x.numel()
    return numbers + x.numel(), clutter + sum(map(_entry_cost, x.flatten().tolist()))


def _entry_cost(x: float) -> float:
    return float(x) if x in (0, 1) else 1.0 + len(float_literal(float(x)))


def dense(x: Any) -> Any:
    """Return an array without gaps in memory, or the same object if it has none."""
    if isinstance(x, torch.Tensor):
        return x.contiguous()
    return np.ascontiguousarray(x) if isinstance(x, np.ndarray) and x.ndim else x


class RecordedTest(NamedTuple):
    """The calls of a hidden test with public inputs, and the solution's answers."""

    name: str
    calls: Calls
    answers: list[Answer | Outcome]


class WrongCalls(NamedTuple):
    """Calls whose last answer is wrong.

    refused: the type of the exception that the solution raises, by the key of the step
    """

    calls: Calls
    found: AnswerDifference
    right: Answer
    mine: Answer | Outcome
    refused: Mapping[int, str]

    @property
    def rank(self) -> tuple[float, ...]:
        later = _LATER.get(self.found.kind, 0) + _HIDDEN * needs_hidden_code(self.calls)
        return (later, *cost(self.calls))
