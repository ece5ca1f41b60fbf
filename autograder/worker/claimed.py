"""A GPU that is only claimed: `fake-gpu`, which finds device mistakes on a machine without one.

A `ClaimedTensor` says that it lives on the device, and holds its data in a CPU tensor. Whatever
torch would run on the device arrives below autograd, as operators: in `__torch_dispatch__` where a
tensor takes part, in the kernels of `_claim_factories` if none does. The operator runs on the
CPU tensors, and what it makes is claimed again. So a submission's own control flow, its indexing by
a mask and its `item()` go on as on a GPU, and a mix of the two devices is refused as a GPU refuses
it.

The rules of mixing are CUDA's: a CPU tensor without axes goes with anything, as a number would;
`copy_` and `to` go from device to device; a tensor on the device may be indexed from the CPU; all
else is an error.

Nothing that fails here is excused, so a submission cannot ask for a limit of this device to escape
a test. Whatever torch cannot run on a device without C++ code is implemented here: generators,
pinned memory, the cells of LSTM and GRU, and outputs that change their size. Only nested tensors
are missing.

torch's private names that this leans on: `_setup_privateuseone_for_python_backend`,
`_disabled_torch_function_impl`, `return_and_correct_aliasing`, and of `torch._C` what
torch.accelerator asks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing

from .values import FAKE_DEVICE

_DISTRIBUTED = "torch.distributed.tensor"
_OURS = (FAKE_DEVICE, "privateuseone")
_aten = torch.ops.aten
# Their first argument's device decides, and an index may come from the CPU.
_INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"} | {
    *("_pack_padded_sequence", "_pad_packed_sequence")
}
# Here even a tensor without axes must be on the device.
_STRICT = {"cat", "stack", "embedding", "index_select", "gather"}
# Change the size of their first argument, in which torch's own correction of views fails.
_RESIZING = {"resize_", "resize_as_"}
_FACTORIES = (
    *("empty", "empty_strided", "empty_permuted", "_efficientzerotensor", "scalar_tensor"),
    *("zeros", "ones", "full", "eye", "arange", "range", "linspace", "logspace"),
    *("rand", "randn", "randint", "randperm", "normal", "tril_indices", "triu_indices"),
)


class ClaimedTensor(torch.Tensor):
    """Says that it is on the claimed device; `elem` holds the same on the CPU."""

    elem: torch.Tensor

    @staticmethod
    def __new__(cls, elem: torch.Tensor) -> ClaimedTensor:
        x: ClaimedTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            elem.shape,
            elem.stride(),
            elem.storage_offset(),
            dtype=elem.dtype,
            layout=elem.layout,
            device=device(),
        )
        x.elem = elem
        return x

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # torch's way to say none

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # as torch itself calls it
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(func, args, kwargs or {})

    def numpy(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    __array__ = numpy

    def tolist(self) -> Any:
        return self.elem.tolist()

    def __repr__(self) -> str:  # type: ignore[override]  # torch's takes contents
        return f"{self.elem!r}"[:-1] + f", device='{self.device}')"

    def __format__(self, spec: str) -> str:
        return format(self.elem, spec) if spec else repr(self)


@cache
def device() -> torch.device:
    """The claimed device, registered at the first call.

    Call it before the first backward pass of a process: autograd counts devices only once.
    """
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    _setup_privateuseone_for_python_backend(FAKE_DEVICE, backend_module=_backend)
    _claim_factories()
    _name_the_accelerator()
    setattr(torch, "Generator", Generator)  # noqa: B010  # mypy refuses to assign to a class
    return torch.device(FAKE_DEVICE, 0)


class _AnyGenerator(type(torch._C.Generator)):  # type: ignore[misc]  # its metaclass is not in the stubs
    """`isinstance(x, torch.Generator)` is true of torch's own generators, too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch._C.Generator)


class Generator(torch._C.Generator, metaclass=_AnyGenerator):
    """`torch.Generator`; one for the claimed device draws the CPU's random numbers."""

    def __new__(cls, device: Any = "cpu") -> Any:
        if torch.device(device).type not in _OURS:
            return torch._C.Generator(device)
        return super().__new__(cls, "cpu")  # type: ignore[call-arg]  # not in its stubs

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # an attribute of torch's own
        return device()


