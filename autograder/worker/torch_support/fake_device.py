"""`fake-gpu`: a simulated GPU that reveals device errors on a machine without a GPU.

A `ClaimedTensor` claims to be on the fake GPU and stores its data in a CPU tensor. Operators are
intercepted below autograd: in `__torch_dispatch__` if an argument is a `ClaimedTensor`, otherwise
in the kernels that `_register_factories` registers. The operator runs on CPU tensors, and its
results are wrapped again. Control flow, indexing by a mask and `item()` therefore work as on a GPU,
and an operator rejects tensors on different devices as on a GPU.

The rules for mixing devices are those of CUDA: operators accept a zero-dimensional CPU tensor in
place of a number, `copy_` and `to` copy between devices, and an index may be on the CPU. Other
combinations raise an error.

An error in this module is attributed to the submission, so that a submission cannot avoid a test by
using an unsupported feature. The module therefore implements features for which torch would require
a backend in C++: generators, pinned memory, LSTM and GRU cells, and outputs that are resized. Only
nested tensors are not supported.

This module uses private names in torch: those imported from `backend_registration`,
`_disabled_torch_function_impl`, `return_and_correct_aliasing`, and functions in `torch._C` that
torch.accelerator calls.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from typing import Any, NoReturn, Self

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils.backend_registration import (
    _DummyBackendModule,
    _setup_privateuseone_for_python_backend,
)

from ..protocol.values import FAKE_DEVICE
from .operator_facts import CELLS, FACTORIES, ON_CPU, OperatorFacts, facts_of

_NAMES = (FAKE_DEVICE, "privateuseone")
_aten = torch.ops.aten


class ClaimedTensor(torch.Tensor):
    """A tensor that claims to be on the fake GPU. `elem`: CPU tensor with its data."""

    elem: torch.Tensor

    @staticmethod
    def __new__(cls, elem: torch.Tensor) -> Self:
        x: Self = torch.Tensor._make_wrapper_subclass(
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

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # as torch does

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

    def _set_data(self, new: Self) -> None:
        torch.Tensor.data.__set__(self, new)  # type: ignore[attr-defined]  # a C descriptor
        self.elem = new.elem

    data = property(torch.Tensor.data.__get__, _set_data)  # type: ignore[attr-defined]

    def tolist(self) -> Any:
        return self.elem.tolist()

    def __repr__(self) -> str:  # type: ignore[override]  # without torch's parameter
        return f"{self.elem!r}"[:-1] + f", device='{self.device}')"

    def __format__(self, spec: str) -> str:
        return format(self.elem, spec) if spec else repr(self)


@cache
def device() -> torch.device:
    """Return the fake GPU; the first call registers it with torch.

    The first call must precede the process's first backward pass, because autograd counts the
    devices only once.
    """
    _setup_privateuseone_for_python_backend(FAKE_DEVICE, backend_module=_backend)
    _register_factories()
    _name_the_accelerator()
    setattr(torch, "Generator", Generator)  # noqa: B010  # mypy refuses to assign to a class
    return torch.device(FAKE_DEVICE, 0)


class _AnyGenerator(type(torch._C.Generator)):  # type: ignore[misc]  # not in torch's stubs
    """A metaclass that makes torch's own generators instances of `Generator`, too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch._C.Generator)


class Generator(torch._C.Generator, metaclass=_AnyGenerator):
    """A `torch.Generator` that supports the fake GPU and draws the same numbers as on the CPU."""

    def __new__(cls, device: Any = "cpu") -> Any:
        if torch.device(device).type not in _NAMES:
            return torch._C.Generator(device)
        return super().__new__(cls, "cpu")  # type: ignore[call-arg]  # not in torch's stubs

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # an attribute in torch
        return device()


