"""Hooks below Python's names: the kernels of torch's operators report that they run.

Theory of operation. A submission can reach a library function by any name, so names are not
searched for. Every kernel whose operator a rule names (for dense, sparse, nested, quantized and
mkldnn tensors, with and without `out=`) is replaced by one that reports the call and runs the
original kernel. Kernels sit below torch's modes, so a mode that was switched off, a compiled graph
or TorchScript makes no difference. `function_hooks` does the same for functions without a kernel.

The hooks are installed once, before any student code is imported, and report to the current
watcher. They guarantee that names and aliases do not matter. They do not protect themselves against
code that attacks them: see docs/threat-model.md.
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

# Dispatch keys whose kernels torch.library returns; mkldnn tensors are converted to dense ones.
_KEYS = ("CPU", "CUDA", "SparseCPU", "SparseCsrCPU", "NestedTensorCPU", "QuantizedCPU")
_MKLDNN = "MkldnnCPU"
_COMPOSITE = "CompositeImplicitAutograd"

_set: set[tuple[str, str]] = set()
_libraries: dict[str, torch.library.Library] = {}


def install_hooks(patterns: tuple[str, ...]) -> None:
    """Hook all operators, functions and ufuncs that match a pattern."""
    if not patterns:
        return
    _replace_kernels(patterns)
    hook_functions(patterns, note)
    operators = {plain(name.partition("::")[2].partition(".")[0]) for name, _ in _set}
    # each function is hooked, or runs an operator of the same name whose kernels are hooked
    if all(is_hooked(f) or plain(f.__name__) in operators for f in _public_functions(patterns)):
        _covered.update(patterns)


_covered: set[str] = set()  # patterns whose public torch functions all reach a hook


def hooks_cover(patterns: tuple[str, ...]) -> bool:
    """Return True if every public torch function that matches a pattern reaches a hook.

    The function mode is not needed then. It costs several microseconds in every call of torch.
    """
    return _covered.issuperset(patterns)


def _public_functions(patterns: tuple[str, ...]) -> list[Any]:
    """Return the functions that a torch function mode sees and that match a pattern."""
    every = [f for some in get_overridable_functions().values() for f in some]
    return [f for f in every if matches(getattr(f, "__name__", ""), patterns)]


# Operators


def _replace_kernels(patterns: tuple[str, ...]) -> None:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    keys = [key for key in _KEYS if key != "CUDA" or torch.version.cuda]
    with warnings.catch_warnings(), _quiet_stderr():
        warnings.simplefilter("ignore")  # torch warns about replaced kernels
        for name in torch._C._dispatch_get_all_op_names():
            if not matches(name.split("::")[1].split(".")[0], patterns):
                continue
            if has(name, _COMPOSITE):
                _replace_kernel(name, _COMPOSITE)
                continue
            explicit = any(has(name, f"CompositeExplicitAutograd{s}") for s in _EXPLICIT)
            for key in keys:
                if has(name, key) or (explicit and key in _DENSE):
                    _replace_kernel(name, key)
            if has(name, _MKLDNN):
                _replace_kernel(name, _MKLDNN)


_EXPLICIT = ("", "NonFunctional")
_DENSE = ("CPU", "CUDA")


def _replace_kernel(name: str, key: str) -> None:
    if (name, key) in _set:
        return
    _set.add((name, key))
    namespace, _, operator = name.partition("::")
    base = operator.split(".")[0]
    if key == _MKLDNN:
        original: Any = _by_way_of_dense(base)
    else:
        # on CPU tensors, the composite kernel itself runs
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
    """Redirects descriptor 2 to /dev/null, because torch's C++ warnings bypass Python."""

    def __enter__(self) -> None:
        sys.stderr.flush()
        self.saved = os.dup(2)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)

    def __exit__(self, *_: object) -> None:
        os.dup2(self.saved, 2)
        os.close(self.saved)
