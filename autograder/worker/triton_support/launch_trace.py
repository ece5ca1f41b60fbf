"""Record the kernel launches in a call, and the kernels' memory accesses.

The address that a kernel receives for a tensor contains the tensor's region number in unused high
bits. The number distinguishes an access past the end of a tensor from an access to the next tensor
in memory. An address without a number (from `data_ptr()`) may belong to any tensor in the launch.
"""

from __future__ import annotations

import ctypes
import random
import sys
import types
from collections.abc import Callable, Iterable

import msgspec
import numpy as np
import torch

from ..monitor import numpy_allocations
from ..protocol import frames
from ..stop_location import student_line
from .provenance import Provenance
from .races import Accesses, Races, equal_values

_NUMBER = np.uint64(48)  # position of the region number: user-space addresses have 48 bits at most
_ADDRESS = np.uint64((1 << 48) - 1)


def without_number(addresses: np.ndarray) -> np.ndarray:
    """Return addresses without the region number in their high bits."""
    found: np.ndarray = addresses & _ADDRESS
    return found


class Region:
    """A storage that is used by tensors in a launch, and the accesses to it.

    number:   number of the region in the launch, from 1
    start:    address of the storage's first byte
    sizes:    for each byte, the size of the element that begins at the byte, or 0 if none does
    loaded:   for each byte, how often the element that begins at the byte was loaded
    accesses: the segments of programs that loaded and stored each element (`races`)
    written:  whether any program stored to the region
    views:    the launch's tensors in this storage
    """

    def __init__(self, tensor: torch.Tensor, number: int) -> None:
        self.number = np.uint64(number)
        storage = tensor.untyped_storage()
        self.start, length = storage.data_ptr(), storage.nbytes()
        self.sizes = np.zeros(length, np.uint8)
        self.loaded = np.zeros(length, np.int32)
        self.accesses = Accesses(length)
        self.written = False
        self.views: list[torch.Tensor] = []

    def add(self, tensor: torch.Tensor) -> None:
        self.view(self.sizes, tensor)[...] = tensor.element_size()
        self.views.append(tensor)

    def elements(
        self, places: np.ndarray, numbers: np.ndarray, size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a mask of the addresses that are elements of this region, and their byte offsets.

        numbers: region number of each address, or 0 if it has none

        The offset of an address outside of this region is 0.
        """
        offsets = places - np.uint64(self.start)  # addresses below `start` wrap to huge offsets
        near = (offsets < len(self.sizes)) & ((numbers == self.number) | (numbers == 0))
        offsets = np.where(near, offsets, 0).astype(np.int64)
        if not len(self.sizes):
            return near, offsets
        return near & (self.sizes[offsets] == size), offsets

    def has_values(self, offsets: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return a mask of the elements that already have the given values, up to rounding."""
        memory = (ctypes.c_uint8 * len(self.sizes)).from_address(self.start)
        pieces = offsets[:, None] + np.arange(values.itemsize)
        before = np.ctypeslib.as_array(memory)[pieces].view(values.dtype)[:, 0]
        return equal_values(before, values)

    @staticmethod
    def view(by_byte: np.ndarray, tensor: torch.Tensor) -> np.ndarray:
        """Return the view of a per-byte array that has one entry for each element of a tensor."""
        size = tensor.element_size()
        if tensor.numel() == 0:
            return by_byte[:0]
        return np.lib.stride_tricks.as_strided(
            by_byte[tensor.storage_offset() * size :],
            tuple(tensor.shape),
            tuple(step * size * by_byte.itemsize for step in tensor.stride()),
        )


class Launch:
    """One launch of a kernel: its memory regions, its grid and its accesses."""

    def __init__(self, tensors: Iterable[torch.Tensor], watch: KernelWatch) -> None:
        self._watch = watch
        self.regions: dict[int, Region] = {}
        for tensor in tensors:
            place = tensor.untyped_storage().data_ptr()
            if place not in self.regions:
                self.regions[place] = Region(tensor, len(self.regions) + 1)
            self.regions[place].add(tensor)
        self.grid: tuple[int, ...] = ()
        self.order: list[int] = []  # indices of programs in the order in which they run
        self.program = self.run = 0
        self.outside_loads = self.outside_stores = self.largest = 0
        self.races = Races(lambda: student_line(sys._getframe(), watch.root))
        self.patched: set[int] = set()
        self.line: int | None = None

    def numbered(self, tensor: torch.Tensor) -> np.uint64:
        """Return the high address bits that encode a tensor's region number; 0 if it has none."""
        region = self.regions.get(tensor.untyped_storage().data_ptr())
        return np.uint64(0) if region is None else region.number << _NUMBER

    def begin(self, grid: tuple[int, ...]) -> None:
        """Store the grid and choose the order of programs."""
        self.grid, self.order = grid, list(range(int(np.prod(grid))))
        if self._watch.order is not None:
            random.Random(self._watch.order).shuffle(self.order)

    def next_program(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """Start a program, and return the index that replaces the interpreter's `index`."""
        self.program = self.order[int(np.ravel_multi_index(index, self.grid))]
        self.run += 1
        self.races.next_program()
        return tuple(map(int, np.unravel_index(self.program, self.grid)))

    def note_load(self, places: np.ndarray, active: np.ndarray, size: int) -> np.ndarray | None:
        """Record a load; return a mask of lanes outside all tensors, or None if there are none."""

        def load(region: Region, own: np.ndarray, offsets: np.ndarray) -> None:
            region.loaded[offsets] += 1  # counts an element once, even if several lanes load it
            self.races.load(region.accesses, offsets)

        return self._note("outside_loads", places, active, size, load)

    def note_store(
        self, values: np.ndarray, places: np.ndarray, active: np.ndarray, size: int
    ) -> np.ndarray | None:
        """Record a store; return a mask of lanes outside all tensors, or None if there are none."""

        def store(region: Region, own: np.ndarray, offsets: np.ndarray) -> None:
            def same(racing: np.ndarray) -> np.ndarray:
                stored = np.broadcast_to(values, active.shape)[active][own][racing]
                return region.has_values(offsets[racing], stored)

            self.races.store(region.accesses, offsets, same)

        return self._note("outside_stores", places, active, size, store)

    def note_atomic(
        self, places: np.ndarray, active: np.ndarray, size: int, releases: bool
    ) -> tuple[np.ndarray | None, list[Callable[[], None]]]:
        """Record an atomic operation.

        Returns a mask of lanes outside all tensors (None if there are none), and callbacks that
        acquire the accesses that other programs have released.
        """
        acquire: list[Callable[[], None]] = []

        def change(region: Region, own: np.ndarray, offsets: np.ndarray) -> None:
            if len(offsets):
                acquire.append(self.races.atomic(region.accesses, offsets, releases))

        return self._note("outside_stores", places, active, size, change), acquire

    def _note(
        self,
        kind: str,
        places: np.ndarray,
        active: np.ndarray,
        size: int,
        note: Callable[[Region, np.ndarray, np.ndarray], None],
    ) -> np.ndarray | None:
        """Call `note` for each region if accesses are recorded; return a mask as in `note_load`."""
        asked = places[active]
        numbers, asked = asked >> _NUMBER, without_number(asked)
        allowed = np.zeros(len(asked), bool)
        for region in self._regions_of(numbers):
            own, offsets = region.elements(asked, numbers, size)
            allowed |= own
            region.written |= kind == "outside_stores" and bool(own.any())
            if self._watch.noting:
                note(region, own, offsets[own])
        return self._outside(kind, active, allowed)

    def _regions_of(self, numbers: np.ndarray) -> Iterable[Region]:
        if not len(numbers):
            return ()
        first = numbers[0]
        if first and (numbers == first).all():
            return [region for region in self.regions.values() if region.number == first]
        return self.regions.values()

    def _outside(self, kind: str, active: np.ndarray, allowed: np.ndarray) -> np.ndarray | None:
        self.largest = max(self.largest, len(allowed))
        if allowed.all():
            return None
        outside = np.zeros(active.shape, bool)
        outside[active] = ~allowed
        setattr(self, kind, getattr(self, kind) + len(allowed) - int(allowed.sum()))
        if self.line is None:
            self.line = student_line(sys._getframe(), self._watch.root)
        return outside

    def counts(self) -> frames.LaunchCounts:
        loads = []
        for region in self.regions.values():
            for tensor in region.views:
                times = region.view(region.loaded, tensor)
                if times.size and times.any():
                    loads.append((times.size, int(times.min()), int(times.max())))
        return frames.LaunchCounts(
            programs=self.run,
            outside_loads=self.outside_loads,
            outside_stores=self.outside_stores,
            races=tuple(
                frames.Race(kind, number, self.races.lines[kind])
                for kind, number in self.races.found.items()
            ),
            largest=self.largest,
            loads=tuple(loads[:16]),
            line=self.line,
        )


_MAX_LAUNCHES = 64


class KernelWatch:
    """A context manager that records a call's launches and fills uninitialised tensors with NaN.

    root:       the submission's folder
    order:      seed for the order in which programs run, or None for the interpreter's order
    noting:     whether launches are recorded, with loads and races
    compiling:  whether Triton's compiler checks each launch, which may take longer than the launch
    provenance: tracks values outside of kernels, or None if they are not tracked
    """

    def __init__(
        self,
        root: str = "",
        order: int | None = None,
        noting: bool = False,
        compiling: bool = False,
        provenance: Provenance | None = None,
    ) -> None:
        self.root, self.order, self.noting, self.compiling = root, order, noting, compiling
        self._provenance = provenance
        self.launches: list[frames.LaunchCounts] = []

    def __enter__(self) -> KernelWatch:
        global _current
        self._outer, _current = _current, self
        self._mode = torch.get_deterministic_debug_mode()
        torch.set_deterministic_debug_mode("warn")  # makes torch fill new memory with NaN
        return self

    def __exit__(self, *error: object) -> None:
        global _current
        _current = self._outer
        torch.set_deterministic_debug_mode(self._mode)

    def finish(self, launch: Launch) -> None:
        """Record a launch after its programs have run."""
        with numpy_allocations.uncounted():
            if self._provenance is not None:
                for region in launch.regions.values():
                    if region.written:
                        self._provenance.wrote(region.views)
            if self.noting and len(self.launches) < _MAX_LAUNCHES:
                self.launches.append(launch.counts())

    def refuse(self, refused: frames.Raised) -> None:
        """Add the compiler's error to the last recorded launch, if any."""
        if self.launches:
            self.launches[-1] = msgspec.structs.replace(self.launches[-1], refused=refused)


_current = KernelWatch()


def current() -> KernelWatch:
    """Return the current call's watch, or one that records nothing if no call is watched."""
    return _current


def may_launch(module: object) -> bool:
    """Return True if a global of the module is a Triton module or an instance of a Triton class."""
    for value in vars(module).values():
        own = value.__name__ if isinstance(value, types.ModuleType) else type(value).__module__
        if own.partition(".")[0] == "triton":
            return True
    return False
