"""Detect data races between the programs in one launch of a Triton kernel.

Two accesses race if two programs access the same element, at least one of the accesses is a store,
and no synchronisation orders the accesses. Triton's interpreter runs the programs one after the
other, so a race affects the results only if the order of programs changes. This module therefore
records every access and finds races without rerunning the kernel.

Accesses are ordered as on a GPU. An atomic operation releases the earlier accesses of its program,
and acquires the accesses that other programs released on the same tensor, unless its argument `sem`
specifies otherwise. Locks and counters of finished programs are therefore supported. An operation
acquires only when the kernel uses its result, because a program that ignores the result does not
wait for other programs.

Two kinds of races are not reported because the order of accesses makes no difference: two atomic
operations, and a store of the value that the element already has (up to rounding).

A *segment* is the part of a program between two releases. Three segments are recorded for each
element: the last segment that stored the element, a segment that loaded it, and a segment that
changed it atomically. If several segments loaded or changed the element, a segment that is not
ordered before the current segment is kept.
"""

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..protocol.frames import RaceKind


class Accesses:
    """The segments that accessed each element of a storage, by the element's first byte (0: none).

    changed:  segments that changed an element by an atomic operation
    atomic:   whether any atomic operation was applied to the storage
    released: for each segment, whether an atomic operation on this storage has released it
    """

    def __init__(self, length: int) -> None:
        self.stored = np.zeros(length, np.int32)
        self.loaded = np.zeros(length, np.int32)
        self.changed = np.zeros(length, np.int32)
        self.atomic = False
        self.released = np.zeros(0, bool)


class Races:
    """The races in one launch.

    found: number of racing accesses to elements, by kind
    lines: line of the first race, or None if unknown, by kind
    """

    def __init__(self, line: Callable[[], int | None]) -> None:
        self.found: Counter[RaceKind] = Counter()
        self.lines: dict[RaceKind, int | None] = {}
        self._line = line
        self._segment = 0
        self._ordered = np.ones(1, bool)  # whether each segment is ordered before the current one

    def next_program(self) -> None:
        """Begin recording the next program, which is not yet synchronised with any other."""
        self._ordered[1:] = False
        self._next_segment()

    def _next_segment(self) -> None:
        self._segment += 1
        if self._segment == len(self._ordered):
            self._ordered = _joined(self._ordered, np.zeros(2 * self._segment + 64, bool))
        self._ordered[self._segment] = True

    def load(self, access: Accesses, places: np.ndarray) -> None:
        """Record a load of the elements at these offsets."""
        self._count("read_after_write", self._unordered_changes(access, places))
        self._note(access.loaded, places)

    def store(
        self, access: Accesses, places: np.ndarray, same: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        """Record a store to the elements at these offsets.

        same: receives a mask of elements; returns which of them already have the stored value
        """
        writes = self._unordered_changes(access, places)
        racing = writes | ~self._ordered[access.loaded[places]]
        if racing.any():
            racing[racing] = ~same(racing)
            self._count("write_after_write", racing & writes)
            self._count("write_after_read", racing & ~writes)
        access.stored[places] = self._segment

    def atomic(self, access: Accesses, places: np.ndarray, releases: bool) -> Callable[[], None]:
        """Record an atomic operation; return a function that acquires the released accesses."""
        access.atomic = True
        writes = ~self._ordered[access.stored[places]]
        self._count("write_after_write", writes)
        self._count("write_after_read", ~writes & ~self._ordered[access.loaded[places]])
        self._note(access.changed, places)
        before = access.released
        if releases:
            access.released = _joined(before, self._ordered[: self._segment + 1])
            self._next_segment()

        def acquire() -> None:
            self._ordered[: len(before)] |= before

        return acquire

    def _unordered_changes(self, access: Accesses, places: np.ndarray) -> np.ndarray:
        unordered: np.ndarray = ~self._ordered[access.stored[places]]
        if access.atomic:
            unordered |= ~self._ordered[access.changed[places]]
        return unordered

    def _note(self, segments: np.ndarray, places: np.ndarray) -> None:
        """Record the current segment where the recorded segment is ordered before it."""
        ordered = self._ordered[segments[places]]
        segments[places if ordered.all() else places[ordered]] = self._segment

    def _count(self, kind: RaceKind, racing: np.ndarray) -> None:
        number = int(np.count_nonzero(racing))
        if number:
            self.found[kind] += number
            if kind not in self.lines:
                self.lines[kind] = self._line()


def _joined(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    result = np.zeros(max(len(one), len(other)), bool)
    result[: len(one)] = one
    result[: len(other)] |= other
    return result


def equal_values(before: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return a mask of equal elements. Floats are compared up to rounding, and NaN equals NaN."""
    if before.dtype.kind != "f":
        return np.asarray(before == values)
    close: np.ndarray = np.isclose(before, values, rtol=1e-3, atol=1e-6, equal_nan=True)
    return close


@cache
def once_used(handle: Any) -> Any:
    """Return a subclass of `handle` that runs callbacks when its data is first read."""

    class Handle(handle):  # type: ignore[misc]
        def __init__(self, result: Any, then: list[Callable[[], None]]) -> None:
            self.dtype, self.attr = result.dtype, result.attr
            self._numbers, self._then = result.data, then

        @property
        def data(self) -> Any:
            while self._then:
                self._then.pop()()
            return self._numbers

        @data.setter
        def data(self, numbers: Any) -> None:
            self._numbers = numbers

    return Handle
