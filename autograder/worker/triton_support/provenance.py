"""Find operators that compute with values outside of Triton kernels.

Theory of operation. A hidden test can require that a result is computed in kernels
(`agree.in_kernels`). Outside of kernels, a submission may use torch only to create, copy, convert,
view and rearrange tensors. `Provenance` tracks the arguments' storages through torch's operators
and records in `outside`:

- operators that compute with the arguments' values, or with values derived from the arguments
  (`_only_moves` recognises operators that only rearrange values);
- functions that convert these values to Python or NumPy objects (`tolist`, `item`, `numpy`);
- a result whose memory no kernel wrote, and no operator copied from memory that a kernel wrote.

The context must stay active until the result is encoded, because the submission's signal handlers
and finalizers may run until then. Values that a submission reads from the interpreter's objects, or
computes after it disables torch's modes, are not detected: see docs/threat-model.md.
"""

import math
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, Self

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

from ..protocol.frames import RESULT
from ..torch_support.devices import bare, tensors_in
from ..torch_support.operator_facts import DispatchMode

# Operators that copy or convert values, or create uninitialised tensors.
_COPYING = {
    *("clone", "copy", "to_copy", "copy_from", "lift_fresh", "set", "resize", "record_stream"),
    *("empty_like", "new_empty", "new_empty_strided"),
}
_READING = {"tolist", "numpy", "__array__", "__dlpack__", "__reduce_ex__", "__repr__", "__format__"}
_READING |= {"untyped_storage", "_typed_storage", "storage"}
_MAX_NAMES, _MAX_NAME = 20, 60
_WORKER = __name__.rpartition(".triton_support")[0]


class Provenance(ExitStack):
    """Tracks the storages of a call's arguments and of the tensors derived from these arguments.

    outside: names of operators that computed with values, or read them, outside of kernels
    """

    def __init__(self, arguments: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.outside: set[str] = set()
        self._derived: dict[int, Any] = {}  # tensors with derived values, by storage address
        self._written: set[int] = set()  # addresses of storages that kernels wrote, and of copies
        self._has_empty = False
        for x in arguments:
            self._has_empty |= x.numel() == 0
            self._derive(x)

    def __enter__(self) -> Self:
        for mode in (_Operators(self), _Functions(self)):
            self.enter_context(mode)
        return super().__enter__()

    def wrote(self, tensors: Iterable[torch.Tensor]) -> None:
        """Record that a kernel stored to these tensors."""
        for x in tensors:
            self._derive(x)
            self._written.add(_address(x))

    def check_result(self, result: Any) -> None:
        """Add RESULT to `outside` if no kernel wrote the result, unless it or an input is empty."""
        tensors = [x for x in tensors_in(result) if x.numel()]
        if not self._has_empty and any(_address(x) not in self._written for x in tensors):
            self.outside.add(RESULT)

    def names(self) -> tuple[str, ...]:
        """Return the names in `outside`, sorted and truncated for a reply."""
        return tuple(sorted(name[:_MAX_NAME] for name in self.outside)[:_MAX_NAMES])

    def note_operator(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Track values through one operator, and record the operator if it computes with them."""
        addresses = set(map(_address, tensors_in([*args, *kwargs.values()])))
        if self._derived.keys().isdisjoint(addresses):
            return
        name, outputs = func.overloadpacket.__name__.strip("_"), tensors_in(result)
        moves = func.is_view or name in _COPYING or _only_moves(func, args, kwargs)
        if not moves:
            self.outside.add(name)
        for x in outputs:
            self._derive(x)
        if moves and not self._written.isdisjoint(addresses):
            self._written.update(map(_address, outputs))

    def note_reading(self, name: str, x: Any) -> None:
        """Record the function `name`, which reads `x`, if `x` derives from the arguments."""
        if isinstance(x, torch.Tensor) and _address(x) in self._derived:
            self.outside.add(name)

    def _derive(self, x: torch.Tensor) -> None:
        address = _address(x)
        if address:
            self._derived[address] = bare(x)  # keeps the tensor alive, so its address is not reused


class _Operators(DispatchMode):
    def __init__(self, provenance: Provenance) -> None:
        super().__init__()
        self._provenance = provenance

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        self._provenance.note_operator(func, args, kwargs, result)
        return result


# Labels that replace values: exact in each of `FLOAT_TYPES`, and unlikely to be used as constants.
_LABELS = torch.cat([-4 + torch.arange(1, 128, 2) / 64, 2 + torch.arange(1, 128, 2) / 64])
_RENAMED_LABELS = [
    _LABELS.flip(0),
    _LABELS[torch.randperm(len(_LABELS), generator=torch.Generator())],
    *(torch.full_like(_LABELS, value) for value in (2.0, math.nan, math.inf, -math.inf)),
]


def _only_moves(func: Any, args: Any, kwargs: Any) -> bool:
    """Return True if an operator only moves float values or fills in constants.

    The operator is run on labels in place of values. If the operator only moves values, renaming
    the labels in its inputs renames the labels in its outputs in the same way.
    """
    reads = any("Tensor" not in str(returned.type) for returned in func._schema.returns)
    if reads or torch.Tag.nondeterministic_seeded in func.tags:
        return False
    shapes = [x.shape for x in tensors_in([*args, *kwargs.values()]) if x.is_floating_point()]
    generator = torch.Generator()
    places = [torch.randint(len(_LABELS), shape, generator=generator) for shape in shapes]

    def run(labels: torch.Tensor) -> list[torch.Tensor]:
        remaining = iter(places)

        def labelled(x: torch.Tensor) -> torch.Tensor:
            x = bare(x).detach()
            return torch.empty_like(x).copy_(
                labels[next(remaining)] if x.is_floating_point() else x
            )

        new_args, new_kwargs = tree_map_only(torch.Tensor, labelled, (args, kwargs))
        return tensors_in([func(*new_args, **new_kwargs), new_args, new_kwargs])

    try:
        before = run(_LABELS)
        return bool(shapes) and all(
            all(map(_same, (_renamed(x, labels) for x in before), run(labels)))
            for labels in _RENAMED_LABELS
        )
    except Exception:  # an operator that only moves values would accept the labels
        return False


def _renamed(x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    if not x.is_floating_point():
        return x
    places = torch.searchsorted(_LABELS, x.float()).clamp(max=len(_LABELS) - 1)
    return torch.where(_LABELS[places] == x, labels[places].to(x.dtype), x)


def _same(x: torch.Tensor, y: torch.Tensor) -> bool:
    return x.shape == y.shape and bool(((x == y) | ((x != x) & (y != y))).all())


class _Functions(TorchFunctionMode):
    def __init__(self, provenance: Provenance) -> None:
        super().__init__()
        self._provenance = provenance

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in _READING and args and not _is_called_by_kit(sys._getframe(1)):
            self._provenance.note_reading(name.strip("_"), args[0])
        return func(*args, **(kwargs or {}))


def _is_called_by_kit(frame: Any) -> bool:
    """Return True if the innermost frame outside of torch belongs to the worker or Triton."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] != "torch":
            return module.startswith((_WORKER, "triton."))
        frame = frame.f_back
    return False


def _address(x: torch.Tensor) -> int:
    """Return the address of a tensor's storage, or 0 for a sparse, nested or meta tensor."""
    x = bare(x)
    if x.layout is not torch.strided or x.is_nested or x.device.type == "meta":
        return 0
    return x.untyped_storage().data_ptr()
