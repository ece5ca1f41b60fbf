"""Whether a kernel keeps to itself: run as Python, it could hand what it loads to anything.

A compiled kernel knows its arguments, Triton's language, other kernels and constants. One that
names anything else, that writes to anything but its own variables, or that looks into a value of
the interpreter's reaches out of itself. The code that is looked at is the code that is run.
"""

from __future__ import annotations

import builtins
import dis
import sys
import types
from importlib import import_module  # triton is an extra, and may be missing
from typing import Any

import torch

_BUILTIN = {"range", "min", "max", "abs", "len", "float", "int", "bool", "tuple", "isinstance"}
_WRITES = {
    *("STORE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "DELETE_GLOBAL", "STORE_NAME"),
    *("IMPORT_NAME", "IMPORT_FROM", "LOAD_BUILD_CLASS", "YIELD_VALUE"),
}
_INNER = {"handle", "data", "fn"}  # what holds a value's numbers, or what is below a kernel
_PLAIN = (int, float, str, type(None), torch.dtype)


def reaches_out(kernel: Any, arguments: tuple[Any, ...]) -> bool:
    """Return whether an interpreted kernel, or one that it calls, may tell what it loads."""
    return not all(map(_is_argument, arguments)) or _reaches(kernel, set())


def _reaches(kernel: Any, seen: set[int]) -> bool:
    if id(kernel) in seen:
        return False
    seen.add(id(kernel))
    function = kernel.rewrite()
    if not isinstance(function, types.FunctionType) or vars(kernel).keys() & {"rewrite", "run"}:
        return True
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if not all(_is_known(value, seen) for value in held):
        return True
    return _code(function.__code__, function.__globals__, seen)


def _code(code: types.CodeType, names: dict[str, Any], seen: set[int]) -> bool:
    """Whether these instructions reach out, or those of a function that is made in them."""
    at: Any = None  # the module that the last name led to
    for step in dis.get_instructions(code):
        name = step.argval
        if step.opname in _WRITES:
            return True
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = names[name] if name in names else vars(builtins).get(name)
            if not (_is_known(value, seen) or (name in _BUILTIN and name not in names)):
                return True
            at = value if isinstance(value, types.ModuleType) else None
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if name.startswith("_") or name in _INNER:
                return True
            value = getattr(at, name, None) if at is not None else None
            if at is not None and not _is_known(value, seen):
                return True
            at = value if isinstance(value, types.ModuleType) else None
        elif step.opname not in ("CACHE", "EXTENDED_ARG", "PUSH_NULL"):
            at = None
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return any(_code(c, names, seen) for c in inner)


def _is_known(value: Any, seen: set[int]) -> bool:
    """Whether a kernel may name this: Triton's own, a number, a module, another kernel."""
    if isinstance(value, _PLAIN):
        return True
    if isinstance(value, tuple):
        return all(_is_known(v, seen) for v in value)
    if type(value) is types.ModuleType:
        return True  # what is found in it is looked at
    if type(value) is import_module("triton.runtime.interpreter").InterpretedFunction:
        home = sys.modules.get(value.fn.__module__ or "")
        if str(value.fn.__module__).startswith("triton.language"):
            return value.fn.__globals__ is getattr(home, "__dict__", None)
        return not _reaches(value, seen)
    own = getattr(value, "__module__", "") if callable(value) else type(value).__module__
    code = getattr(value, "__globals__", {}).get("__name__", own)
    return str(own).startswith("triton.") and str(code).startswith("triton.")


def _is_argument(value: Any) -> bool:
    """Whether a kernel can be given this on a GPU too."""
    if isinstance(value, tuple):
        return all(map(_is_argument, value))
    own = type(value).__module__
    return isinstance(value, (*_PLAIN, torch.Tensor)) or own.startswith("triton.")
