"""Numbers that no stand-in tells apart, found again by where they lie.

There are only so many numbers of one or two bytes. What a kernel wrote into a tensor of bool or
int8 is taken away by its place: while no kernel runs, one and the same number stands there. The
next launch finds what was there wherever nothing else has been written since; in a copy it is lost.
"""

from __future__ import annotations

import numpy as np
import torch

_ONE_BYTE, _INTEGER, _FLOAT = 0x01, 0x5B, 0xFF  # the bytes of what stands there; a float's are NaN


class Places:
    """What was taken away, by the memory it was in."""

    def __init__(self) -> None:
        self._memory: dict[int, _Memory] = {}

    def hide(self, x: torch.Tensor, where: np.ndarray) -> None:
        """Take away the numbers at these places."""
        storage = x.untyped_storage()
        if storage.data_ptr() not in self._memory:
            self._memory[storage.data_ptr()] = _Memory(x)
        self._memory[storage.data_ptr()].hide(x, where)

    def put(self, x: torch.Tensor, where: np.ndarray) -> np.ndarray:
        """Bring back what is still missing; where that was."""
        memory = self._memory.get(x.untyped_storage().data_ptr())
        return np.zeros(tuple(x.shape), bool) if memory is None else memory.put(x, where)


class _Memory:
    """A storage, which stays alive; for each of its bytes what was there, and if it is hidden."""

    def __init__(self, x: torch.Tensor) -> None:
        size = x.untyped_storage().nbytes()
        self._of = x
        self._truth = np.zeros(size, np.uint8)
        self._hidden = np.zeros(size, np.uint8)  # where an element begins, its size

    def hide(self, x: torch.Tensor, where: np.ndarray) -> None:
        numbers = x.numpy()
        self._like(self._truth, x)[where] = _bits(numbers)[where]
        self._first(x)[where] = numbers.itemsize
        _bits(numbers)[where] = _stand_in(numbers)

    def put(self, x: torch.Tensor, where: np.ndarray) -> np.ndarray:
        numbers = x.numpy()
        found: np.ndarray = self._first(x) == numbers.itemsize
        found &= (_bits(numbers) == _stand_in(numbers)) & where
        _bits(numbers)[found] = self._like(self._truth, x)[found]
        return found

    def _first(self, x: torch.Tensor) -> np.ndarray:
        """The entries of the first bytes of a tensor's elements."""
        size = x.element_size()
        steps = tuple(step * size for step in x.stride())
        return np.ndarray(tuple(x.shape), np.uint8, self._hidden, x.storage_offset() * size, steps)

    @staticmethod
    def _like(by_byte: np.ndarray, x: torch.Tensor) -> np.ndarray:
        """As many bytes as each of a tensor's elements has, as one number."""
        size = x.element_size()
        steps = tuple(step * size for step in x.stride())
        offset = x.storage_offset() * size
        return np.ndarray(tuple(x.shape), f"u{size}", by_byte, offset, steps)


def _bits(numbers: np.ndarray) -> np.ndarray:
    return numbers.view(f"u{numbers.itemsize}")


def _stand_in(numbers: np.ndarray) -> int:
    """The same for bool and int8: one may be the other's view."""
    byte = _FLOAT if numbers.dtype.kind == "f" else _INTEGER
    byte = _ONE_BYTE if numbers.itemsize == 1 else byte
    return int.from_bytes(bytes([byte]) * numbers.itemsize, "little")
