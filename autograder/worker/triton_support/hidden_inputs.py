"""Numbers that are in memory only while a kernel of Triton's runs; else others stand there.

Theory of operation. A submission's own Python around its kernels may make, copy, convert and view
tensors, and nothing else. So before such a call every number of its arguments is exchanged for a
stand-in, which is exact in every float type and told from all others. A launch finds the numbers
themselves wherever a stand-in was brought to, in a copy too; when it ends, stand-ins take their
places again, and new ones the places of what it wrote. In the results, numbers take the places of
stand-ins. Whoever computes beside a kernel, in whatever library or language, computes with
stand-ins, and what comes out is wrong.

Stand-ins are float16 numbers with an odd last bit, which nobody fills a tensor with; in tensors of
integers, numbers in a row. What has no stand-in (bool and small integers, or when all are used up)
is found again only where it was: see places.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import torch

from ..protocol import dtypes
from ..protocol.values import NOT_IN_NUMPY, integer_like
from ..torch_support.fake_device import ClaimedTensor
from .launch_trace import Region
from .placeholder_memory import Places

_FIRST_INTEGER = 0x5A3C0000
_BITS = 1 << 16
# Of memories that stay as they are if nobody wrote to them, which a kernel decides.
_FEW_MEMORIES, _FEW_LAUNCHES = 8, 32


@cache
def _stand_ins() -> np.ndarray:
    """The bits of float16 numbers that are neither tiny nor near the largest, and odd; shuffled.

    The same for everybody: who makes the same mistake shall have the same results.
    """
    bits = np.arange(1, _BITS, 2, dtype=np.uint16)
    exponent = (bits >> 10) & 0x1F
    chosen = bits[(exponent > 0) & (exponent < 30)]
    np.random.default_rng(0).shuffle(chosen)
    return chosen


class Withheld:
    """The numbers of one call, and what stands for each of them while no kernel runs."""

    def __init__(self, arguments: Iterable[torch.Tensor]) -> None:
        self._free = _stand_ins().copy()
        self._truth, self._used = np.zeros(_BITS), np.zeros(_BITS, bool)
        self._integers: list[np.ndarray] = []
        self._places = Places()
        self._launches = 0
        self._revealed: list[tuple[Region, torch.Tensor, np.ndarray, np.ndarray]] = []
        self._arguments = [x for x in map(_on_host, arguments) if x is not None]
        once = _Once()
        for x in self._arguments:
            if x.numpy().dtype.kind == "f":
                self._exchange(x, once.of(x))

    def reveal(self, regions: Iterable[Region]) -> None:
        """Put the numbers where a launch may read them."""
        once, self._revealed = _Once(), []
        for region in regions:
            for tensor in region.views:
                x = _on_host(tensor)
                if x is not None:
                    new = once.of(x)
                    before = x.numpy().copy()
                    found = self._put(x.numpy(), new)
                    found |= self._places.put(x, new & ~found)
                    self._revealed.append((region, x, before, found))

    def withhold(self) -> None:
        """Take away what was revealed.

        Whether an element was written tells what a kernel found, as would a number in it: a memory
        that a kernel wrote to gets new stand-ins everywhere, and so does every memory if there are
        many, or if there were many launches.
        """
        once = _Once()
        self._launches += 1
        few = len({region.start for region, *_ in self._revealed}) <= _FEW_MEMORIES
        for region, x, before, numbers in self._revealed:
            array, new = x.numpy(), once.of(x)
            if few and self._launches <= _FEW_LAUNCHES and not region.written:
                again = numbers & new
                array[again] = before[again]
            else:
                self._exchange(x, new)
        self._revealed = []

    def told(self, raw: bytes, dtype: str) -> bytes:
        """The bytes of a result, with the numbers in the places of stand-ins."""
        if not raw or dtype in dtypes.NOT_IN_NUMPY or dtype.startswith("complex"):
            return raw
        array = np.frombuffer(raw, dtype).copy()
        self._put(array, np.ones(array.shape, bool))
        return array.tobytes()

    def give_back(self, results: Iterable[Any] = ()) -> None:
        """At the end of the call: the numbers in what came of it, and in the arguments."""
        once = _Once()
        for x in [*self._arguments, *map(_on_host, results)]:
            if x is not None:
                new = once.of(x)
                self._places.put(x, new & ~self._put(x.numpy(), new))

    def _exchange(self, x: torch.Tensor, where: np.ndarray) -> None:
        """Stand-ins for the numbers at these places."""
        array, size = x.numpy(), int(where.sum())
        if not size:
            return
        if array.dtype.kind == "f" and size <= len(self._free):
            bits, self._free = self._free[:size], self._free[size:]
            self._truth[bits], self._used[bits] = array[where], True
            array[where] = bits.view(np.float16)
        elif array.dtype.kind == "i" and array.itemsize >= 4:
            first = _FIRST_INTEGER + sum(map(len, self._integers))
            self._integers.append(array[where].astype(np.int64))
            array[where] = np.arange(first, first + size)
        else:
            self._places.hide(x, where)

    def _put(self, array: np.ndarray, where: np.ndarray) -> np.ndarray:
        """The numbers in the places of stand-ins; where those were."""
        if array.dtype.kind == "f":
            with np.errstate(over="ignore"):
                halves = np.asarray(array, np.float16)
            bits = halves.view(np.uint16)
            found: np.ndarray = (halves == array) & self._used[bits] & where
            array[found] = self._truth[bits[found]]
        elif array.dtype.kind == "i" and array.itemsize >= 4 and self._integers:
            known = np.concatenate(self._integers)
            places = array.astype(np.int64) - _FIRST_INTEGER
            found = (places >= 0) & (places < len(known)) & where
            array[found] = known[places[found]]
        else:
            found = np.zeros(array.shape, bool)
        return found


class _Once:
    """Which elements of tensors have not been asked for yet, wherever memory is shared."""

    def __init__(self) -> None:
        self._seen: dict[int, np.ndarray] = {}

    def of(self, x: torch.Tensor) -> np.ndarray:
        storage = x.untyped_storage()
        seen = self._seen.setdefault(storage.data_ptr(), np.zeros(storage.nbytes(), bool))
        own = Region.view(seen, x)
        new = ~own
        own[...] = True
        return new


def _on_host(x: Any) -> torch.Tensor | None:
    """A tensor whose numbers lie here, as NumPy can see them."""
    x = x.elem if isinstance(x, ClaimedTensor) else x
    if not isinstance(x, torch.Tensor) or x.layout is not torch.strided or x.is_nested:
        return None
    if x.device.type != "cpu" or x.dtype.is_complex or x.numel() == 0:
        return None
    bare: torch.Tensor = x.detach()
    unknown = bare.dtype in NOT_IN_NUMPY or (bare.is_floating_point() and bare.itemsize == 1)
    return bare.view(integer_like(bare.dtype)) if unknown else bare
