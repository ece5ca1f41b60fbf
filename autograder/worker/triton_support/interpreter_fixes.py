"""Triton, NumPy and what they stand on, as they were: what a kernel runs is theirs and its own.

Theory of operation. A kernel's Python is interpreted by Python that a submission can change: a
method, a special method, a function of a module below, a name that hides a builtin. So everything
is remembered before the submission is imported, twice: as it lies there, and as the interpreter
puts it while a kernel runs. It is put back before a launch, and again right before the numbers are
shown. `quiet` keeps the rest of Python from running meanwhile: signals, the collector, warnings.
"""

from __future__ import annotations

import builtins
import gc
import signal
import sys
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module  # triton is an extra, and may be missing
from operator import is_, is_not
from typing import Any

import numpy as np

# Of Triton and NumPy, what is below a kernel.
_LIBRARIES = (
    *("triton.language", "triton.runtime", "triton._utils", "triton._C.libtriton.interpreter"),
    *("triton._C.libtriton.ir", "numpy._core", "numpy.lib"),
)
_PACKAGES = {"triton", "triton._C.libtriton", "triton.knobs", "numpy"}
# What else of Python's runs in the middle of a kernel.
_BELOW = {
    *("abc", "ast", "collections", "contextlib", "dataclasses", "enum", "functools"),
    *("genericpath", "inspect", "linecache", "math", "operator", "os", "posixpath", "re"),
    *("textwrap", "threading", "tokenize", "types", "typing", "warnings"),
    "torch.package.package_importer",
}
# Their classes are not: of the tree of a source, of files and threads.
_WITHOUT_CLASSES = ("ast", "collections", "os", "re", "textwrap", "threading", "tokenize", "typing")
_NEVER = {"__dict__", "__weakref__", "__doc__", "__annotations__", "__abstractmethods__"}
_MISSING = object()
# A submission may replace these in their modules.
_disable, _enable, _is_enabled = gc.disable, gc.enable, gc.isenabled
_mask, _block, _set_mask = signal.pthread_sigmask, signal.SIG_BLOCK, signal.SIG_SETMASK
_trace, _profile = sys.settrace, sys.setprofile
_every_signal = signal.valid_signals()


class _Remembered:
    """What may be called of one module, class or object, and what it is made of."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.names = [n for n, v in vars(owner).items() if n not in _NEVER and _is_code(v)]
        self.values = [vars(owner)[n] for n in self.names]
        self.all = frozenset(vars(owner))

    def put_back(self) -> None:
        now = vars(self.owner)
        if not all(map(is_, map(now.get, self.names), self.values)):
            for name, value in zip(self.names, self.values, strict=True):
                if now.get(name, _MISSING) is not value:
                    with suppress(AttributeError, TypeError):
                        setattr(self.owner, name, value)
        if len(now) != len(self.all) or not now.keys() <= self.all:
            self._take_away([n for n in now if n not in self.all and n not in _NEVER])

    def _take_away(self, added: list[str]) -> None:
        """What was added: to a class anything; elsewhere what hides something."""
        of_module = isinstance(self.owner, types.ModuleType)
        hides = _builtin_names if of_module else dir(type(self.owner))
        language = type(self.owner).__module__.startswith("triton.language")
        for name in added:
            if isinstance(self.owner, type) or language or name in hides:
                with suppress(AttributeError, TypeError):
                    delattr(self.owner, name)


_builtin_names = frozenset(vars(builtins))
_plain: list[_Remembered] = []
_patched: list[_Remembered] = []  # as it is while a kernel runs
_changed: list[tuple[_Remembered, _Remembered]] = []  # what differs then
_modules: dict[str, types.ModuleType] = {}


def remember() -> None:
    """Once, before a submission is imported and after the nets were set."""
    if _plain:
        return
    owners = list(_owners())
    _plain.extend(map(_Remembered, owners))
    interpreter: Any = import_module("triton.runtime.interpreter")
    language: Any = import_module("triton.language")
    names = {"tl": language, "core": language.core}
    scope = interpreter._patch_lang(types.FunctionType((lambda: None).__code__, names))
    _patched.extend(map(_Remembered, owners))
    scope.restore()
    for pair in zip(_plain, _patched, strict=True):
        if any(map(is_not, *(owner.values for owner in pair))) or pair[0].all != pair[1].all:
            _changed.append(pair)


def put_in() -> list[Any]:
    """What the interpreter puts in the place of Triton's own while a kernel runs."""
    pairs = zip(_plain, _patched, strict=True)
    found = []
    for old, new in pairs:
        before = set(map(id, old.values))
        found += [v for v in new.values if id(v) not in before]
    return found


def put_back() -> None:
    """Undo what was put in the place of something that a kernel runs."""
    _put_back(_plain)


def put_back_for_a_kernel(everything: bool) -> None:
    """The same right before a kernel runs, for everything or what the interpreter changes."""
    if everything:
        _put_back(_patched)
    else:
        for _, patched in _changed:
            patched.put_back()


def put_out() -> None:
    """Undo what was put in for a kernel that ran."""
    for plain, _ in _changed:
        plain.put_back()


def _put_back(owners: list[_Remembered]) -> None:
    for name, module in _modules.items():
        if sys.modules.get(name) is not module:
            sys.modules[name] = module
    for owner in owners:
        owner.put_back()


def _owners() -> Iterator[Any]:
    """Modules, their classes, and the objects that the interpreter works with."""
    seen: set[int] = set()
    for name, module in list(sys.modules.items()):
        if name.startswith(_LIBRARIES) or name in _PACKAGES or name in _BELOW:
            if id(module) in seen or type(module) is not types.ModuleType:
                continue
            seen.add(id(module))
            _modules[name] = module
            yield module
            for value in list(vars(module).values()):
                own = isinstance(value, type) and value.__module__ == name
                own = own or type(value).__module__.startswith("triton.language")
                if own and name not in _WITHOUT_CLASSES and id(value) not in seen:
                    seen.add(id(value))
                    yield value
    interpreter: Any = import_module("triton.runtime.interpreter")
    yield from (builtins, interpreter.interpreter_builder, interpreter.interpreter_semantic)


def _is_code(value: Any) -> bool:
    return callable(value) or hasattr(type(value), "__get__") or type(value) is types.ModuleType


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing else of Python's runs: no handler of a signal, no trace, no hook of the collector.

    Nor what NumPy and Python call for a warning or an error of arithmetic.
    """
    collected, blocked = _is_enabled(), _mask(_block, _every_signal)
    _trace(None)
    _profile(None)
    _disable()
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if collected:
            _enable()
        _mask(_set_mask, blocked)


__all__ = ["put_back", "put_back_for_a_kernel", "put_in", "put_out", "quiet", "remember"]
