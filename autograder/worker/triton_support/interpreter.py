"""Add a check of every address to Triton's interpreter, before memory is accessed.

Theory of operation. With `TRITON_INTERPRET=1`, a kernel runs as Python on the CPU, one program
after the other, and each load and store passes raw addresses to C. Triton's interpreter therefore
misses three kinds of errors that occur on a GPU. This module detects them:

- Out-of-bounds accesses: an access outside of all tensors in a launch is counted and does not reach
  memory. A load returns NaN (or the largest integer), a store is ignored, and an atomic
  compare-and-swap raises IndexError. An element must belong to a view that was passed to the
  kernel, not only to the storage of that view.
- Races: accesses by different programs that would race on a GPU are counted (`races`). The order of
  programs can be chosen.
- Wrong devices: tensors on different devices raise an error, as in Triton's GPU driver.

`setup` replaces methods of the interpreter once per process, before any student code is loaded.
Addresses are always checked, and a `KernelWatch` can also record the accesses. A submission can
falsify these records: see docs/threat-model.md.
"""

import copy
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module  # Triton is an extra and may not be installed
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..monitor import numpy_allocations
from ..torch_support.devices import bare
from ..torch_support.fake_device import ClaimedTensor
from . import launch_trace
from .compile_check import Frontend, interpret_library
from .launch_trace import KernelWatch, Launch, without_number
from .races import once_used

_launch = Launch((), KernelWatch())
_frontend: Frontend | None = None


def is_ready() -> bool:
    """Return True if `setup` was called, so that submissions can launch kernels."""
    return _frontend is not None


def setup() -> None:
    """Import Triton in interpreter mode, and add checks to the interpreter's methods."""
    global _frontend
    if _frontend is not None:
        return
    os.environ["TRITON_INTERPRET"] = "1"
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # otherwise Triton warns
    import_module("triton")
    for name in ("triton.language.extra.libdevice", "triton.tools.tensor_descriptor"):
        import_module(name)  # otherwise a submission that needs them would import them in a call
    interpret_library()
    _frontend = Frontend()
    interpreter: Any = import_module("triton.runtime.interpreter")
    builder, executor = interpreter.InterpreterBuilder, interpreter.GridExecutor
    _wrap(builder, "create_masked_load", _load)
    _wrap(builder, "create_masked_store", _store)
    _wrap(builder, "create_atomic_rmw", _atomic)
    _wrap(builder, "create_atomic_cas", _atomic)
    _wrap(builder, "set_grid_dim", _begin)
    _wrap(builder, "set_grid_idx", _next_program)
    _wrap(executor, "_init_args_hst", _take_arguments)
    _wrap(executor, "_restore_args_dev", _finish)
    _number_addresses(interpreter)
    _patch_known_builtins(interpreter)
    _remember_types(interpreter)
    _wrap(interpreter.InterpretedFunction, "run", _run)
    _wrap(interpreter.InterpretedFunction, "__call__", _nested)
    # Checking every operation for integer overflow would take a third of a kernel's run time.
    plain = interpreter.InterpreterOptions(sanitize_overflow=False)
    interpreter.interpreter_builder.options = plain


