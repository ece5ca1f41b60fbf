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

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import get_overridable_functions

from ..protocol.call_patterns import matches, plain
from .call_watch import note
from .function_hooks import hook_functions, is_hooked

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
    hook_functions(patterns, note)
    operators = {plain(name.partition("::")[2].partition(".")[0]) for name, _ in _set}
    # each notes itself, or runs an operator of its name whose kernels do
    if all(is_hooked(f) or plain(f.__name__) in operators for f in _public_functions(patterns)):
        _whole.update(patterns)


_whole: set[str] = set()  # patterns of which each public function of torch ends in a net


def hooks_cover(patterns: tuple[str, ...]) -> bool:
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
