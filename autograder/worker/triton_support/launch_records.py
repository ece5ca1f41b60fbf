"""What a launch is given, without any code of the submission's in it.

A constant of a kernel may be a dataclass, a named tuple or any other object: the compiler asks it
for its attributes while it compiles. In the interpreter the object itself would be there while the
kernel runs, and its methods could take what is loaded. So the kernel is given a bare copy: what
the attributes are before the launch, if a kernel may know them, and such methods as reach nothing.
"""

from __future__ import annotations

import enum
import types
from collections import namedtuple
from collections.abc import Callable
from functools import cache
from importlib import import_module  # triton is an extra, and may be missing
from typing import Any

import numpy as np
import torch

Known = Callable[[Any], bool]

_MOST_DEEP = 8
_HEAP_TYPE = 1 << 9  # the flag of classes that were made by a class statement
_LIBRARIES = ("triton", "torch", "numpy")


def bare(value: Any, known: Known, clean: Known, depth: int = 0) -> Any:
    """An argument as a kernel may be given it; what is no record comes back as it is.

    known: whether a kernel may name a value
    clean: whether a function reaches nothing but what a kernel may know
    """

    def inner(x: Any) -> Any:
        return bare(x, known, clean, depth + 1)

    if depth > _MOST_DEEP:
        return None
    if isinstance(value, tuple):
        if type(value) is tuple:
            return tuple(map(inner, value))
        names = getattr(type(value), "_fields", None)
        return _named(names)(*map(inner, value)) if names else tuple(map(inner, value))
    if isinstance(value, np.generic):
        return value.item()
    constant = import_module("triton.language").constexpr
    if type(value) is constant:
        held = inner(value.value)
        return value if held is value.value else constant(held)
    if not _is_record(value) or known(value):
        return value
    return types.SimpleNamespace(**_attributes(value, inner, known, clean))


@cache
def _named(names: tuple[str, ...]) -> Any:
    return namedtuple("Record", names)


def _is_record(value: object) -> bool:
    """Whether it is an object with attributes, of a class that Python or a submission made."""
    if isinstance(value, type | torch.Tensor | enum.Enum | int | float | str | bytes):
        return False
    kind = type(value)
    made = kind.__flags__ & _HEAP_TYPE and kind.__module__.partition(".")[0] not in _LIBRARIES
    return bool(made) or kind is types.SimpleNamespace


def _attributes(
    value: Any, inner: Callable[[Any], Any], known: Known, clean: Known
) -> dict[str, Any]:
    """What a kernel may know of a record, by name."""
    found: dict[str, Any] = {}
    methods: dict[str, Callable[..., Any]] = {}
    names = {name: None for kind in type(value).__mro__ for name in vars(kind)}
    for name in names | dict.fromkeys(getattr(value, "__dict__", ())):
        if name.startswith("_"):
            continue
        try:
            one = getattr(value, name)
        except Exception:  # a property that cannot be asked for here
            continue
        if isinstance(one, types.FunctionType) and clean(one):
            found[name] = one
        elif isinstance(one, types.MethodType):
            if one.__self__ is value and clean(one.__func__):
                methods[name] = one.__func__
        else:
            one = inner(one)
            if known(one) or type(one) is types.SimpleNamespace:
                found[name] = one
    owner = types.SimpleNamespace(**found)
    return found | {name: types.MethodType(f, owner) for name, f in methods.items()}
