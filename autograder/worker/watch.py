"""Seeing a call that is not allowed, whatever alias it goes by, and counting work.

Three nets, from the top down:
- a torch function mode sees every public torch function by name;
- the kernels of the watched operators are replaced by ones that note the call and then compute
  it by decomposition. They sit below the modes, so a mode that was switched off or popped, a
  compiled string or an operator's packet changes nothing;
- numpy's and scipy's functions are wrapped where they live.
A thread would be outside the second net's stack only in naming the line; in the sandbox no thread
can be made. The nets are set once, before any student code is imported.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from .names import matches
from .wire import Banned

# Operators whose kernels are replaced where a rule matches their name; those of _DECOMPOSED below
# are computed in another way, these are refused.
_SDPA = (
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_fused_attention_overrideable",
)
_MODULES = {
    "numpy": ("logaddexp", "logaddexp2"),
    "scipy.special": ("softmax", "log_softmax", "logsumexp"),
}


class Watcher:
    """Notes the calls of one exercise that match its patterns, with the student's line."""

    def __init__(self) -> None:
        self.patterns: tuple[str, ...] = ()
        self.root = ""
        self.seen: list[Banned] = []

    def begin(self, patterns: tuple[str, ...], root: str) -> None:
        """Watch for these from now on; the nets report to the watcher that began last."""
        global _watching
        self.patterns, self.root, self.seen = patterns, root, []
        _watching = self

    def note(self, name: str) -> None:
        """Note a call by its base name, where a pattern matches."""
        if self.patterns and matches(name, self.patterns):
            banned = Banned(name, student_line(sys._getframe(1), self.root)[0])
            if banned not in self.seen and len(self.seen) < 20:
                self.seen.append(banned)


_watching = Watcher()
_libraries: dict[str, torch.library.Library] = {}


def set_nets(patterns: tuple[str, ...]) -> None:
    """Put the kernel and module nets under every operator that one of the patterns names."""
    for name in (*_DECOMPOSED, *_SDPA):
        if matches(name, patterns) and name not in _libraries:
            _replace_kernel(name, _DECOMPOSED.get(name))
    for module_name, names in _MODULES.items():
        wanted = [n for n in names if matches(n, patterns)]
        if wanted:
            _wrap_module(module_name, wanted)


def _replace_kernel(name: str, compute: Callable[..., Any] | None) -> None:
    if not hasattr(torch.ops.aten, name):
        return

    def kernel(*args: Any, **kwargs: Any) -> Any:
        _watching.note(name)
        if compute is not None:
            return compute(*args, **kwargs)
        raise NotImplementedError(f"{name} is not allowed in this exercise")

    library = _libraries[name] = torch.library.Library("aten", "IMPL")
    keys = ["CPU", "CUDA"] if compute else ["CPU" if name.endswith("cpu") else "CUDA"]
    with warnings.catch_warnings(), _quiet_stderr():
        warnings.simplefilter("ignore")  # overriding is the point
        for key in keys:
            if key == "CPU" or torch.version.cuda:
                library.impl(name, kernel, key)


def _wrap_module(module_name: str, names: list[str]) -> None:
    try:
        module = importlib.import_module(module_name)
    except ImportError:
        return
    for name in names:
        function = getattr(module, name)
        if not isinstance(function, _Noted):
            setattr(module, name, _Noted(function, name))


@contextmanager
def module_nets_down() -> Iterator[None]:
    """While libraries are imported: some register loops with numpy's functions, which _Noted hides.

    A process that grades several weeks has the nets of the earlier ones up.
    """
    up = []
    for module_name, names in _MODULES.items():
        module = sys.modules.get(module_name)
        for name in names:
            function = getattr(module, name, None)
            if isinstance(function, _Noted):
                setattr(module, name, function.__wrapped__)
                up.append((module, name, function))
    try:
        yield
    finally:
        for module, name, function in up:
            setattr(module, name, function)


class _Noted:
    """A numpy or scipy function that notes its use; ufunc methods included."""

    def __init__(self, function: Any, name: str) -> None:
        self.__wrapped__ = function
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _watching.note(self._name)
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self.__wrapped__, attribute)
        return _Noted(value, self._name) if callable(value) else value


