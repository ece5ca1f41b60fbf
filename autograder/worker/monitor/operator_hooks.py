"""Replace the kernels of torch's operators with kernels that report their calls.

Theory of operation. A submission can call a library function under any name, so searching the
source code for names is not enough. If an operator matches a rule, each of its kernels (for dense,
sparse, nested, quantized and mkldnn tensors, with and without `out=`) is replaced by a kernel that
reports the call and runs the original kernel. Because kernels run below torch's modes, the hooks
also work in compiled graphs, in TorchScript, and if modes are disabled. `function_hooks` covers
functions without a kernel.

The hooks are installed once, before any student code is imported, and report to the current
watcher. They are not protected against code that attacks them: see docs/threat-model.md.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import get_overridable_functions

from ..protocol.frames import Banned
from ..stop_location import student_line
from .function_hooks import hook_functions, is_hooked, matches, plain

# Dispatch keys that `torch.library.get_kernel` supports. It does not support mkldnn tensors.
_KEYS = ("CPU", "CUDA", "SparseCPU", "SparseCsrCPU", "NestedTensorCPU", "QuantizedCPU")
_MKLDNN = "MkldnnCPU"
_COMPOSITE = "CompositeImplicitAutograd"

_set: set[tuple[str, str]] = set()
_libraries: dict[str, torch.library.Library] = {}


class Watcher:
    """Records calls to forbidden functions in one exercise, with their lines in the submission.

    A submission may call any function during its import, for example to compare its results with
    torch's. Functions composed of other operators are an exception, because a graph that was traced
    during the import does not contain the function's name. A call of a composed function during the
    import is therefore reported with each call of an exercise that forbids the function.
    """

    def __init__(self) -> None:
        self.patterns: tuple[str, ...] = ()
        self.root = ""
        self.seen: list[Banned] = []
        self.on_import: list[Banned] = []
        self.importing = False
        self.tell: Callable[[Banned], None] = lambda banned: None

    def begin(self, patterns: tuple[str, ...], root: str, importing: bool = False) -> None:
        """Start recording calls that match these patterns, and become the current watcher."""
        global _watching
        self.patterns, self.root, self.importing = patterns, root, importing
        before = self.on_import
        self.seen = [b for b in before if matches(b.call, patterns)] if before else []
        _watching = self

    def note(self, name: str, composed: bool = False) -> None:
        """Record and report a call whose name matches a pattern, but at most one call per line."""
        if not self.patterns or (self.importing and not composed):
            return
        if matches(name, self.patterns):
            line = student_line(sys._getframe(1), self.root)
            seen = self.on_import if self.importing else self.seen
            # a recorded function may itself call other hooked functions at the same line
            known = any(b.line == line for b in seen) if line else bool(seen)
            if not known and len(seen) < 20:
                seen.append(Banned(name, line))
                self.tell(seen[-1])


_watching = Watcher()


def note(name: str, composed: bool = False) -> None:
    """Record a call in the current watcher."""
    _watching.note(name, composed)


@contextmanager
def restored_watcher() -> Iterator[None]:
    """Restore the current watcher on exit."""
    global _watching
    before = _watching
    try:
        yield
    finally:
        _watching = before


def install_hooks(patterns: tuple[str, ...]) -> None:
    """Hook all operators, Python functions and ufuncs that match a pattern."""
    if not patterns:
        return
    with warnings.catch_warnings(action="ignore"):  # torch warns about replaced kernels
        _replace_kernels(patterns)
    hook_functions(patterns, note)
    operators = {plain(name.partition("::")[2].partition(".")[0]) for name, _ in _set}
    public = (f for some in get_overridable_functions().values() for f in some)
    forbidden = (f for f in public if matches(getattr(f, "__name__", ""), patterns))
    # Calls of a public function are reported if it, or an operator of the same name, is hooked.
    if all(is_hooked(f) or plain(f.__name__) in operators for f in forbidden):
        _covered.update(patterns)


_covered: set[str] = set()  # patterns for which every matching public torch function has a hook


def hooks_cover(patterns: tuple[str, ...]) -> bool:
    """Return True if a hook reports every public torch function that matches a pattern.

    If so, the function mode, which adds several microseconds to each torch call, is not needed.
    """
    return _covered.issuperset(patterns)


def _replace_kernels(patterns: tuple[str, ...]) -> None:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    keys = [key for key in _KEYS if key != "CUDA" or torch.version.cuda]
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
        if has(name, _MKLDNN) and name.startswith("aten::"):
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
        # for CPU tensors, the kernel for AutogradCPU is the composite kernel
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
