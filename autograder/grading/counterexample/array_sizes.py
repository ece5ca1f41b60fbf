"""Propose sequences of calls with shorter axes, fewer axes and smaller numbers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from ..comparator import as_tensor, is_array
from .call_cost import Calls, dense
from .call_sequence import Step, leaves_of

Change = Callable[[Any], Any]
_MOST_AXES = 4  # axes, from the last, that are shortened one at a time


def smaller_sizes(calls: Calls) -> Iterator[Calls]:
    """Shorten all axes and lists of one length, and equal numbers, in all calls together."""
    lengths = _lengths(calls)
    for size in lengths:
        for to in sorted(n for n in {1, 2, size // 2, size - 1} if 0 < n < size):
            yield each(calls, partial(_cut, {size: to}))
            multiples = {n: n // size * to for n in lengths if n % size == 0}
            yield each(calls, partial(_cut, multiples))
            yield each(calls, partial(_cut, {size: to}, below=to))
            for left_out in range(size - 1) if to == size - 1 and size <= 4 else ():
                yield each(calls, partial(_cut, {size: to}, left_out=left_out))


def of_length_one(calls: Calls) -> Calls:
    """Return the calls with arrays and lists of length 1, and the same for equal numbers.

    Recorded weights do not fit modules of different sizes, so they are replaced.
    """
    bare = (replace(s, fill="normal", state=None) if s.state else s for s in calls)
    return each(tuple(bare), partial(_cut, dict.fromkeys(_lengths(calls), 1)))


def single_axes(calls: Calls) -> Iterator[Calls]:
    """Shorten one axis of arrays, and an equal number in one place, if other axes are as long."""
    for size in _lengths(calls):
        for to in sorted(n for n in {1, 2, size // 2, size - 1} if 0 < n < size):
            for axis in range(1, _MOST_AXES + 1):
                for only in (None, "first", "others"):
                    yield tuple(_with_shorter_axis(s, axis, size, to, only) for s in calls)
                cut = tuple(_with_shorter_axis(s, axis, size, to, None) for s in calls)
                for path, index in _places(calls, size):
                    yield tuple(
                        s.mapped(PlainValues(index, to)) if s.options.path == path else s
                        for s in cut
                    )


def _with_shorter_axis(step: Step, axis: int, size: int, to: int, only: str | None) -> Step:
    """Return a step whose arrays have `to` instead of `size` entries along an axis from the end.

    only: "first" changes the first argument if it is an array, "others" changes all other arrays
    """
    first = step.args[0] if step.args and is_array(step.args[0]) else None

    def change(value: Any) -> Any:
        if not is_array(value) or value.ndim < axis or value.shape[-axis] != size:
            return value
        if only is not None and (first is None or is_same_array(value, first) != (only == "first")):
            return value
        index = (..., slice(to), *(slice(None),) * (axis - 1))
        return _as_dense(value, value[index])

    return step.mapped(change)


def _places(calls: Calls, size: int) -> list[tuple[str, int]]:
    """Return the paths of calls with this number as a plain value, and the value's index."""
    found = list[tuple[str, int]]()
    for step in calls:
        plain = PlainValues()
        step.mapped(plain)
        found += [
            (step.options.path, n)
            for n, v in enumerate(plain.values)
            if type(v) is int and v == size
        ]
    return list(dict.fromkeys(found))


def _lengths(calls: Calls) -> list[int]:
    found = set[int]()

    def look(value: Any) -> Any:
        is_sized = is_array(value) or isinstance(value, (list, tuple))
        found.update(np.shape(value) if is_array(value) else (len(value),) if is_sized else ())
        found.update((value,) if type(value) is int else ())
        return value

    each(calls, look)
    return sorted((n for n in found if n > 1), reverse=True)


def _cut(lengths: dict[int, int], value: Any, left_out: int = -1, below: int = 0) -> Any:
    """Shorten an array or a list, or replace a whole number.

    left_out: the index to remove; otherwise, the last indices are removed
    below:    if positive, the entries of integer arrays are reduced to less than this number
    """

    def kept(size: int) -> list[int]:
        return [n for n in range(size) if n != left_out][: lengths[size]]

    if is_array(value):
        for axis, size in enumerate(value.shape):
            if size in lengths:
                where = slice(lengths[size]) if left_out < 0 else kept(size)
                value = _as_dense(value, value[(slice(None),) * axis + (where,)])
        return value % below if below and as_tensor(value).dtype == torch.int64 else value
    if isinstance(value, (list, tuple)) and len(value) in lengths:
        return type(value)(value[n] for n in kept(len(value)))
    return lengths.get(value, value) if type(value) is int else value


def lower_rank(calls: Calls) -> Iterator[Calls]:
    ranks = {x.ndim for s in calls for x in leaves_of(s.values) if is_array(x)}
    for least in sorted(r for r in ranks if r > 1):
        for index in (0, -1):
            yield each(calls, partial(_row, least, index))


def _row(least: int, index: int, value: Any) -> Any:
    is_higher = is_array(value) and value.ndim >= least
    return _as_dense(value, value[index]) if is_higher else value


def _as_dense(before: Any, part: Any) -> Any:
    """Return a part of an array, without gaps in memory if the whole array has none."""
    return dense(part) if dense(before) is before else part


def each(calls: Calls, change: Change) -> Calls:
    return tuple(s.mapped(change) for s in calls)


def is_same_array(value: Any, chosen: Any) -> bool:
    if isinstance(value, torch.Tensor) and isinstance(chosen, torch.Tensor):
        return value.data_ptr() == chosen.data_ptr()  # `mapped` detaches tensors
    return value is chosen


class PlainValues:
    """Collects the plain values of a step in order, and replaces the one at index `place`."""

    def __init__(self, place: int = -1, new: Any = None) -> None:
        self.values: list[Any] = []
        self._place, self._new = place, new

    def __call__(self, value: Any) -> Any:
        if is_array(value):
            return value
        self.values.append(value)
        return self._new if len(self.values) - 1 == self._place else value