class _Backend:
    """What torch asks of a device's own module. Its random numbers are the CPU's.

    present: whether the running test is one of the claimed device
    """

    present = False

    def is_available(self) -> bool:
        return self.present

    def is_initialized(self) -> bool:
        return True

    def device_count(self) -> int:
        return int(self.present)

    def current_device(self) -> int:
        return 0

    def set_device(self, device: Any) -> None: ...

    def device(self, device: Any) -> AbstractContextManager[None]:
        return nullcontext()

    def synchronize(self, device: Any = None) -> None: ...

    def empty_cache(self) -> None: ...

    def get_rng_state(self, device: Any = 0) -> torch.Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = 0) -> None:
        torch.set_rng_state(state)

    def manual_seed_all(self, seed: int) -> None: ...

    def _is_in_bad_fork(self) -> bool:
        return False

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]


_backend = _Backend()


class present:
    """While a call runs: whether the machine has the claimed device, for code that asks.

    Every call enters this, and one of contextlib's generators takes longer than some calls do.
    """

    __slots__ = ("_before", "_is_present")

    def __init__(self, is_present: bool) -> None:
        self._is_present = is_present

    def __enter__(self) -> None:
        self._before, _backend.present = _backend.present, self._is_present

    def __exit__(self, *error: object) -> None:
        _backend.present = self._before


def _name_the_accelerator() -> None:
    """`torch.accelerator` names the claimed device where the running test is one of it only."""
    others: Any = torch.device("cuda") if torch.version.cuda else None

    def accelerator() -> torch.device | None:
        return torch.device(FAKE_DEVICE) if _backend.present else others

    inner: Any = torch._C  # which torch.accelerator asks
    inner._accelerator_getAccelerator = accelerator
    inner._accelerator_synchronizeDevice = lambda number: None


@cache
def warm() -> None:
    """Have torch import what it wants for a first tensor like these; no call should wait for it."""
    ClaimedTensor(torch.ones(1)) * 1


@cache
def warm_without_distributed() -> None:
    """The same in a process in which only our own code runs.

    At a first tensor like these torch asks for the class of tensors of many machines, and imports
    half of itself for it. Nothing of ours is one, so a class without instances answers; whoever
    imports the module later gets it.
    """
    if _DISTRIBUTED in sys.modules:
        return warm()
    stand_in = ModuleType(_DISTRIBUTED)
    vars(stand_in)["DTensor"] = type("DTensor", (torch.Tensor,), {})
    sys.modules[_DISTRIBUTED] = stand_in
    try:
        return warm()
    finally:
        del sys.modules[_DISTRIBUTED]


_libraries: list[torch.library.Library] = []  # what they registered lasts as long as they do


def _claim_factories() -> None:
    """Kernels of the device for the operators that take no tensor, and for copies to it.

    Autocast leaves everything in the type that it has.
    """
    library = torch.library.Library("aten", "IMPL")
    _libraries.append(library)
    for name in _FACTORIES:
        packet = getattr(_aten, name)
        for overload in packet.overloads():
            operator = getattr(packet, overload)
            arguments = operator._schema.arguments
            makes = any(a.name == "device" for a in arguments)
            if makes and not any("Tensor" in str(a.type) for a in arguments):
                library.impl(operator, _factory(operator), "PrivateUse1")
    library.impl(_aten._copy_from.default, _copy_from, "PrivateUse1")
    library.impl(_aten._local_scalar_dense.default, _number, "PrivateUse1")
    library.impl(_aten._pin_memory.default, _pinned, "CPU")
    for name, cell in _CELLS.items():
        library.impl(getattr(_aten, name).default, cell, "AutogradPrivateUse1")
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    _libraries.append(everything)


def _factory(operator: Any) -> Callable[..., Any]:
    def made(*args: Any, device: Any = None, pin_memory: Any = None, **kwargs: Any) -> Any:
        return _claim(operator(*args, device="cpu", **kwargs))

    return made


def _copy_from(source: torch.Tensor, target: Any, non_blocking: bool = False) -> Any:
    """How `torch.tensor(..., device=...)` fills what it made, past `__torch_dispatch__`."""
    target.elem.copy_(source.elem if isinstance(source, ClaimedTensor) else source)
    return target


def _number(x: Any) -> Any:
    """How `torch.tensor([x[0], x[1]])` reads its parts, past `__torch_dispatch__`."""
    return x.elem.item()


def _pinned(x: torch.Tensor, device: Any = None) -> torch.Tensor:
    """Return a copy, as `pin_memory` does; the CPU's memory is the claimed device's."""
    return x.clone()


def _lstm_cell(
    inputs: torch.Tensor, hidden: torch.Tensor, cx: torch.Tensor, *biases: torch.Tensor | None
) -> tuple[torch.Tensor, ...]:
    gates = sum((b for b in biases if b is not None), inputs + hidden)
    enter, forget, cell, leave = gates.chunk(4, 1)
    cy = forget.sigmoid() * cx + enter.sigmoid() * cell.tanh()
    return leave.sigmoid() * cy.tanh(), cy, gates