def _wrap(owner: type, name: str, around: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return around(original, self, *args, **kwargs)

    setattr(owner, name, method)


def _number_addresses(interpreter: Any) -> None:
    """Make the interpreter encode a tensor's region number in the address passed to a kernel."""
    original = interpreter._implicit_cvt

    def converted(arg: Any) -> Any:
        if isinstance(arg, bool):  # compiled kernels accept one, but Triton's interpreter fails
            flag = interpreter.TensorHandle(np.array([arg]), interpreter.tl.int1)
            return interpreter.tl.tensor(flag, flag.dtype)
        result = original(arg)
        if hasattr(arg, "data_ptr"):
            base = getattr(arg, "base", arg)  # unwrap Triton's tensor wrapper
            result.handle.data |= _launch.numbered(base)
        return result

    interpreter._implicit_cvt = converted


def _patch_known_builtins(interpreter: Any) -> None:
    """Search Triton's language for builtins once, instead of in every launch."""

    @cache
    def builtins_of(package: Any) -> list[tuple[str, Any]]:
        return inspect.getmembers(package, interpreter.tl.core.is_builtin)

    def patch(package: Any, *rest: Any) -> None:
        for name, member in builtins_of(package):
            interpreter._patch_attr(package, name, member, *rest)

    interpreter._patch_builtin = patch


def _remember_types(interpreter: Any) -> None:
    """Compute once what depends only on a type or shape, because every operation needs it."""
    core, numpy_type = interpreter.tl.core, interpreter._get_np_dtype
    make_block, make_tensor = core.block_type.__init__, core.tensor.__init__
    types: dict[str, Any] = {}
    blocks: dict[Any, Any] = {}
    shapes: dict[Any, Any] = {}

    def remembered_type(tt_dtype: Any) -> Any:
        if tt_dtype.name not in types:
            types[tt_dtype.name] = numpy_type(tt_dtype)
        return types[tt_dtype.name]

    def init_block(self: Any, element_ty: Any, shape: Any) -> None:
        sizes = tuple(shape.values if type(shape) is core.tuple else shape)
        if not all(type(size) is int for size in sizes):  # as a key, True equals 1
            make_block(self, element_ty, shape)
            return
        key = element_ty.name, sizes
        if key not in blocks:
            make_block(self, element_ty, shape)
            blocks[key] = self.shape, self.numel, self.name
        self.element_ty = element_ty
        self.shape, self.numel, self.name = blocks[key]

    def init_tensor(self: Any, handle: Any, type: Any) -> None:
        sizes = tuple(type.shape.values) if type.is_block() else ()
        if sizes not in shapes:
            make_tensor(self, handle, type)
            shapes[sizes] = self.shape, self.numel
        self.handle, self.type, self.dtype = handle, type, type.scalar
        self.shape, self.numel = shapes[sizes]

    interpreter._get_np_dtype = remembered_type
    core.block_type.__init__, core.tensor.__init__ = init_block, init_tensor


# Wrappers around the interpreter's methods


def _run(original: Any, kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
    """Check a kernel with Triton's compiler if requested, then launch the kernel in any case."""
    watch = launch_trace.current()
    if not watch.compiling or _frontend is None or warmup:
        return original(kernel, *args, grid=grid, warmup=warmup, **kwargs)
    with numpy_allocations.uncounted():
        refused = _frontend.refusal(kernel, args, kwargs, watch.root)
    result = original(kernel, *args, grid=grid, warmup=warmup, **kwargs)
    if refused is not None:
        watch.refuse(refused)
    return result


def _nested(original: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a jitted function from another jitted function.

    The interpreter would patch Triton's language in every nested call. This wrapper skips the
    patch if the launch has already patched the function's module.
    """
    module = id(function.fn.__globals__)
    if module in _launch.patched:
        return function.rewrite()(*args, **kwargs)
    if _launch.grid:
        _launch.patched.add(module)
    return original(function, *args, **kwargs)


def _take_arguments(original: Any, executor: Any, args: Any, kwargs: Any) -> Any:
    """Copy a launch's arguments to the host, and start a `Launch` that allows access to them."""
    global _launch
    given = [*args, *kwargs.values()]
    devices = {n: x.device.type for n, x in enumerate(given) if isinstance(x, torch.Tensor)}
    if len(set(devices.values())) > 1:
        at = next(n for n, device in devices.items() if device == "cpu")
        raise ValueError(f"Pointer argument (at {at}) cannot be accessed from Triton (cpu tensor?)")
    bare = [_bare(x) for x in args], {name: _bare(x) for name, x in kwargs.items()}
    with _disable_current_modes():  # do not count tensors that the interpreter creates
        host, host_named = original(executor, *bare)
    with numpy_allocations.uncounted():
        _launch = Launch(_tensors([*host, *host_named.values()]), launch_trace.current())
    return host, host_named


def _finish(original: Any, executor: Any, args: Any, host: Any, kwargs: Any, named: Any) -> Any:
    global _launch
    launch_trace.current().finish(_launch)
    _launch = Launch((), KernelWatch())  # releases the call's memory
    bare = {name: _bare(x) for name, x in kwargs.items()}
    with _disable_current_modes():
        return original(executor, [_bare(x) for x in args], host, bare, named)


def _bare(x: Any) -> Any:
    if isinstance(getattr(x, "base", None), ClaimedTensor):  # `x` is a tensor descriptor
        descriptor = copy.copy(x)
        descriptor.base = x.base.elem
        return descriptor
    return bare(x)


def _tensors(values: list[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        base = getattr(value, "base", value)  # unwrap Triton's tensor wrappers and descriptors
        if isinstance(base, torch.Tensor):
            yield base
        elif isinstance(value, tuple):
            yield from _tensors(list(value))


def _begin(original: Any, builder: Any, *dims: int) -> None:
    original(builder, *dims)
    _launch.begin(dims)


def _next_program(original: Any, builder: Any, *index: int) -> None:
    original(builder, *_launch.next_program(index))


def _load(
    original: Any, builder: Any, ptrs: Any, mask: Any, other: Any, *rest: Any, **named: Any
) -> Any:
    safe, inside, outside = _checked(ptrs, mask, _launch.note_load)
    result = original(builder, safe, inside, other, *rest, **named)
    if outside is not None:
        kind = _numpy_type(ptrs)
        largest = np.iinfo(kind).max if kind.kind in "iu" else True
        result.data[outside] = np.nan if kind.kind == "f" else largest
    return result


def _store(
    original: Any, builder: Any, ptrs: Any, value: Any, mask: Any, *rest: Any, **named: Any
) -> Any:
    safe, inside, _ = _checked(ptrs, mask, partial(_launch.note_store, value.data))
    return original(builder, safe, value, inside, *rest, **named)


def _checked(
    ptrs: Any, mask: Any, note: Callable[[np.ndarray, np.ndarray, int], np.ndarray | None]
) -> tuple[Any, Any, np.ndarray | None]:
    """Check the addresses of a load or store.

    Returns pointers with real addresses, the mask without lanes outside of all tensors, and a mask
    of the lanes outside of all tensors, or None if all lanes are inside.
    """
    with numpy_allocations.uncounted():
        if isinstance(mask, np.ndarray):  # Triton before 3.8 passes a plain array for descriptors
            mask = type(ptrs)(mask, import_module("triton.language").int1)
        active = mask.data.astype(bool, copy=False)
        places, active = np.broadcast_arrays(ptrs.data, active)
        outside = note(places, active, _numpy_type(ptrs).itemsize)
        safe = _in_memory(ptrs, places, outside)
    if outside is not None:
        mask = type(ptrs)(active & ~outside, mask.dtype)
    return safe, mask, outside


def _atomic(original: Any, builder: Any, *args: Any) -> Any:
    at = next(n for n, x in enumerate(args) if hasattr(x, "get_element_ty"))
    ptrs, masked = args[at], len(args) == 6  # only read-modify-write operations have a mask
    sem = args[-2].name
    with numpy_allocations.uncounted():
        mask = args[at + 2].data if masked else np.ones(ptrs.data.shape, bool)
        places, active = np.broadcast_arrays(ptrs.data, mask)
        size, releases = _numpy_type(ptrs).itemsize, "RELEASE" in sem
        outside, acquire = _launch.note_atomic(places, active, size, releases)
        changed = list(args)
        changed[at] = _in_memory(ptrs, places, outside)
    if outside is not None:
        if not masked:
            raise IndexError("an atomic operation outside of every tensor")
        changed[at + 2] = type(ptrs)(active & ~outside, args[at + 2].dtype)
    result = original(builder, *changed)
    if "ACQUIRE" not in sem or not acquire:
        return result
    handle: Any = type(result)
    return once_used(handle)(result, acquire)


def _in_memory(ptrs: Any, places: np.ndarray, outside: np.ndarray | None) -> Any:
    """Return pointers without region numbers, and with address 0 where `outside` is True."""
    plain = without_number(ptrs.data if outside is None else places)
    safe = plain if outside is None else np.where(outside, np.uint64(0), plain)
    return type(ptrs)(safe, ptrs.dtype)


def _numpy_type(ptrs: Any) -> np.dtype[Any]:
    interpreter: Any = sys.modules["triton.runtime.interpreter"]
    found: np.dtype[Any] = interpreter._get_np_dtype(ptrs.get_element_ty())
    return found
