"""Whether a kernel keeps to itself: run as Python, it could hand what it loads to anything.

A compiled kernel knows its arguments, Triton's language, other kernels and constants. One that
names anything else, that writes to anything but its own variables, or that looks into a value of
the interpreter's reaches out of itself. The code that is looked at is the code that is run.
"""

from __future__ import annotations

import builtins
import dis
import enum
import math
import sys
import types
from functools import lru_cache
from importlib import import_module  # triton is an extra, and may be missing
from typing import Any

import torch

_BUILTIN = {
    name: getattr(builtins, name)
    for name in ("range", "min", "max", "abs", "len", "float", "int", "bool", "tuple")
} | {"isinstance": isinstance, "print": print}  # a kernel's prints go nowhere: see kernels.py
_WRITES = {
    *("STORE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "DELETE_GLOBAL", "STORE_NAME"),
    *("IMPORT_NAME", "IMPORT_FROM", "LOAD_BUILD_CLASS", "YIELD_VALUE"),
}
_INNER = {"handle", "data", "fn"}  # what holds a value's numbers, or what is below a kernel
_PLAIN = {int, float, bool, str, type(None), torch.dtype}
_KERNEL = {"fn", "rewriter", "kwargs", "pre_run_hooks", "arg_names"}

# By its id what Triton's modules hold: itself, its attributes, the names in its class
_own: dict[int, tuple[Any, dict[str, Any], set[str]]] = {}


def remember() -> None:
    """Before a submission is imported: what is Triton's own."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "triton":
            for value in list(vars(module).values()):
                attributes = {} if isinstance(value, type) else getattr(value, "__dict__", {})
                if str(getattr(value, "__module__", "triton")).partition(".")[0] == "triton":
                    _own[id(value)] = value, dict(attributes), set(vars(type(value)))


def reaches_out(kernel: Any, arguments: tuple[Any, ...]) -> bool:
    """Return whether an interpreted kernel, or one that it calls, may tell what it loads."""
    seen: set[int] = set()
    return not all(_is_argument(x, seen) for x in arguments) or _reaches(kernel, seen)


def _reaches(kernel: Any, seen: set[int]) -> bool:
    if id(kernel) in seen:
        return False
    seen.add(id(kernel))
    function = kernel.rewrite()
    if vars(kernel).keys() - _KERNEL or kernel.pre_run_hooks:
        return True
    return _function(function, seen)


def _function(function: Any, seen: set[int]) -> bool:
    if not isinstance(function, types.FunctionType):
        return True
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if not all(_is_known(value, seen) for value in held):
        return True
    return _code(function.__code__, function.__globals__, seen)


def _code(code: types.CodeType, names: dict[str, Any], seen: set[int]) -> bool:
    """Whether these instructions reach out, or those of a function that is made in them."""
    at: Any = None  # what the last name led to
    for operation, name in _steps(code):
        if operation in _WRITES:
            return True
        if operation in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = names[name] if name in names else vars(builtins).get(name)
            plain = name not in names and value is not None and value is _BUILTIN.get(name)
            if not (plain or _is_known(value, seen)):
                return True
            at = value
        elif operation in ("LOAD_ATTR", "LOAD_METHOD"):
            if name.startswith("_") or name in _INNER:
                return True
            value = getattr(at, name, None)
            method = isinstance(value, types.MethodType) and _is_known(at, seen)
            if at is not None and not method and not _is_known(value, seen):
                return True
            at = value
        else:
            at = None
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return any(_code(c, names, seen) for c in inner)


@lru_cache(maxsize=256)
def _steps(code: types.CodeType) -> list[tuple[str, Any]]:
    """What the instructions do, and with what; a kernel is launched often."""
    steps = ((step.opname, step.argval) for step in dis.get_instructions(code))
    return [step for step in steps if step[0] not in ("CACHE", "EXTENDED_ARG", "PUSH_NULL")]


def _is_known(value: Any, seen: set[int]) -> bool:
    """Whether a kernel may name this: Triton's own, a number, a module, another kernel."""
    if type(value) in _PLAIN:
        return True
    if isinstance(value, tuple):
        return all(_is_known(v, seen) for v in value)
    if type(value) is types.ModuleType:
        return True  # what is found in it is looked at
    if type(value) is import_module("triton.runtime.interpreter").InterpretedFunction:
        if _is_as_it_was(value):
            return True
        return not _reaches(value, seen)
    if type(value) is import_module("triton.language").constexpr:
        return _is_known(value.value, seen)
    if type(value) is import_module("triton.runtime.jit").ConstexprFunction:
        if id(value) in seen:
            return True
        seen.add(id(value))
        return not _function(value.fn, seen)
    if type(value) is types.BuiltinFunctionType:
        return value.__self__ is math
    return _is_as_it_was(value) or (isinstance(value, enum.Enum) and _is_plain_enum(value))


def _is_as_it_was(value: Any) -> bool:
    """Whether Triton had this before the submission was there, and nothing was hung onto it."""
    kind = type(value)
    if kind.__name__ in ("TensorDescriptor", "TensorWrapper") and id(kind) in _own:
        return True
    if id(value) not in _own or isinstance(value, type):
        return id(value) in _own
    before, names = _own[id(value)][1:]
    now = getattr(value, "__dict__", {})
    same = now.keys() == before.keys() and all(now[name] is before[name] for name in now)
    return same and vars(kind).keys() == names


def _is_plain_enum(value: enum.Enum) -> bool:
    """Whether it is a name for a number or a string, without methods of its own."""
    kind = type(value)
    bases = kind.__mro__[1:]
    theirs = {id(v) for base in bases for v in vars(base).values()}
    return (
        {*bases} <= {*enum.IntEnum.__mro__, *enum.IntFlag.__mro__, str}
        and vars(value).keys() <= {"_value_", "_name_", "__objclass__", "_sort_order_"}
        and all(
            id(v) in theirs or not callable(v) or isinstance(v, kind)
            for name, v in vars(kind).items()
            if not name.startswith("_")
        )
        and not vars(kind).keys() & {"__getattr__", "__getattribute__"}
    )


def _is_argument(value: Any, seen: set[int]) -> bool:
    """Whether a kernel can be given this on a GPU too."""
    if isinstance(value, tuple):
        return all(_is_argument(x, seen) for x in value)
    return isinstance(value, torch.Tensor) or _is_known(value, seen)
