"""Triton's kernels, run by its interpreter: whatever they touch is looked at first.

Theory of operation. With `TRITON_INTERPRET=1` a kernel runs as Python: one program after the other,
on the CPU, and every load and store hands raw addresses to C. Three things go well there that a GPU
does not forgive, and they are made to show:

- An address outside of every tensor that the launch was given is not touched. What is read there is
  NaN (or the largest integer), what is written is lost, and both are noted. An element counts as
  inside only if it belongs to the view that was handed over, not merely to its memory.
- Programs run in whatever order is asked for, and accesses of different programs that race on a GPU
  are counted (`races.py`).
- A pointer to another device than the other pointers' is refused, as a driver refuses it.

`setup` takes the place of a few methods of the interpreter, once in a process, before any student
code exists. Nothing is noted unless a `KernelWatch` is on; no address is touched blindly anyway.
Like all counting, what is noted is the submission's word: see docs/threat-model.md.
"""

from __future__ import annotations

import copy
import io
import operator
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module  # triton is an extra, and may be missing
from typing import Any

import msgspec
import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..monitor import numpy_allocations
from ..protocol import frames
from ..torch_support.fake_device import ClaimedTensor
from . import interpreter_fixes, reachability
from .compile_check import Frontend, interpreted
from .hidden_inputs import Withheld
from .launch_trace import Launch, Region, bare
from .races import once_used