class FunctionNet(TorchFunctionMode):
    """Sees torch functions by their public name."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self.watcher = watcher

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if matches(name, self.watcher.patterns):
            self.watcher.note(name)
        return func(*args, **kwargs) if kwargs else func(*args)


class Counting(TorchDispatchMode):
    """Counts floating-point operations and the largest tensor that is made.

    A matrix product counts 2·m·n·k (torch's own registry); any other operation that makes a new
    tensor counts one per element. Views make nothing; writing into a tensor is work, but makes no
    tensor of its size. `kept` tells how many elements live on
    beside the results: what a forward pass keeps for its backward, in whatever way.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own
        self.flops = self.largest = self.ops = 0
        self._alive: dict[int, _Kept] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here; to skip the compiler, torch would import it first."""
        return False

    def kept(self, results: list[torch.Tensor]) -> int:
        """Elements made so far that are alive and belong to none of the results."""
        own = {t.untyped_storage()._cdata for t in results}
        return sum(kept.size for storage, kept in self._alive.items() if storage not in own)

    def _note(self, tensor: torch.Tensor, size: int) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in self._alive:
            kept = self._alive[key] = _Kept(storage, self._forget)
            kept.key, kept.size = key, size

    def _forget(self, kept: _Kept) -> None:
        del self._alive[kept.key]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        there = _largest_of(args, kwargs) if func._schema.is_mutable else 0
        result = func(*args, **kwargs)
        if not func.is_view:
            made = 0
            for tensor in _tensors(result):
                size = tensor.numel()
                made = max(made, size)
                self._note(tensor, size)
            if made > there:  # what is written in place was there before
                self.largest = max(self.largest, made)
            self.ops += 1
            formula = flop_registry.get(func.overloadpacket)
            self.flops += _flops(formula, args, kwargs, result) if formula else made
        return result


def _largest_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Elements of the largest tensor that a call was given."""
    return max((t.numel() for t in _tensors([*args, *kwargs.values()])), default=0)


class _Kept(weakref.ref[Any]):
    """A storage that lives on, and how many elements it was made with."""

    __slots__ = ("key", "size")
    key: int
    size: int


def _flops(formula: Any, args: Any, kwargs: Any, result: Any) -> int:
    """What torch's formula says; its wrapper searches all arguments for tensors, at any depth."""
    bare = getattr(formula, "__wrapped__", None)
    if bare is None or not isinstance(result, torch.Tensor):
        return int(formula(*args, **kwargs, out_val=result))
    shapes = [a.shape if isinstance(a, torch.Tensor) else a for a in args]
    return int(bare(*shapes, **kwargs, out_shape=result.shape))


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in _tensors(v)]
    return []


def student_line(frame: Any, root: str) -> tuple[int | None, str | None]:
    """Line and function of the innermost frame whose file lies in the submission."""
    while frame is not None:
        if root and frame.f_code.co_filename.startswith(root + os.sep):
            return frame.f_lineno, frame.f_code.co_name
        frame = frame.f_back
    return None, None


def _upcast(x: torch.Tensor, half_to_float: bool) -> tuple[torch.Tensor, torch.dtype]:
    """Halves are computed in float32, as torch's own kernels do."""
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return wide, wide.dtype if half_to_float else x.dtype


def _softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    wide, dtype = _upcast(x, half_to_float)
    if x.numel() == 0:
        return x.clone()
    e = torch.exp(wide - wide.amax(dim, keepdim=True))
    return (e / e.sum(dim, keepdim=True)).to(dtype)


def _log_softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    wide, dtype = _upcast(x, half_to_float)
    if x.numel() == 0:
        return x.clone()
    shifted = wide - wide.amax(dim, keepdim=True)
    return (shifted - shifted.exp().sum(dim, keepdim=True).log()).to(dtype)


def _logaddexp(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    top = torch.maximum(x, y)
    return top + torch.log(torch.exp(x - top) + torch.exp(y - top))


def _logaddexp2(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    top = torch.maximum(x, y)
    return top + torch.log2(torch.exp2(x - top) + torch.exp2(y - top))


_DECOMPOSED: dict[str, Callable[..., Any]] = {
    "_softmax": _softmax,
    "_log_softmax": _log_softmax,
    "logaddexp": _logaddexp,
    "logaddexp2": _logaddexp2,
}


class _quiet_stderr:
    """Descriptor 2 to nowhere: torch's C++ warnings do not go through Python."""

    def __enter__(self) -> None:
        sys.stderr.flush()
        self.saved = os.dup(2)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)

    def __exit__(self, *_: object) -> None:
        os.dup2(self.saved, 2)
        os.close(self.saved)


__all__ = [
    "Counting",
    "FunctionNet",
    "Watcher",
    "matches",
    "module_nets_down",
    "set_nets",
    "student_line",
]
