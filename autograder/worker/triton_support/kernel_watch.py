"""Record the kernel launches of one call, and the operators around them."""

from __future__ import annotations

import types

import msgspec
import torch

from ..monitor import numpy_allocations
from ..protocol import frames
from .launch_trace import Launch
from .provenance import Provenance

_MAX_LAUNCHES = 64

_current: KernelWatch | None = None


class KernelWatch:
    """Records the launches of one call; a context in which unwritten memory contains NaN.

    root:       the submission's folder
    order:      a seed for the order in which programs run, or None for the interpreter's order
    noting:     whether loads and races are recorded too
    compiling:  whether Triton's compiler checks each launch, which takes longer than a small
                launch itself
    provenance: the origin of values, if results have to be computed in kernels
    """

    def __init__(
        self,
        root: str,
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
        torch.set_deterministic_debug_mode("warn")  # fills new memory with NaN
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
        """Add the compiler's error to the last launch."""
        if self.launches:
            self.launches[-1] = msgspec.structs.replace(self.launches[-1], refused=refused)


def current() -> KernelWatch | None:
    """Return the watch of the running call, if there is one."""
    return _current


def may_launch(module: object) -> bool:
    """Return True if a module imports Triton, so that it may launch kernels."""
    for value in vars(module).values():
        own = value.__name__ if isinstance(value, types.ModuleType) else type(value).__module__
        if own.partition(".")[0] == "triton":
            return True
    return False