def _gru_cell(
    inputs: torch.Tensor,
    hidden: torch.Tensor,
    hx: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    inputs = inputs if input_bias is None else inputs + input_bias
    hidden = hidden if hidden_bias is None else hidden + hidden_bias
    (reset, update, new), (reset_h, update_h, new_h) = inputs.chunk(3, 1), hidden.chunk(3, 1)
    new = (new + (reset + reset_h).sigmoid() * new_h).tanh()
    return new + (update + update_h).sigmoid() * (hx - new), inputs


# Operators that the CPU lacks. Their last result is kept for a backward pass that is not used.
_CELLS: dict[str, Callable[..., Any]] = {
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_gru_cell": _gru_cell,
}


class _Facts(NamedTuple):
    """What is asked of every call of an operator."""

    name: str
    free: bool  # goes from device to device
    strict: bool
    indexing: bool
    written: tuple[tuple[int, str], ...]  # arguments that are written to: place and name
    on_device: frozenset[int | str]  # those whose device counts even without axes: either
    returns_written: bool
    changes_form: bool  # of what is written to


@lru_cache(maxsize=4096)
def _facts(func: Any) -> _Facts:
    schema, name = func._schema, func.overloadpacket.__name__
    written = tuple(
        (place, argument.name)
        for place, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )
    on_device = {key for place_and_name in written for key in place_and_name}
    indexing = name in _INDEXING
    aliases = [r.alias_info for r in schema.returns]
    return _Facts(
        name,
        name in ("copy_", "_to_copy"),
        name in _STRICT,
        indexing,
        written,
        frozenset(on_device | {0} if indexing else on_device),
        bool(aliases) and all(a is not None and a.is_write for a in aliases),
        torch.Tag.inplace_view in func.tags,
    )


def _run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The operator on the CPU tensors behind the claimed ones."""
    facts = _facts(func)
    if not facts.free:
        _check_devices(facts, args, kwargs)
    bare = {name: _bare(value) for name, value in kwargs.items()}
    target = kwargs.get("device")
    if target is not None and target.type in _OURS:
        bare["device"] = torch.device("cpu")
    result = _CELLS.get(facts.name, func)(*map(_bare, args), **bare)
    if facts.returns_written:
        return _written(facts, func, args, kwargs, result)
    if target is not None and target.type not in _OURS:
        return result
    return _claim(result)


def _check_devices(facts: _Facts, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Return whether a GPU would run the operator on tensors from these devices."""
    parts: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    if facts.indexing and isinstance(args[0], ClaimedTensor):
        del parts[1]  # an index may be on the CPU
    claimed = here = False
    for key, argument in parts:
        for x in _tensors(argument):
            if isinstance(x, ClaimedTensor):
                claimed = True
            elif x.dim() or facts.strict or key in facts.on_device:
                here = True
    if claimed and here:
        raise RuntimeError(
            "Expected all tensors to be on the same device, "
            f"but found at least two devices, {device()} and cpu!"
        )


def _tensors(argument: Any) -> Iterator[torch.Tensor]:
    if isinstance(argument, torch.Tensor):
        yield argument
    elif type(argument) in (list, tuple):
        yield from (x for x in argument if isinstance(x, torch.Tensor))


def _bare(argument: Any) -> Any:
    if isinstance(argument, ClaimedTensor):
        return argument.elem
    if type(argument) in (list, tuple):
        return [_bare(part) for part in argument]
    return argument


def _claim(result: Any) -> Any:
    if type(result) is torch.Tensor:
        if torch.is_inference_mode_enabled() and not result.is_inference():
            with torch.inference_mode(False):  # a view of what was there before
                return ClaimedTensor(result)
        return ClaimedTensor(result)
    if type(result) in (list, tuple):
        return type(result)(_claim(part) for part in result)
    return result


def _written(
    facts: _Facts, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    """What an operator that writes to its arguments returns: those."""
    written = [args[n] if n < len(args) else kwargs.get(name) for n, name in facts.written]
    if facts.changes_form and facts.name not in _RESIZING:
        return return_and_correct_aliasing(func, args, kwargs, result)
    for x in written:
        if isinstance(x, ClaimedTensor) and x.shape != x.elem.shape:
            x.data = ClaimedTensor(x.elem)
    return written[0] if len(written) == 1 else tuple(written)
