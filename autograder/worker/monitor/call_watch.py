"""Record forbidden calls with the student's line, and count the work of a call.

The hooks of `operator_hooks` and `function_hooks` report to the current `Watcher`. If they do not
cover a rule, a torch function mode also reports public torch functions by name.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..protocol.call_patterns import matches
from ..protocol.frames import Banned, Counts, LaunchCounts
from ..torch_support.tensors import tensors_in
from .numpy_allocations import ArrayCount


class Watcher:
    """Records the calls of one exercise that match its patterns, with the student's line.

    A module may call anything while it is imported, for example to test itself against torch.
    The exception is a function that is composed of other operators, because a trace made at import
    no longer contains its name. Its calls at import are reported with the calls that follow.
    """

    def __init__(self) -> None:
        self.patterns: tuple[str, ...] = ()
        self.root = ""
        self.seen: list[Banned] = []
        self.on_import: list[Banned] = []
        self.importing = False
        self.tell: Callable[[Banned], None] = lambda banned: None

    def begin(self, patterns: tuple[str, ...], root: str, importing: bool = False) -> None:
        """Watch for these patterns; hooks report to the watcher that began last."""
        global _watching
        self.patterns, self.root, self.importing = patterns, root, importing
        before = self.on_import
        self.seen = [b for b in before if matches(b.call, patterns)] if before else []
        _watching = self

    def note(self, name: str, composed: bool = False) -> None:
        """Record a call by its base name if a pattern matches."""
        if not self.patterns or (self.importing and not composed):
            return
        if matches(name, self.patterns):
            line = student_line(sys._getframe(1), self.root)
            seen = self.on_import if self.importing else self.seen
            # a recorded call may itself call hooked functions
            known = any(b.line == line for b in seen) if line else bool(seen)
            if not known and len(seen) < 20:
                seen.append(Banned(name, line))
                self.tell(seen[-1])


_watching = Watcher()


def note(name: str, composed: bool = False) -> None:
    """Record a call in the current watcher."""
    _watching.note(name, composed)


def watching() -> Watcher:
    """Return the current watcher."""
    return _watching


def restore_watcher(watcher: Watcher) -> None:
    """Make an earlier watcher the current one again."""
    global _watching
    _watching = watcher


class Counting(TorchDispatchMode):
    """Counts floating-point operations and the size of the largest new tensor.

    A matrix product counts 2·m·n·k (torch's registry); any other operation that makes a tensor
    counts one per element. Views are not counted. Writing into a tensor is work but makes no new
    tensor, and writing at indices counts the elements written. `kept` is the number of elements
    that stay alive in addition to the results, such as those saved for a backward pass. NumPy
    arrays count like tensors: one operation per array and one per element.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own
        self.flops = self.largest = self.ops = 0
        self._alive = weakref.WeakKeyDictionary[Any, int]()  # storages and their elements
        self._arrays = ArrayCount()

    def __enter__(self) -> Counting:
        super().__enter__()  # type: ignore[no-untyped-call]  # torch's own
        self._arrays.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._arrays.__exit__()
        super().__exit__(*error)  # type: ignore[no-untyped-call]  # torch's own

    def counts(self, kept: int, launches: tuple[LaunchCounts, ...] = ()) -> Counts:
        """Return the work so far, of torch and NumPy together."""
        arrays = self._arrays
        flops, ops = self.flops + arrays.made, self.ops + arrays.arrays
        return Counts(flops, max(self.largest, arrays.largest), ops, kept, launches)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise torch imports its compiler

    def alive_elements_except(self, results: list[torch.Tensor]) -> int:
        """Return the number of elements made so far that are alive and not part of the results."""
        storages = [t.untyped_storage() for t in results]
        own = {s._cdata for s in storages}
        in_torch = sum(size for kept, size in self._alive.items() if kept._cdata not in own)
        return in_torch + self._arrays.alive_elements_except({s.data_ptr() for s in storages})

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        operator = _facts_of(func)
        kwargs = kwargs or {}
        if operator.is_view:
            return func(*args, **kwargs)
        there = _largest_of(args, kwargs) if operator.is_mutable else 0
        result = func(*args, **kwargs)
        made = 0
        for tensor in tensors_in(result):
            size = tensor.numel()
            if size > made:
                made = size
            self._alive.setdefault(tensor.untyped_storage(), size)
        if made > there and made > self.largest:  # a tensor written in place existed before
            self.largest = made
        self.ops += 1
        formula = operator.formula
        if operator.name in _BY_INDEX:  # only the elements at the indices are written
            made = _largest_of(args[1:], kwargs)
        if formula is not None:
            made = int(formula(*args, **kwargs, out_val=result))
        self.flops += made
        return result


_BY_INDEX = {
    "index_put_",
    "_index_put_impl_",
    "index_copy_",
    "index_add_",
    "scatter_",
    "scatter_add_",
}


class _Operator(NamedTuple):
    name: str
    is_view: bool
    is_mutable: bool
    formula: Any


@cache
def formulas() -> dict[Any, Any]:
    """Return torch's formulas for floating-point operations; importing them imports Triton."""
    from torch.utils.flop_counter import flop_registry

    return flop_registry


@cache
def _facts_of(func: Any) -> _Operator:
    packet = func.overloadpacket
    return _Operator(packet.__name__, func.is_view, func._schema.is_mutable, formulas().get(packet))


def _largest_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return max((t.numel() for t in tensors_in([*args, *kwargs.values()])), default=0)


def student_line(frame: Any, root: str) -> int | None:
    """Return the line of the innermost frame in a file of the submission, or None."""
    while frame is not None:
        if root and frame.f_code.co_filename.startswith(root + os.sep):
            return int(frame.f_lineno)
        frame = frame.f_back
    return None