# The operators of torch that make a tensor, copy it or look at it, and compute nothing.
_MAKING = {
    *("empty", "empty_strided", "empty_like", "empty_permuted", "new_empty", "new_empty_strided"),
    *("zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "arange"),
    *("full", "full_like", "new_full", "scalar_tensor", "fill", "zero", "clone", "copy", "to_copy"),
    *("set", "resize", "alias", "detach", "lift_fresh", "pad", "constant_pad_nd", "cat", "stack"),
}
_MOST_LAUNCHES = 64
_NUMBERS = 256  # of NumPy's, that a wrapper may make around its kernels

_watch: KernelWatch | None = None
_launch: Launch | None = None
_frontend: Frontend | None = None
_codes: tuple[types.CodeType, types.CodeType] | None = None  # of a launch in Triton's interpreter


class _Nowhere(io.TextIOBase):
    """Where a kernel prints to that finds the numbers of a call."""

    def write(self, text: str) -> int:
        return len(text)


class KernelWatch:
    """What the kernels of one call do.

    order:    a seed for the order of programs, if any
    withheld: the numbers of its arguments, if only kernels may see them
    trusted:  project code, which changes nothing of Triton's: what the interpreter itself leaves
              behind is put back, and no more
    asking:   the compiler of a GPU about each launch, which takes longer than to run a small one
    """

    def __init__(
        self,
        root: str,
        order: int | None,
        noting: bool,
        withheld: Withheld | None = None,
        trusted: bool = False,
        asking: bool = False,
    ) -> None:
        self.root, self.order, self.noting, self.withheld = root, order, noting, withheld
        self.trusted, self.asking = trusted, asking
        self.launches: list[frames.LaunchCounts] = []
        self.failed = False  # a kernel that had been shown the numbers
        self.arrays = 0  # numbers that the interpreter made in NumPy
        self._quiet: AbstractContextManager[None] | None = None
        self._printed: tuple[Any, Any] = sys.stdout, sys.stderr

    @property
    def shows(self) -> bool:
        """Whether the numbers are in memory now."""
        return self._quiet is not None

    def begin(self, regions: Iterable[Region]) -> None:
        """The programs of a kernel that keeps to itself begin: it finds the numbers."""
        if self.withheld is None or self.failed or self.shows:
            return
        self._printed = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = _Nowhere()  # a kernel may print what it finds
        self._quiet = interpreter_fixes.quiet()
        self._quiet.__enter__()
        with numpy_allocations.uncounted():
            self.withheld.reveal(regions)

    def end(self, failed: bool = False) -> None:
        """They are through, or one of them failed."""
        if self.withheld is None or self._quiet is None:
            return
        with numpy_allocations.uncounted():
            self.withheld.withhold()
        quiet, self._quiet = self._quiet, None
        self.failed = failed
        sys.stdout, sys.stderr = self._printed
        quiet.__exit__(None, None, None)

    def added_to(self, counts: frames.Counts, operators: set[str], numbers: int) -> frames.Counts:
        """With the launches, and what computed beside them: torch's operators by name, and NumPy.

        `numbers`: how many NumPy made in the whole call
        """
        names = {name.strip("_") for name in operators} - _MAKING
        if numbers - self.arrays > _NUMBERS:
            names.add("numpy")
        computed = tuple(sorted(name[:60] for name in names)[:20])
        return msgspec.structs.replace(counts, launches=tuple(self.launches), computed=computed)


@contextmanager
def watching(
    root: str,
    order: int | None,
    noting: bool,
    withheld: Withheld | None = None,
    trusted: bool = False,
    asking: bool = False,
) -> Iterator[KernelWatch]:
    """While a call runs. Memory that is asked for and not written to holds NaN, as it well may."""
    global _watch
    before, _watch = _watch, KernelWatch(root, order, noting, withheld, trusted, asking)
    mode = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("warn")  # which fills it
    try:
        yield _watch
    finally:
        _watch = before
        torch.set_deterministic_debug_mode(mode)


def concern(module: object) -> bool:
    """Return whether a submission's module may launch kernels."""
    if _frontend is None:
        return False
    for value in vars(module).values():
        own = value.__name__ if isinstance(value, types.ModuleType) else type(value).__module__
        if own.partition(".")[0] == "triton":
            return True
    return False


def remember() -> None:
    """Before a submission is imported: Triton as it is."""
    if _frontend is not None:
        interpreter_fixes.remember()
        reachability.remember()


def inner(error: BaseException) -> BaseException:
    """What went wrong in a kernel, without what the interpreter wraps around it."""
    while error.__cause__ is not None and type(error).__module__.startswith("triton."):
        error = error.__cause__
    return error


def setup() -> None:
    """Import triton for its interpreter, and look over the interpreter's shoulder."""
    global _frontend, _codes
    if _frontend is not None:
        return
    os.environ["TRITON_INTERPRET"] = "1"
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # else it warns
    import_module("triton")
    for name in ("triton.language.extra.libdevice", "triton.tools.tensor_descriptor"):
        import_module(name)  # a submission may: what is there before it is Triton's own
    interpreted()
    _frontend = Frontend()
    interpreter: Any = import_module("triton.runtime.interpreter")
    builder, executor = interpreter.InterpreterBuilder, interpreter.GridExecutor
    _codes = executor.__call__.__code__, interpreter.InterpretedFunction.run.__code__
    _wrap(builder, "create_masked_load", _load)
    _wrap(builder, "create_masked_store", _store)
    _wrap(builder, "create_atomic_rmw", _atomic)
    _wrap(builder, "create_atomic_cas", _atomic)
    _wrap(builder, "set_grid_dim", _begin)
    _wrap(builder, "set_grid_idx", _choose)
    _wrap(executor, "_init_args_hst", _hand_over)
    _wrap(executor, "_restore_args_dev", _give_back)
    _number_addresses(interpreter)
    _wrap(interpreter.InterpretedFunction, "run", _run)
    _wrap(interpreter.InterpretedFunction, "__call__", _nested)
    # Whether integers overflow is asked of every operation, and takes a third of the time.
    plain = interpreter.InterpreterOptions(sanitize_overflow=False)
    interpreter.interpreter_builder.options = plain


def _wrap(owner: type, name: str, around: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return around(original, self, *args, **kwargs)

    setattr(owner, name, method)


def _number_addresses(interpreter: Any) -> None:
    """The address that a kernel is given for a tensor bears the number of its memory."""
    original = interpreter._implicit_cvt

    def converted(arg: Any) -> Any:
        result = original(arg)
        if _launch is not None and hasattr(arg, "data_ptr"):
            base = getattr(arg, "base", arg)  # of a wrapped tensor
            result.handle.data |= _launch.numbered(base)
        return result

    interpreter._implicit_cvt = converted


# In the place of the interpreter's methods


def _run(original: Any, kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
    """A launch: it runs, once the compiler of a GPU was asked about the kernel, if it is asked."""
    if _watch is not None and _watch.withheld is not None and not warmup:
        return _run_alone(original, kernel, args, grid, kwargs)
    if _watch is None or not _watch.asking or _frontend is None or warmup:
        return original(kernel, *args, grid=grid, warmup=warmup, **kwargs)
    with numpy_allocations.uncounted():
        refused = _frontend.refusal(kernel, args, kwargs, _watch.root)
    result = original(kernel, *args, grid=grid, warmup=warmup, **kwargs)
    if refused is not None and _watch.launches:
        _watch.launches[-1] = msgspec.structs.replace(_watch.launches[-1], refused=refused)
    return result


def _run_alone(original: Any, kernel: Any, args: Any, grid: Any, kwargs: dict[str, Any]) -> Any:
    """A launch that may find the numbers, if nothing but the kernel can look at them."""
    assert _watch is not None
    with numpy_allocations.uncounted():
        args, kwargs = reachability.bared(kernel, args, kwargs)
    reachability.text_of(kernel)  # now, and not after Triton was put back
    put_back = interpreter_fixes.put_out if _watch.trusted else interpreter_fixes.put_back
    put_back()
    try:
        return original(kernel, *args, grid=_counted(grid), warmup=False, **kwargs)
    except Exception as error:
        shown = _watch.shows
        _watch.end(failed=True)
        if shown:
            raise _without_numbers(error) from None
        raise
    finally:
        _watch.end()
        interpreter_fixes.put_out()


def _counted(grid: Any) -> Any:
    """A grid of plain numbers, which ask nobody when they are used."""
    if callable(grid):
        return lambda meta: _counted(grid(meta))
    if not isinstance(grid, tuple):
        return grid
    return tuple(int(operator.index(n)) for n in grid)


def _without_numbers(error: Exception) -> Exception:
    """What went wrong in a kernel, as far as Triton says it: a text of the kernel's own may tell
    what it found, and so may what it left behind."""
    error = inner(error)  # type: ignore[assignment]
    own, where = True, error.__traceback__
    for frame, _ in traceback.walk_tb(where):
        library = str(frame.f_globals.get("__name__", "")).partition(".")[0] in ("triton", "numpy")
        own = not library or "assert" in frame.f_code.co_name
    message = "" if own else "".join("?" if c.isdigit() else c for c in str(error))
    traceback.clear_frames(where)
    kind = type(error) if type(error).__module__ == "builtins" else RuntimeError
    try:
        plain = kind(message)
    except TypeError:  # it wants more than a text
        plain = RuntimeError(message)
    return plain.with_traceback(where)


def _nested(original: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of one jitted function by another.

    The interpreter goes through all of Triton's language each time; for what lies in one module
    once in a launch is enough.
    """
    module = id(function.fn.__globals__)
    if _launch is None or module not in _launch.patched:
        if _launch is not None:
            _launch.patched.add(module)
        return original(function, *args, **kwargs)
    return function.rewrite()(*args, **kwargs)


def _hand_over(original: Any, executor: Any, args: Any, kwargs: Any) -> Any:
    """The arguments on the host; from here on their memory, and no other, may be touched."""
    global _launch
    given = [*args, *kwargs.values()]
    devices = {x.device.type for x in given if isinstance(x, torch.Tensor)}
    if len(devices) > 1:
        at = next(n for n, x in enumerate(given) if _on_cpu(x))
        raise ValueError(f"Pointer argument (at {at}) cannot be accessed from Triton (cpu tensor?)")
    bare = [_bare(x) for x in args], {name: _bare(x) for name, x in kwargs.items()}
    with _disable_current_modes():  # what the interpreter makes of memory is nobody's tensor
        host, host_named = original(executor, *bare)
    with numpy_allocations.uncounted():
        tensors = list(_tensors([*host, *host_named.values()]))
        if _watch is None:
            _launch = Launch(tensors, "", None, noting=False)
        else:
            _launch = Launch(tensors, _watch.root, _watch.order, _watch.noting)
    return host, host_named


def _give_back(original: Any, executor: Any, args: Any, host: Any, kwargs: Any, named: Any) -> Any:
    global _launch
    launch, _launch = _launch, None
    if _watch is not None and launch is not None:
        _watch.end()
        _watch.arrays += numpy_allocations.made_so_far() - launch.arrays
        if _watch.noting and len(_watch.launches) < _MOST_LAUNCHES:
            with numpy_allocations.uncounted():
                _watch.launches.append(launch.told())
    bare = {name: _bare(x) for name, x in kwargs.items()}
    with _disable_current_modes():
        return original(executor, [_bare(x) for x in args], host, bare, named)


def _on_cpu(x: object) -> bool:
    return isinstance(x, torch.Tensor) and x.device.type == "cpu"


def _bare(x: Any) -> Any:
    if isinstance(getattr(x, "base", None), ClaimedTensor):  # a descriptor's
        descriptor = copy.copy(x)
        descriptor.base = x.base.elem
        return descriptor
    return x.elem if isinstance(x, ClaimedTensor) else x


def _tensors(values: list[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        base = getattr(value, "base", value)  # of a wrapped tensor, or of a descriptor
        if isinstance(base, torch.Tensor):
            yield base
        elif isinstance(value, tuple):
            yield from _tensors(list(value))


def _begin(original: Any, builder: Any, *dims: int) -> None:
    original(builder, *dims)
    if _launch is not None:
        _launch.begin(dims)
        if _watch is not None and _watch.withheld is not None:
            launch = sys._getframe(2)
            grid = getattr(launch.f_locals.get("self"), "grid", None)
            asked = not _watch.trusted and type(grid) is not tuple
            interpreter_fixes.put_back_for_a_kernel(everything=asked)
            with numpy_allocations.uncounted():
                alone = _keeps_to_itself(launch)
            if alone:
                _watch.begin(_launch.regions.values())


def _keeps_to_itself(launch: types.FrameType) -> bool:
    """Whether this is a launch as Triton's interpreter makes it, of a kernel that tells nobody.

    The grid's own function and every hook are through.
    """
    interpreter = sys.modules["triton.runtime.interpreter"]
    run = launch.f_back
    ours = run.f_back if run is not None else None
    if run is None or ours is None or (launch.f_code, run.f_code) != _codes:
        return False
    theirs = vars(interpreter)
    if launch.f_globals is not theirs or run.f_globals is not theirs:
        return False
    if ours.f_code is not _run_alone.__code__ or ours.f_globals is not globals():
        return False
    executor, grid = launch.f_locals["self"], launch.f_locals["grid"]
    given = launch.f_locals["args_dev"], launch.f_locals["kwargs"]
    plain = type(grid) is tuple and all(type(n) is int for n in grid)
    own = type(executor) is theirs["GridExecutor"] and not executor.pre_run_hooks
    return (
        plain and own and not reachability.reaches_out(ours.f_locals["kernel"], executor.fn, *given)
    )


def _choose(original: Any, builder: Any, *index: int) -> None:
    """The next program; which one it is, the order decides."""
    if _launch is None:
        original(builder, *index)
    else:
        original(builder, *_launch.next_program(index))


def _load(
    original: Any, builder: Any, ptrs: Any, mask: Any, other: Any, *rest: Any, **named: Any
) -> Any:
    if _launch is None:
        return original(builder, ptrs, mask, other, *rest, **named)
    kind = _numpy_type(ptrs)
    with numpy_allocations.uncounted():
        mask = _held(mask)
        places, active = _together(ptrs.data, mask.data)
        outside = _launch.note_load(places, active, kind.itemsize)
        safe = _in_memory(ptrs, places, outside)
    if outside is None:
        return original(builder, safe, mask, other, *rest, **named)
    handle = type(ptrs)
    result = original(builder, safe, handle(active & ~outside, mask.dtype), other, *rest, **named)
    largest = np.iinfo(kind).max if kind.kind in "iu" else True
    result.data[outside] = np.nan if kind.kind == "f" else largest
    return result


def _store(
    original: Any, builder: Any, ptrs: Any, value: Any, mask: Any, *rest: Any, **named: Any
) -> Any:
    if _launch is None:
        return original(builder, ptrs, value, mask, *rest, **named)
    with numpy_allocations.uncounted():
        mask = _held(mask)
        places, active = _together(ptrs.data, mask.data)
        outside = _launch.note_store(places, active, _numpy_type(ptrs).itemsize, value.data)
        safe = _in_memory(ptrs, places, outside)
    if outside is None:
        return original(builder, safe, value, mask, *rest, **named)
    handle = type(ptrs)
    return original(builder, safe, value, handle(active & ~outside, mask.dtype), *rest, **named)


def _atomic(original: Any, builder: Any, *args: Any) -> Any:
    """An atomic operation, which may order what its program does and what others do."""
    if _launch is None:
        return original(builder, *args)
    at = next(n for n, x in enumerate(args) if hasattr(x, "get_element_ty"))
    ptrs, masked = args[at], len(args) == 6  # a read-modify-write; a compare-and-swap has no mask
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
    """The pointers as they are in memory; those that lead out of every tensor lead nowhere."""
    safe = bare(ptrs.data) if outside is None else np.where(outside, np.uint64(0), bare(places))
    return type(ptrs)(safe, ptrs.dtype)


def _together(places: Any, active: Any) -> Any:
    """Both in one shape, which most have; NumPy would take its time to find that."""
    active = active.astype(bool, copy=False)
    same = places.shape == active.shape
    return (places, active) if same else np.broadcast_arrays(places, active)


def _held(mask: Any) -> Any:
    """A mask as the interpreter holds numbers; before 3.8, descriptors gave a bare array."""
    if not isinstance(mask, np.ndarray):
        return mask
    interpreter: Any = sys.modules["triton.runtime.interpreter"]
    return interpreter.TensorHandle(mask, import_module("triton.language").int1)


def _numpy_type(ptrs: Any) -> np.dtype[Any]:
    interpreter: Any = sys.modules["triton.runtime.interpreter"]
    found: np.dtype[Any] = interpreter._get_np_dtype(ptrs.get_element_ty())
    return found
