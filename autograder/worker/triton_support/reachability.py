"""Whether a kernel keeps to itself: run as Python, it could hand what it loads to anything.

A compiled kernel knows its arguments, Triton's language, other kernels and constants. One that
names anything else, that writes to anything but its own variables, or that looks into a value of
the interpreter's reaches out of itself. The code that is looked at is the code that is run.
"""

from __future__ import annotations

import builtins
import collections
import dis
import enum
import inspect
import math
import sys
import types
from functools import lru_cache
from importlib import import_module  # triton is an extra, and may be missing
from typing import Any

import torch

from ..torch_support.fake_device import ClaimedTensor
from . import interpreter_fixes, launch_records

_BUILTIN = {"range", "min", "max", "abs", "len", "float", "int", "bool", "tuple", "isinstance"}
_BUILTIN |= {"print"}  # a kernel's prints go nowhere: see kernels.py
_builtins = {name: getattr(builtins, name) for name in _BUILTIN}
_WRITES = {
    *("STORE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "DELETE_GLOBAL", "STORE_NAME"),
    *("STORE_SUBSCR", "DELETE_SUBSCR", "MATCH_CLASS", "MATCH_KEYS", "MATCH_MAPPING"),
    *("IMPORT_NAME", "IMPORT_FROM", "LOAD_BUILD_CLASS", "YIELD_VALUE", "RETURN_GENERATOR"),
    *("BEFORE_WITH", "SETUP_WITH", "BEFORE_ASYNC_WITH", "GET_AWAITABLE", "SEND", "END_SEND"),
}
# What holds a value's numbers, what is below a kernel, what writes to something that others hold.
_INNER = {"handle", "data", "fn", "append", "extend", "insert", "update", "setdefault", "tofile"}
_PLAIN = {int, float, bool, str, type(None), torch.dtype}
_TENSORS = {torch.Tensor, torch.nn.Parameter, ClaimedTensor}
_KERNEL = {"fn", "rewriter", "kwargs", "pre_run_hooks", "arg_names"}
_CONSTANT = {"value", "type"}
_WRAPPER = {"dtype", "base", "data", "device", "shape"}
_DESCRIPTOR = {"base", "shape", "strides", "block_shape", "padding", "round_f32_to_tf32"}
_NAMED = set(vars(collections.namedtuple("_Named", "")))
_NAME, _ATTRIBUTE, _FIELD = object(), object(), "given."
_members: set[str] = set()  # what Triton's values, numbers and texts have
_FUNCTIONS = ("ConstexprFunction", "InterpretedFunction")
_VALUE = {
    "shape",
    "numel",
    "type",
    "dtype",
    "scalar",
    "element_ty",
    "values",
    "value",
    "name",
    "base",
}
_VALUE |= {"strides", "block_shape", "block_type", "padding", "desc", "T"}
# Of Triton's other modules, what the interpreter writes into a kernel; the second since 3.8.
_WRITTEN_IN = ("interpreter_semantic", "_InterpreterComparison")

# By its id what Triton's modules hold: itself, its attributes, the names in its class
_own: dict[int, tuple[Any, dict[str, Any], set[str]]] = {}


def remember() -> None:
    """Once, before a submission is imported: what is Triton's own, and a kernel's to name."""
    if _own:
        return
    for name, module in list(sys.modules.items()):
        if name.startswith("triton.language"):
            for value in list(vars(module).values()):
                where = getattr(value, "__module__", None)
                own = isinstance(where, str) and where.startswith("triton.language")
                if own or type(value).__name__ in _FUNCTIONS:
                    _keep(value)
    for value in interpreter_fixes.put_in():
        _keep(value)
    kinds = [v for v, *_ in _own.values() if isinstance(v, type)]
    _members.update(n for kind in (*kinds, int, float, str, tuple, enum.IntEnum) for n in dir(kind))
    _members.update(n for v, own, _ in _own.values() for n in own)
    _members.update(_VALUE)
    for name in _WRITTEN_IN:
        if (written := vars(sys.modules["triton.runtime.interpreter"]).get(name)) is not None:
            _keep(written)
    for value in list(vars(sys.modules["triton"]).values()):
        if type(value).__name__ in _FUNCTIONS:
            _keep(value)


def _keep(value: Any) -> None:
    attributes = {} if isinstance(value, type) else getattr(value, "__dict__", {})
    _own[id(value)] = value, dict(attributes), set(vars(type(value)))


def text_of(kernel: Any) -> Any:
    """The function that the interpreter runs for a kernel, if it is one."""
    known = type(kernel) is import_module("triton.runtime.interpreter").InterpretedFunction
    return kernel.rewrite() if known and type(kernel.fn) is types.FunctionType else None


def bared(
    kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a launch without the submission's own code: see records.py."""

    def plain(value: Any) -> Any:
        seen: set[int] = set()
        return launch_records.bare(
            value, lambda x: _is_known(x, seen), lambda f: not _function(f, seen)
        )

    parameters = inspect.signature(kernel.fn).parameters
    later = [p for p in list(parameters.values())[len(args) :] if p.default is not p.empty]
    given = {p.name: p.default for p in later} | kwargs  # what is given is not looked at again
    return tuple(map(plain, args)), {name: plain(value) for name, value in given.items()}


def reaches_out(kernel: Any, text: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether an interpreted kernel, or one that it calls, may tell what it loads.

    text: the function that is about to run for it
    """
    seen: set[int] = set()
    if text is None or text_of(kernel) is not text or not _asks_nobody(kernel, text):
        return True
    for name, value in [*zip(kernel.arg_names, args, strict=False), *kwargs.items()]:
        constant = "constexpr" in str(text.__annotations__.get(name, ""))
        if not (_is_constant(value, seen) if constant else _is_argument(value, seen)):
            return True
    given = {*kernel.arg_names[: len(args)], *kwargs}
    return _reaches(kernel, seen, given=given >= {*kernel.arg_names})


def _asks_nobody(kernel: Any, text: Any) -> bool:
    """Whether the interpreter meets only plain names and types where it takes the arguments."""
    kinds = [*text.__annotations__.values()]
    plain = all(type(k) in (str, type) or _is_known(k, set()) for k in kinds)
    return plain and type(kernel.arg_names) is list and {*map(type, kernel.arg_names)} <= {str}


def _reaches(kernel: Any, seen: set[int], given: bool = False) -> bool:
    """`given`: all its arguments are, so what stands for a missing one is not looked at."""
    if id(kernel) in seen:
        return False
    seen.add(id(kernel))
    function = text_of(kernel)
    if vars(kernel).keys() - _KERNEL or kernel.pre_run_hooks:
        return True
    return _function(function, seen, given)


def _function(function: Any, seen: set[int], given: bool = False) -> bool:
    if not isinstance(function, types.FunctionType) or vars(function):
        return True
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    if not given:
        held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if not all(_is_known(value, seen) for value in held):
        return True
    plain: Any = function  # not every version of the type checker knows the attribute
    found: dict[str, Any] = plain.__builtins__
    names = function.__globals__
    # the interpreter compares modules, and such a one may have its own way
    if any(isinstance(v, types.ModuleType) and _is_odd(v) for v in names.values()):
        return True
    return _code(function.__code__, names, found, seen)


def _is_odd(module: types.ModuleType) -> bool:
    return "__eq__" in {name for kind in type(module).__mro__[:-1] for name in vars(kind)}


def _code(
    code: types.CodeType, names: dict[str, Any], found: dict[str, Any], seen: set[int]
) -> bool:
    """Whether these instructions reach out, or those of a function that is made in them."""
    at: Any = None  # what the last name led to
    steps = _steps(code)
    if steps is None:
        return True
    for kind, name in steps:
        if kind is _NAME:
            value = names[name] if name in names else found.get(name)
            plain = name not in names and name in _BUILTIN and value is _builtins[name]
            if not (plain or _is_known(value, seen)):
                return True
            at = value
        elif kind is _ATTRIBUTE:
            if at is None and name not in _members and not name.startswith(_FIELD):
                return True
            name = name.removeprefix(_FIELD)
            value = _attribute(at, name)
            method = isinstance(value, types.MethodType) and _is_known(at, seen)
            if at is not None and not method and not _is_known(value, seen):
                return True
            at = value
        else:
            at = None
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return any(_code(c, names, found, seen) for c in inner)


@lru_cache(maxsize=512)
def _steps(code: types.CodeType) -> tuple[tuple[object, str], ...] | None:
    """The names and attributes that instructions ask for, in order; None if they reach out."""
    steps: list[tuple[object, str]] = []
    instructions = list(dis.get_instructions(code))
    kept = {s.argval for s in instructions if s.opname == "STORE_FAST"}
    given = {*code.co_varnames[: code.co_argcount]} - kept
    before: Any = None
    for step in instructions:
        name = step.argval
        if step.opname in _WRITES or (step.opname == "STORE_DEREF" and name in code.co_freevars):
            return None
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            steps.append((_NAME, name))
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if name.startswith("_") or name in _INNER:
                return None
            # a place of a tuple that was given, which may have names
            named = before is not None and before.opname == "LOAD_FAST" and before.argval in given
            steps.append((_ATTRIBUTE, _FIELD + name if named else name))
        elif step.opname not in ("CACHE", "EXTENDED_ARG", "PUSH_NULL"):
            steps.append((None, ""))
        before = step
    return tuple(steps)


def _attribute(at: Any, name: str) -> Any:
    """What a name leads to; a module is asked for what lies in it, and not by its own way."""
    return vars(at).get(name) if type(at) is types.ModuleType else getattr(at, name, None)


def _is_known(value: Any, seen: set[int]) -> bool:
    """Whether a kernel may name this: Triton's own, a number, a module, another kernel."""
    if type(value) in _PLAIN:
        return True
    if isinstance(value, tuple):
        return _is_plain_tuple(value) and all(_is_known(v, seen) for v in value)
    if type(value) is types.ModuleType:
        return True  # what is found in it is looked at
    if type(value) is import_module("triton.runtime.interpreter").InterpretedFunction:
        if _is_as_it_was(value):
            return True
        return not _reaches(value, seen)
    if type(value) is import_module("triton.language").constexpr:
        return vars(value).keys() <= _CONSTANT and _is_known(value.value, seen)
    if type(value) is import_module("triton.runtime.jit").ConstexprFunction:
        if id(value) in seen or _is_as_it_was(value):
            return True
        seen.add(id(value))
        usual = vars(import_module("triton").cdiv).keys()
        return vars(value).keys() <= usual and not _function(value.fn, seen)
    if type(value) is types.BuiltinFunctionType:
        return value.__self__ is math or id(value) in _own
    return _is_as_it_was(value) or (isinstance(value, enum.Enum) and _is_plain_enum(value))


def _is_as_it_was(value: Any) -> bool:
    """Whether Triton had this before the submission was there, and nothing was hung onto it."""
    kind = type(value)
    if kind is import_module("triton.tools.tensor_descriptor").TensorDescriptor:
        return vars(value).keys() <= _DESCRIPTOR and _is_tensor(value.base)
    if kind is import_module("triton.runtime.jit").TensorWrapper:
        return vars(value).keys() <= _WRAPPER and type(value.base) in _TENSORS
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
            id(v) in theirs or isinstance(v, kind) or type(v) in _PLAIN
            for name, v in vars(kind).items()
            if not name.startswith("_")
        )
        and not vars(kind).keys() & {"__getattr__", "__getattribute__"}
    )


def _is_plain_tuple(value: tuple[Any, ...]) -> bool:
    """Whether it is a tuple without a way of its own; it may name its places."""
    kind = type(value)
    if kind in (tuple, torch.Size):
        return True
    fields = vars(kind).get("_fields", ())
    known = kind.__mro__[1:] == (tuple, object) and bool(fields)
    return known and vars(kind).keys() <= _NAMED | {*fields, "__annotations__"}


def _is_tensor(value: Any) -> bool:
    """Whether it is a tensor, or Triton's wrapper of one."""
    wrapper = import_module("triton.runtime.jit").TensorWrapper
    return type(value) in _TENSORS or (type(value) is wrapper and _is_as_it_was(value))


def _is_argument(value: Any, seen: set[int]) -> bool:
    """Whether a kernel can be given this on a GPU too, as no constant."""
    if isinstance(value, tuple):
        return _is_plain_tuple(value) and all(_is_argument(x, seen) for x in value)
    return type(value) in _TENSORS or _is_constant(value, seen)


def _is_constant(value: Any, seen: set[int]) -> bool:
    """Whether a kernel can be given this as a constant: it is nothing that it could not name."""
    if isinstance(value, tuple):
        return _is_plain_tuple(value) and all(_is_constant(x, seen) for x in value)
    if type(value) is types.SimpleNamespace:  # as records.py makes them
        return all(_is_constant(x, seen) or _is_clean(x, seen) for x in vars(value).values())
    if type(value) is import_module("triton.language").constexpr:
        return vars(value).keys() <= _CONSTANT and _is_constant(value.value, seen)
    return _is_known(value, seen)


def _is_clean(value: Any, seen: set[int]) -> bool:
    """Whether it is a function, or a record's method, that reaches nothing."""
    if type(value) is types.MethodType:
        own = type(value.__self__) is types.SimpleNamespace
        return own and _is_constant(value.__self__, seen) and _is_clean(value.__func__, seen)
    return type(value) is types.FunctionType and not _function(value, seen)
