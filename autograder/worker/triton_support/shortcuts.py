"""Shortcuts through Triton's interpreter, which spends its time on types and hardly any on numbers.

For every operation of a kernel the interpreter makes a type of a block anew, checks its shape,
spells its name, wraps each number of the shape, and looks for what is not there to broadcast; for
every launch it looks through the whole language. What it makes is the same each time, so here it is
made once. Each shortcut answers as the interpreter would and leaves what it does not know to it:
a version of Triton that has other parts loses the speed and nothing else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module  # triton is an extra, and may be missing
from typing import Any

import numpy as np

_MOST_KNOWN = 4096


def take_shortcuts() -> None:
    """Once in a process, before anything is interpreted."""
    interpreter: Any = import_module("triton.runtime.interpreter")
    core: Any = import_module("triton.language.core")
    _remember_types_of_numpy(interpreter)
    _hold_numbers(interpreter, core)
    _shape_numbers(interpreter)
    _remember_blocks(core)
    _remember_shapes(core)
    _broadcast_what_differs(core, interpreter.interpreter_semantic)
    _check_operands(core, interpreter.interpreter_semantic)
    _unwrap_what_is_wrapped(core)
    _remember_the_language(interpreter, core)


def _has(owner: Any, name: str, *parameters: str) -> bool:
    """Return whether there is a function of this name that takes these parameters."""
    function = getattr(owner, name, None)
    return callable(function) and tuple(inspect.signature(function).parameters) == parameters


def _remember_types_of_numpy(interpreter: Any) -> None:
    if not _has(interpreter, "_get_np_dtype", "tt_dtype"):
        return
    original, known = interpreter._get_np_dtype, dict[str, Any]()

    def numpy_type(tt_dtype: Any) -> Any:
        found = known.get(tt_dtype.name)
        if found is None:
            found = original(tt_dtype)
            if len(known) < _MOST_KNOWN:
                known[tt_dtype.name] = found
        return found

    interpreter._get_np_dtype = numpy_type


def _hold_numbers(interpreter: Any, core: Any) -> None:
    """What holds an operation's numbers, of which hardly any are too wide for their type."""
    handle = interpreter.TensorHandle
    if not _has(handle, "__init__", "self", "data", "dtype", "attr"):
        return
    original, number, pointer = handle.__init__, core.dtype, core.pointer_type

    def init(self: Any, data: Any, dtype: Any, attr: Any = None) -> None:
        kind = dtype.__class__
        fits = kind is pointer or (
            kind is number and data.itemsize * 8 <= max(dtype.primitive_bitwidth, 8)
        )
        if not fits or attr is not None:
            original(self, data, dtype, *([] if attr is None else [attr]))
            return
        self.data, self.dtype, self.attr = data, dtype, {}

    handle.__init__ = init