class GeneratorCheck(TorchFunctionMode):
    """Raises RuntimeError, as CUDA does, if a result and its generator are on different devices.

    This needs a function mode, because dispatched operators see every generator as a CPU generator.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result, generator = func(*args, **kwargs), kwargs.get("generator")
        is_fake = type(generator) is Generator
        if isinstance(generator, Generator) and is_fake != isinstance(result, ClaimedTensor):
            wanted = "cpu" if is_fake else device()
            raise RuntimeError(
                f"Expected a '{wanted}' device type for generator but found '{generator.device}'"
            )
        return result


class _Backend(_DummyBackendModule):
    """The device module of the fake GPU, which shares the CPU's default random generator.

    present: whether the current call runs on the fake GPU
    """

    present = False

    def is_available(self) -> bool:
        return self.present

    def device_count(self) -> int:
        return int(self.present)

    def set_device(self, device: Any) -> None: ...

    def device(self, device: Any) -> AbstractContextManager[None]:
        return nullcontext()

    def synchronize(self, device: Any = None) -> None: ...

    def empty_cache(self) -> None: ...

    def get_rng_state(self, device: Any = 0) -> torch.Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = 0) -> None:
        torch.set_rng_state(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]


_backend = _Backend()


@contextmanager
def present(is_present: bool) -> Iterator[None]:
    """Set whether torch reports the fake GPU as available; restore the previous state on exit."""
    before, _backend.present = _backend.present, is_present
    try:
        yield
    finally:
        _backend.present = before


def _name_the_accelerator() -> None:
    others: Any = torch.device("cuda") if torch.version.cuda else None

    def accelerator() -> torch.device | None:
        return torch.device(FAKE_DEVICE) if _backend.present else others

    inner: Any = torch._C  # torch.accelerator calls these two functions
    inner._accelerator_getAccelerator = accelerator
    inner._accelerator_synchronizeDevice = lambda number: None


@cache
def warm() -> None:
    """Make torch import its modules for tensor subclasses now, not during the first call."""
    ClaimedTensor(torch.ones(1)) * 1


_libraries: list[torch.library.Library] = []  # deleting a library would remove its kernels


def _register_factories() -> None:
    """Register the fake GPU's kernels for operators that bypass `__torch_dispatch__`.

    These are factory functions, copies, scalar reads, memory pinning and RNN cells.
    Autocast on the fake GPU has no effect.
    """
    library = torch.library.Library("aten", "IMPL")
    _libraries.append(library)
    for name in FACTORIES:
        packet = getattr(_aten, name)
        for overload in packet.overloads():
            operator = getattr(packet, overload)
            arguments = operator._schema.arguments
            makes = any(a.name == "device" for a in arguments)
            if makes and not any("Tensor" in str(a.type) for a in arguments):
                library.impl(operator, partial(_made, operator), "PrivateUse1")
    library.impl(_aten._copy_from.default, _copy_from, "PrivateUse1")
    # `torch.tensor([x[0], x[1]])` reads scalars without `__torch_dispatch__`
    library.impl(_aten._local_scalar_dense.default, lambda x: x.elem.item(), "PrivateUse1")
    library.impl(_aten._pin_memory.default, lambda x, device=None: x.clone(), "CPU")
    for name, cell in CELLS.items():
        library.impl(getattr(_aten, name).default, cell, "AutogradPrivateUse1")
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    _libraries.append(everything)


def _made(
    operator: Any, *args: Any, device: Any = None, pin_memory: Any = None, **kwargs: Any
) -> Any:
    return _claim(operator(*args, device="cpu", **kwargs))


def _copy_from(source: torch.Tensor, target: Any, non_blocking: bool = False) -> Any:
    """Copy into a claimed tensor when `torch.tensor(..., device=...)` creates it."""
    target.elem.copy_(source.elem if isinstance(source, ClaimedTensor) else source)
    return target


def _run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operator on the CPU tensors inside claimed tensors, and wrap the results."""
    facts = facts_of(func)
    if not facts.moves:
        _check_devices(facts, args, kwargs)
    claimed = (x for x in args if isinstance(x, ClaimedTensor))
    if facts.float_only and not all(x.is_floating_point() or x.is_complex() for x in claimed):
        raise RuntimeError(f'"{facts.name}_cuda" not implemented for integers')
    bare = {name: _bare(value) for name, value in kwargs.items()}
    target = kwargs.get("device")
    if target is not None and target.type in _NAMES:
        bare["device"] = torch.device("cpu")
    result = ON_CPU.get(facts.name, func)(*map(_bare, args), **bare)
    if facts.returns_written:
        return _written(facts, func, args, kwargs, result)
    if target is not None and target.type not in _NAMES:
        return result
    return _claim(result)


def _check_devices(facts: OperatorFacts, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise RuntimeError, as CUDA does, if the arguments are on different devices."""
    parts: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    if facts.indexing and isinstance(args[0], ClaimedTensor):
        del parts[1]  # an index may be on the CPU
    claimed = here = False
    for key, argument in parts:
        for x in argument if type(argument) in (list, tuple) else (argument,):
            if isinstance(x, ClaimedTensor):
                claimed = True
            elif isinstance(x, torch.Tensor):
                here |= bool(x.dim()) or facts.strict or key in facts.on_device
    if claimed and here:
        raise RuntimeError(
            "Expected all tensors to be on the same device, "
            f"but found at least two devices, {device()} and cpu!"
        )


def _bare(argument: Any) -> Any:
    if isinstance(argument, ClaimedTensor):
        return argument.elem
    if type(argument) in (list, tuple):
        return [_bare(part) for part in argument]
    return argument


def _claim(result: Any) -> Any:
    if type(result) is torch.Tensor:
        if torch.is_inference_mode_enabled() and not result.is_inference():
            with torch.inference_mode(False):  # a view of a tensor from outside inference mode
                return ClaimedTensor(result)
        return ClaimedTensor(result)
    if type(result) in (list, tuple):
        return type(result)(_claim(part) for part in result)
    return result


def _written(
    facts: OperatorFacts, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    """Update the metadata of the arguments that an in-place operator changed, and return them."""
    written = [args[n] if n < len(args) else kwargs.get(name) for n, name in facts.written]
    if facts.changes_view:
        return return_and_correct_aliasing(func, args, kwargs, result)
    for x in written:
        if isinstance(x, ClaimedTensor) and x.shape != x.elem.shape:
            x.data = ClaimedTensor(x.elem)
    return written[0] if len(written) == 1 else tuple(written)
