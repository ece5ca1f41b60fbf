"""Find operators that compute with values around Triton kernels.

Theory of operation. A hidden test can require that a result is computed in kernels
(`agree.in_kernels`). Around them, torch may make, copy, convert, view and rearrange tensors.
`Provenance` follows the storages of a call's arguments through torch's operators and records in
`outside`:

- operators that compute with values of the arguments, or with values derived from them;
- functions that hand such values to Python or NumPy (`tolist`, `item`, `numpy`);
- a result in memory that no kernel wrote and that was not copied from such memory.

It stays switched on until the result is encoded, because code of the submission may run until then
(signal handlers, finalizers). A submission that takes values out of the interpreter's own objects,
or that switches torch's modes off, is not seen: see docs/threat-model.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from ..protocol.frames import RESULT
from ..torch_support.backward import tensors_in
from ..torch_support.fake_device import ClaimedTensor

# Operators that make, copy or reshape a tensor without computing.
MAKING = {
    *("empty", "empty_strided", "empty_like", "empty_permuted", "new_empty", "new_empty_strided"),
    *("zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "arange"),
    *("full", "full_like", "new_full", "scalar_tensor", "fill", "zero", "clone", "copy", "to_copy"),
    *("set", "resize", "alias", "detach", "lift_fresh", "pad", "constant_pad_nd", "cat", "stack"),
}
# Operators that only rearrange or replace elements.
_MOVING = MAKING | {
    *("flip", "roll", "rot90", "repeat", "index", "index_select", "index_put", "index_put_impl"),
    *("index_copy", "gather", "take", "scatter", "masked_fill", "masked_scatter", "where", "tril"),
    *("triu", "slice_scatter", "select_scatter", "record_stream", "copy_from", "contiguous"),
}
_READING = {"tolist", "numpy", "__array__", "__dlpack__", "__reduce_ex__", "__repr__", "__format__"}
_READING |= {"untyped_storage", "_typed_storage", "storage"}
_WORKER = __name__.rpartition(".triton_support")[0]


class Provenance:
    """The memory of one call's arguments and of tensors derived from them.

    outside: names of operators that computed with values, or read them, outside of kernels
    """

    def __init__(self, arguments: Iterable[torch.Tensor]) -> None:
        self.outside: set[str] = set()
        self._derived: dict[int, Any] = {}  # storages with values of the arguments, by address
        self._written: set[int] = set()  # storages that a kernel wrote, and copies of them
        self._has_empty = False
        for x in arguments:
            self._has_empty |= x.numel() == 0
            self._derive(x)
        self._modes: Any = (_Operators(self), _Functions(self))

    def __enter__(self) -> Provenance:
        for mode in self._modes:
            mode.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(*error)

    def wrote(self, tensors: Iterable[torch.Tensor]) -> None:
        """Record that a kernel stored to these tensors."""
        for x in tensors:
            self._derive(x)
            self._written.add(_address(x))

    def check_result(self, result: Any) -> None:
        """Record a result that did not come out of a kernel; without elements there is no work."""
        tensors = [x for x in tensors_in(result) if x.numel()]
        if not self._has_empty and any(_address(x) not in self._written for x in tensors):
            self.outside.add(RESULT)

    def note_operator(self, name: str, moves: bool, inputs: list[Any], outputs: list[Any]) -> None:
        """Follow one operator from its inputs to its outputs."""
        addresses = set(map(_address, inputs))
        if self._derived.keys().isdisjoint(addresses):
            return
        if not moves:
            self.outside.add(name)
        for x in outputs:
            self._derive(x)
        if moves and not self._written.isdisjoint(addresses):
            self._written.update(map(_address, outputs))

    def note_reading(self, name: str, x: Any) -> None:
        """Record that a function read the elements of a tensor, if they stem from the arguments."""
        if isinstance(x, torch.Tensor) and _address(x) in self._derived:
            self.outside.add(name)

    def _derive(self, x: torch.Tensor) -> None:
        address = _address(x)
        if address:
            self._derived[address] = _bare(x)  # kept, so that the address is not used again


class _Operators(TorchDispatchMode):
    def __init__(self, provenance: Provenance) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own
        self._provenance = provenance

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise torch imports its compiler

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name = func.overloadpacket.__name__.strip("_")
        moves = func.is_view or name in _MOVING
        inputs = tensors_in([*args, *kwargs.values()])
        self._provenance.note_operator(name, moves, inputs, tensors_in(result))
        return result


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
    """Return True if the nearest code outside of torch is the worker's own or Triton's."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] != "torch":
            return module.startswith((_WORKER, "triton."))
        frame = frame.f_back
    return False


def _bare(x: torch.Tensor) -> torch.Tensor:
    return x.elem if isinstance(x, ClaimedTensor) else x


def _address(x: torch.Tensor) -> int:
    """Return the address of a tensor's memory; 0 for a tensor without one, such as a sparse one."""
    bare = _bare(x)
    if bare.layout is not torch.strided or bare.is_nested or bare.device.type == "meta":
        return 0
    return bare.untyped_storage().data_ptr()