def _shape_numbers(interpreter: Any) -> None:
    """A new axis, and one number or axis repeated, without NumPy's looking at what is asked."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    wanted = {
        "create_expand_dims": ("self", "arg", "axis"),
        "create_broadcast": ("self", "arg", "shape"),
        "create_splat": ("self", "ret_ty", "arg"),
    }
    if not all(_has(builder, name, *parameters) for name, parameters in wanted.items()):
        return
    repeat, add_axis = builder.create_splat, builder.create_expand_dims

    def repeated(data: Any, sizes: tuple[int, ...]) -> Any:
        made = np.empty(sizes, data.dtype)
        made[...] = data
        return made

    def expand(self: Any, arg: Any, axis: int) -> Any:
        if not 0 <= axis <= arg.data.ndim:
            return add_axis(self, arg, axis)
        return handle(arg.data[(*(slice(None),) * axis, None)], arg.dtype.scalar)

    def broadcast(self: Any, arg: Any, shape: Any) -> Any:
        return handle(repeated(arg.data, tuple(shape)), arg.dtype.scalar)

    def splat(self: Any, ret_ty: Any, arg: Any) -> Any:
        data = arg.data
        if data.size != 1 or data.dtype != interpreter._get_np_dtype(arg.dtype):
            return repeat(self, ret_ty, arg)
        return handle(repeated(data, tuple(ret_ty.shape)), arg.dtype.scalar)

    builder.create_expand_dims, builder.create_broadcast = expand, broadcast
    builder.create_splat = splat


def _remember_blocks(core: Any) -> None:
    """The type of a block: what was found valid once is so again."""
    if not _has(core.block_type, "__init__", "self", "element_ty", "shape"):
        return
    original, known = core.block_type.__init__, dict[Any, Any]()

    def init(self: Any, element_ty: Any, shape: Any) -> None:
        sizes = tuple(shape.values if type(shape) is core.tuple else shape)
        if not all(type(size) is int for size in sizes):  # a `True` is no 1
            original(self, element_ty, shape)
            return
        key = element_ty.name, sizes
        found = known.get(key)
        if found is None:
            original(self, element_ty, shape)
            if len(known) < _MOST_KNOWN:
                known[key] = self.shape, self.numel, self.name
            return
        self.element_ty = element_ty
        self.shape, self.numel, self.name = found

    core.block_type.__init__ = init


def _remember_shapes(core: Any) -> None:
    """A tensor's shape in constants."""
    if not _has(core.tensor, "__init__", "self", "handle", "type"):
        return
    original, known = core.tensor.__init__, dict[Any, Any]()
    block, numbers = core.block_type, (core.dtype, core.pointer_type)

    def init(self: Any, handle: Any, type: Any) -> None:
        kind = type.__class__
        if kind is not block and kind not in numbers:
            original(self, handle, type)
            return
        key = tuple(type.shape.values) if kind is block else ()
        found = known.get(key)
        if found is None:
            original(self, handle, type)
            if len(known) < _MOST_KNOWN:
                known[key] = self.shape, self.numel
            return
        self.handle, self.type, self.dtype = handle, type, type.scalar
        self.shape, self.numel = found

    core.tensor.__init__ = init


def _broadcast_what_differs(core: Any, semantic: Any) -> None:
    """Two numbers, and two blocks of one shape, are as they should be."""
    if not _has(semantic, "broadcast_impl_value", "lhs", "rhs"):
        return
    original, builder = semantic.broadcast_impl_value, semantic.builder
    block, tensor = core.block_type, core.tensor

    def spread(x: Any, sizes: list[int]) -> Any:
        if x.type.shape.values == sizes:
            return x
        return tensor(builder.create_broadcast(x.handle, sizes), block(x.type.scalar, sizes))

    def repeated(x: Any, like: Any) -> Any:
        kind = like.with_element_ty(x.type.scalar)
        return tensor(builder.create_splat(kind, x.handle), kind)

    def broadcast(lhs: Any, rhs: Any) -> Any:
        left, right = lhs.type, rhs.type
        if left.__class__ is block and right.__class__ is block:
            sizes = _common(left.shape.values, right.shape.values)
            return original(lhs, rhs) if sizes is None else (spread(lhs, sizes), spread(rhs, sizes))
        if left.__class__ is block:
            return lhs, repeated(rhs, left)
        if right.__class__ is block:
            return repeated(lhs, right), rhs
        return lhs, rhs

    semantic.broadcast_impl_value = broadcast


