"""The nets below Python's names: operators, torch's functions in Python, numpy's and scipy's.

Theory of operation. A submission may spell a library's function in any way, so its name is not
looked for: what would run is made to say that it runs.

- Operators: every kernel (of dense, sparse, nested, quantized and mkldnn tensors, with and without
  `out=`) whose operator a rule names is replaced by one that notes the call and goes on with the
  kernel that was there. They sit below torch's modes, so a mode that was switched off, a compiled
  graph or TorchScript changes nothing.
- Functions in Python have no kernel: `functions.py` replaces their code.
- numpy's ufuncs are replaced in every module that names them.

The nets are set once, before any student code is imported, and note for the watcher that is on.
What they promise is that no name and no alias matters. Code that goes for the nets themselves is
another matter; see docs/threat-model.md.
"""

from __future__ import annotations

import inspect
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.overrides import get_overridable_functions

from .functions import all_patterns, is_replaced, watch_functions
from .names import UFUNCS, matches, plain
from .watch import note

# The keys of kernels that torch.library can hand out; mkldnn's is computed by way of dense ones.
_KEYS = ("CPU", "CUDA", "SparseCPU", "SparseCsrCPU", "NestedTensorCPU", "QuantizedCPU")
_MKLDNN = "MkldnnCPU"
_COMPOSITE = "CompositeImplicitAutograd"

_set: set[tuple[str, str]] = set()
_libraries: dict[str, torch.library.Library] = {}


def set_nets(patterns: tuple[str, ...]) -> None:
    """Put the nets under everything that one of the patterns names."""
    if not patterns:
        return
    _replace_kernels(patterns)
    _replace_ufuncs(patterns)
    watch_functions(patterns, note, on_import=_replace_in)
    operators = {plain(name.partition("::")[2].partition(".")[0]) for name, _ in _set}
    # each notes itself, or runs an operator of its name whose kernels do
    if all(is_replaced(f) or plain(f.__name__) in operators for f in _public_functions(patterns)):
        _whole.update(patterns)


_whole: set[str] = set()  # patterns of which each public function of torch ends in a net


def hold_all(patterns: tuple[str, ...]) -> bool:
    """Return whether no public function of torch that a pattern names goes past the nets.

    Then nothing is left for a mode above them, which would cost several microseconds at every call
    of torch's.
    """
    return _whole.issuperset(patterns)


def _public_functions(patterns: tuple[str, ...]) -> list[Any]:
    """What a function mode of torch's is told of, and a pattern names."""
    every = [f for some in get_overridable_functions().values() for f in some]
    return [f for f in every if matches(getattr(f, "__name__", ""), patterns)]


# Operators


def _replace_kernels(patterns: tuple[str, ...]) -> None:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    with warnings.catch_warnings(), _quiet_stderr():
        warnings.simplefilter("ignore")  # overriding is the point
        for name in torch._C._dispatch_get_all_op_names():
            if not matches(name.split("::")[1].split(".")[0], patterns):
                continue
            if has(name, _COMPOSITE):
                _replace_kernel(name, _COMPOSITE)
                continue
            explicit = any(has(name, f"CompositeExplicitAutograd{s}") for s in _EXPLICIT)
            for key in _KEYS:
                if (has(name, key) or (explicit and key in _DENSE)) and key in _present_keys():
                    _replace_kernel(name, key)
            if has(name, _MKLDNN):
                _replace_kernel(name, _MKLDNN)


_EXPLICIT = ("", "NonFunctional")
_DENSE = ("CPU", "CUDA")


def _present_keys() -> tuple[str, ...]:
    return _KEYS if torch.version.cuda else tuple(k for k in _KEYS if k != "CUDA")


def _replace_kernel(name: str, key: str) -> None:
    if (name, key) in _set:
        return
    _set.add((name, key))
    namespace, _, operator = name.partition("::")
    base = operator.split(".")[0]
    if key == _MKLDNN:
        original: Any = _by_way_of_dense(base)
    else:
        # what is computed for CPU tensors is the composite kernel itself
        found = torch.library.get_kernel(name, "AutogradCPU" if key == _COMPOSITE else key)
        original = found.call_boxed

    def kernel(keys: Any, /, *args: Any, **kwargs: Any) -> Any:
        note(base)
        return original(keys, *args, **kwargs)

    if namespace not in _libraries:
        _libraries[namespace] = torch.library.Library(namespace, "IMPL")
    _libraries[namespace].impl(operator, kernel, key, with_keyset=True)


def _by_way_of_dense(name: str) -> Callable[..., Any]:
    packet = getattr(torch.ops.aten, name)

    def compute(keys: Any, x: torch.Tensor, /, *args: Any, **kwargs: Any) -> Any:
        return packet(x.to_dense(), *args, **kwargs).to_mkldnn()

    return compute


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


# numpy's ufuncs


class _NotedUfunc:
    """A ufunc that notes its use, its methods included."""

    def __init__(self, ufunc: np.ufunc, name: str) -> None:
        self.__name__ = name
        self.__doc__ = ufunc.__doc__
        _ufuncs[self] = ufunc

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._apply(_ufuncs[self], args, kwargs)

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(_ufuncs[self], attribute)
        if not callable(value):
            return value

        def method(*args: Any, **kwargs: Any) -> Any:
            return self._apply(value, args, kwargs)

        return method

    def _apply(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note it, and see to it that nobody is handed the bare ufunc: no argument, no error."""
        note(self.__name__)
        try:
            return function(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()})
        except TypeError as error:
            if hasattr(error, "ufunc"):
                error.ufunc = self
            raise


def _plain(value: Any) -> Any:
    """An argument of a ufunc; as a plain array where its type would be told which ufunc it is."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    for hook in ("__array_ufunc__", "__array_wrap__"):
        own = inspect.getattr_static(type(value), hook, None)
        if (
            own is not None
            and own is not vars(np.ndarray)[hook]
            and own is not vars(np.generic).get(hook)
        ):
            return np.asarray(value)
    return value


_ufuncs: dict[_NotedUfunc, np.ufunc] = {}


def _replace_ufuncs(patterns: tuple[str, ...]) -> None:
    known = {u.__name__ for u in _ufuncs}
    for name in UFUNCS:
        if matches(name, patterns) and name not in known:
            _NotedUfunc(getattr(np, name), name)
    for module in list(sys.modules.values()) if _ufuncs else ():
        _replace_in(module)


def _replace_in(module: types.ModuleType | None) -> None:
    """Put the noting ones in the place of numpy's own in a module of numpy's or scipy's."""
    if getattr(module, "__name__", "").partition(".")[0] in ("numpy", "scipy"):
        for noted, ufunc in _ufuncs.items():
            if vars(module).get(noted.__name__) is ufunc:
                setattr(module, noted.__name__, noted)


@contextmanager
def module_nets_down() -> Iterator[None]:
    """While libraries are imported: some register loops with numpy's functions, as they are.

    A process that grades several weeks has the nets of the earlier ones up.
    """
    up = []
    for module in list(sys.modules.values()):
        for noted, ufunc in _ufuncs.items():
            if getattr(module, "__dict__", {}).get(noted.__name__) is noted:
                setattr(module, noted.__name__, ufunc)
                up.append((module, noted))
    try:
        yield
    finally:
        for module, noted in up:
            setattr(module, noted.__name__, noted)


__all__ = ["all_patterns", "hold_all", "module_nets_down", "set_nets"]
