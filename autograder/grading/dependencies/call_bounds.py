"""Limit the arguments of calls that the trusted process answers with the solution.

The submission chooses the arguments, so they are untrusted. A call may contain only plain data. The
size of a call is bounded, because the size determines the memory and time that the answer takes.
"""

import math
from dataclasses import dataclass
from itertools import zip_longest

from ...worker.protocol import dtypes, frames

# Limits for one call: the largest integer, the bytes in the request and in the reply, the number of
# elements times the longest axis (about the cost of a matrix product), and the number of elements
# after broadcasting.
_MAX_INTEGER = 1 << 16
MAX_BYTES = 16 << 20
_MAX_WORK = 1 << 31
MAX_ELEMENTS = 1 << 24  # also limits every tensor that is computed for an answer


def is_bounded(call: frames.StubCall) -> bool:
    """Return True if a call contains only plain data and stays within the limits."""
    everything, arguments = _Size(), _Size()
    if not all(map(everything.add, call.values)):
        return False
    for value in (*call.args, *call.kwargs.values()):  # only arguments are broadcast together
        arguments.add(value)
    everything.broadcast = arguments.broadcast
    return everything.is_bounded


@dataclass
class _Size:
    """The total size of the values in a call.

    broadcast: the largest length of each axis, starting with the last axis
    """

    bytes: int = 0
    elements: int = 0
    longest: int = 1
    broadcast: tuple[int, ...] = ()

    @property
    def is_bounded(self) -> bool:
        small = self.bytes <= MAX_BYTES and math.prod(self.broadcast) <= MAX_ELEMENTS
        return small and self.elements * self.longest <= _MAX_WORK

    def add(self, value: frames.Value) -> bool:
        """Add a value; return False if it is not plain data or is an integer beyond the limit."""
        if isinstance(value, bool) or value is None:
            return True
        if isinstance(value, int):
            return abs(value) <= _MAX_INTEGER
        if isinstance(value, (float, str)):
            self.bytes += 8 if isinstance(value, float) else len(value)
            return True
        if isinstance(value, frames.TensorV):
            return value.buffer is not None and self._add_array(value, dtypes.TORCH_ITEM_BYTES)
        if isinstance(value, frames.ArrayV):
            return self._add_array(value, dtypes.NUMPY_ITEM_BYTES)
        if isinstance(value, (frames.SeqV, frames.MapV)):
            return all(map(self.add, value.items))
        if isinstance(value, frames.SpecialV):
            return value.kind in ("device", "dtype") and self.add(value.value)
        return False

    def _add_array(self, value: frames.TensorV | frames.ArrayV, item_bytes: dict[str, int]) -> bool:
        size = frames.checked_size(value.dtype, value.shape, item_bytes)
        self.bytes += size
        self.elements += size // item_bytes[value.dtype]
        self.longest = max(self.longest, *value.shape, 1)
        axes = zip_longest(self.broadcast, reversed(value.shape), fillvalue=1)
        self.broadcast = tuple(map(max, axes))
        return True