def _check_operands(core: Any, semantic: Any) -> None:
    """Operands of types that were found to go together are computed with as they are.

    What an operation makes of its two operands NumPy spreads anyway, so here only their types say
    in which shape they are.
    """
    parameters = "allow_lhs_ptr", "allow_rhs_ptr", "arithmetic_check", "div_or_mod"
    if not _has(semantic, "binary_op_type_checking_impl", "lhs", "rhs", *parameters):
        return
    original, known = semantic.binary_op_type_checking_impl, set[Any]()
    constants = dict[Any, Any]()
    tensor, block = core.tensor, core.block_type
    number, kinds = core.dtype, (core.dtype, core.pointer_type)

    def seen(x: Any, sizes: Any) -> Any:
        return tensor(x.handle, block(x.type.scalar, sizes))

    def together(lhs: Any, rhs: Any) -> Any:
        left, right = lhs.type, rhs.type
        if left.__class__ is not block:
            return (seen(lhs, right.shape), rhs) if right.__class__ is block else (lhs, rhs)
        if right.__class__ is not block:
            return lhs, seen(rhs, left.shape)
        mine, theirs = left.shape.values, right.shape.values
        if mine == theirs:
            return lhs, rhs
        sizes = _common(mine, theirs)
        if sizes is None:
            return semantic.broadcast_impl_value(lhs, rhs)
        whole = lhs if mine == sizes else seen(lhs, sizes)
        return whole, rhs if theirs == sizes else seen(rhs, sizes)

    def checked(
        lhs: Any,
        rhs: Any,
        allow_lhs_ptr: bool = False,
        allow_rhs_ptr: bool = False,
        arithmetic_check: bool = True,
        div_or_mod: bool = False,
    ) -> Any:
        flags = allow_lhs_ptr, allow_rhs_ptr, arithmetic_check, div_or_mod
        if lhs.__class__ is tensor and rhs.__class__ is tensor:
            left, right = lhs.dtype, rhs.dtype
            if left.__class__ not in kinds or right.__class__ not in kinds:
                return original(lhs, rhs, *flags)
            kinds_of = left.name, right.name
            if (kinds_of, flags) in known:
                return together(lhs, rhs)
            one, other = original(lhs, rhs, *flags)
            if (one.dtype.name, other.dtype.name) == kinds_of and len(known) < _MOST_KNOWN:
                known.add((kinds_of, flags))
            return one, other
        if lhs.__class__ is tensor and lhs.dtype.__class__ is number and _is_told_apart(rhs):
            key = lhs.dtype.name, rhs.__class__, rhs, flags
            if key in constants:
                return together(lhs, constants[key])
            one, other = original(lhs, rhs, *flags)
            if one.dtype.name == lhs.dtype.name and len(constants) < _MOST_KNOWN:
                constants[key] = semantic.scalar_constant(rhs, other.dtype)
            return one, other
        return original(lhs, rhs, *flags)

    semantic.binary_op_type_checking_impl = checked


def _is_told_apart(value: object) -> bool:
    """Return whether it is a plain number that equals no other of its type (as zeros do)."""
    return value.__class__ is int or (value.__class__ is float and value not in (0.0, value * 0))


def _unwrap_what_is_wrapped(core: Any) -> None:
    """Tensors, types and plain numbers are what they are."""
    if not _has(core, "_unwrap_if_constexpr", "o"):
        return
    original = core._unwrap_if_constexpr
    bare = {core.tensor, core.dtype, core.block_type, int, float, bool, str, type(None)}

    def unwrapped(o: Any) -> Any:
        return o if type(o) in bare else original(o)

    core._unwrap_if_constexpr = unwrapped


def _common(left: list[int], right: list[int]) -> list[int] | None:
    """The shape of two blocks together; None if that takes more than repeating."""
    if left == right:
        return left
    if len(left) != len(right):
        return None
    if any(a != b and 1 not in (a, b) for a, b in zip(left, right, strict=True)):
        return None
    return [b if a == 1 else a for a, b in zip(left, right, strict=True)]


def _remember_the_language(interpreter: Any, core: Any) -> None:
    """What of the language a launch replaces, and by what."""
    if not _has(interpreter, "_patch_builtin", "pkg", "builder", "scope"):
        return
    names: dict[Any, list[str]] = {}
    interpreted: dict[Any, Callable[..., Any]] = {}
    marked = core.builtin(lambda: None).__code__  # of what the mark puts around a function

    def patch(pkg: Any, builder: Any, scope: Any) -> None:
        if pkg not in names:
            names[pkg] = [n for n, m in inspect.getmembers(pkg) if core.is_builtin(m)]
        for name in names[pkg]:
            member = getattr(pkg, name)
            if member in interpreted:
                scope.set_attr(pkg, name, interpreted[member])
            elif core.is_builtin(member):
                new = _interpreted(member, marked, interpreter.interpreter_semantic)
                if len(interpreted) < _MOST_KNOWN:
                    interpreted[member] = new
                scope.set_attr(pkg, name, new)

    interpreter._patch_builtin = patch


def _interpreted(member: Any, marked: Any, semantic: Any) -> Callable[..., Any]:
    """The member, told to whom it speaks; without the question whether it was told."""
    plain = member.__wrapped__ if getattr(member, "__code__", None) is marked else member

    def call(*args: Any, **kwargs: Any) -> Any:
        kwargs["_semantic"] = semantic
        return plain(*args, **kwargs)

    return call
