"""Count the operations and elements in one call, and enable the hooks that monitor the call."""

import weakref
from contextlib import ExitStack, nullcontext
from functools import cache
from typing import Any, Self

import msgspec
import torch

from ..protocol import frames
from ..protocol.frames import Counts, LaunchCounts
from ..torch_support import devices
from ..torch_support.devices import tensors_in
from ..torch_support.operator_facts import DispatchMode, facts_of
from ..triton_support.launch_trace import KernelWatch
from ..triton_support.provenance import Provenance
from .numpy_allocations import ArrayCount
from .operator_hooks import hooks_cover


class Counting(DispatchMode):
    """Counts operators, floating-point operations and the elements of new tensors and arrays.

    For operators in torch's registry, its formulas give the number of floating-point operations
    (2·m·n·k for a matrix product). An indexed assignment counts as one operation per assigned
    element, and any other operator as one per element of its largest result. Views are not counted.
    The result of an in-place operator is not a new tensor. A new NumPy array counts as one operator
    and one floating-point operation per element.
    """

    def __init__(self) -> None:
        super().__init__()
        self.flops = self.largest = self.ops = 0
        self._alive = weakref.WeakKeyDictionary[Any, int]()  # number of elements by storage
        self._arrays = ArrayCount()

    def __enter__(self) -> Self:
        super().__enter__()  # type: ignore[no-untyped-call]  # untyped in torch
        self._arrays.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._arrays.__exit__()
        super().__exit__(*error)  # type: ignore[no-untyped-call]  # untyped in torch

    def counts(self, kept: int, launches: tuple[LaunchCounts, ...] = ()) -> Counts:
        """Return the counts of torch and NumPy so far; `kept` and `launches` are passed through."""
        arrays = self._arrays
        flops, ops = self.flops + arrays.made, self.ops + arrays.arrays
        return Counts(flops, max(self.largest, arrays.largest), ops, kept, launches)

    def alive_elements_except(self, results: list[torch.Tensor]) -> int:
        """Return the number of new elements that are still alive, excluding those of `results`."""
        storages = [t.untyped_storage() for t in results]
        own = {s._cdata for s in storages}
        in_torch = sum(size for kept, size in self._alive.items() if kept._cdata not in own)
        return in_torch + self._arrays.alive_elements_except({s.data_ptr() for s in storages})

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.is_view:
            return func(*args, **kwargs)
        facts = facts_of(func)
        there = _largest_of(args, kwargs) if facts.written else 0
        result = func(*args, **kwargs)
        made = 0
        for tensor in tensors_in(result):
            size = tensor.numel()
            if size > made:
                made = size
            self._alive.setdefault(tensor.untyped_storage(), size)
        if made > there and made > self.largest:  # an in-place result is not a new tensor
            self.largest = made
        self.ops += 1
        formula = formulas().get(func.overloadpacket)
        if facts.name in _BY_INDEX:  # the operator writes only the elements at the indices
            made = _largest_of(args[1:], kwargs)
        if formula is not None:
            made = int(formula(*args, **kwargs, out_val=result))
        self.flops += made
        return result


_BY_INDEX = {
    "index_put_",
    "_index_put_impl_",
    "index_copy_",
    "index_add_",
    "scatter_",
    "scatter_add_",
}


@cache
def formulas() -> dict[Any, Any]:
    """Return torch's formulas for floating-point operations. The first call may import Triton."""
    from torch.utils.flop_counter import flop_registry

    return flop_registry


def _largest_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return max((t.numel() for t in tensors_in([*args, *kwargs.values()])), default=0)


class CallHooks(ExitStack):
    """A context manager that enables the hooks for one call.

    The result must be encoded inside the context, because the submission's signal handlers and
    finalizers may run until then.

    inputs:        the tensors among the call's arguments
    root:          the submission's folder
    launches:      whether the submission may launch Triton kernels
    function_mode: reports torch's functions by name, for rules that no other hook covers

    counting:   inner context manager that counts operations and elements if requested
    forbidding: inner context manager that reports forbidden functions that have no other hook
    """

    def __init__(
        self,
        request: frames.Call,
        inputs: list[torch.Tensor],
        root: str,
        launches: bool,
        function_mode: Any,
    ) -> None:
        super().__init__()
        self.counting = Counting() if request.count else nullcontext()
        self.forbidding = nullcontext() if hooks_cover(request.not_allowed) else function_mode
        self._kept = 0
        follows = request.kernels_only or (request.count and launches)
        on_host = request.device in (devices.CPU, devices.FAKE)
        self._provenance = Provenance(inputs) if follows and on_host else None
        self._watch: KernelWatch | None = None
        if launches or self._provenance is not None:
            self._watch = KernelWatch(
                root, request.order, request.count, request.compiled, self._provenance
            )

    def __enter__(self) -> Self:
        for hooks in (self._watch, self._provenance):
            if hooks is not None:
                self.enter_context(hooks)
        return super().__enter__()

    def keep(self, result: Any) -> None:
        """Store the number of elements that the forward pass keeps alive, excluding its result."""
        if isinstance(self.counting, Counting):
            self._kept = self.counting.alive_elements_except(tensors_in(result))

    def counts(self, result: Any) -> frames.Counts | None:
        """Return counts and operators outside of kernels, or None if neither is recorded."""
        counts = None
        if isinstance(self.counting, Counting):
            launches = tuple(self._watch.launches) if self._watch is not None else ()
            counts = self.counting.counts(self._kept, launches)
        if self._provenance is not None:
            self._provenance.check_result(result)
            outside = self._provenance.names()
            counts = msgspec.structs.replace(counts or frames.Counts(0, 0, 0), computed=outside)
        return counts
