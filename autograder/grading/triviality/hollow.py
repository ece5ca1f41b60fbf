"""Replace an exercise with a program that does none of its work.

`trivial_programs`, which lists the kinds, appends the text of this module to a solution, followed
by `NAME = _hollow(NAME, KIND)`. The correct exercise only supplies the types and
shapes of results, and exceptions.
"""

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch


def _hollow(right: Any, kind: str) -> Any:
    """Return a function or class with the signature of `right` that does none of its work.

    right: the correct function or class
    kind: the kind of program: one of `trivial_programs.KINDS`, "argument N" or "mean N"
    """
    if not inspect.isclass(right):
        return _hollow_function(right, kind)
    if issubclass(right, torch.autograd.Function):
        return _hollow_operation(right, kind)
    return _hollow_class(right, kind)


def _hollow_function(right: Any, kind: str) -> Callable[..., Any]:
    @functools.wraps(right)
    def answer(*args: Any, **kwargs: Any) -> Any:
        if kind == "raises":  # the docstring contains all words a test may require
            raise ValueError(inspect.getdoc(right))
        arguments = [*args, *kwargs.values()]
        try:
            wanted = right(*args, **kwargs)
        except Exception:  # the test may expect an exception of any type
            if kind == "refuses":
                raise
            wanted = None
        _clear_drawings()
        return _filled(wanted, kind, arguments)

    return answer


def _clear_drawings() -> None:
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else ():
        for axes in pyplot.figure(number).axes:
            axes.clear()


class _NoKernel:
    """A Triton kernel that does nothing, so that its wrapper returns uninitialised memory."""

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return lambda *args, **kwargs: None


def _hollow_operation(right: Any, kind: str) -> Any:
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.inputs = len(args)
        return _hollow_function(right.apply, kind)(*args)

    def backward(ctx: Any, *gradients: Any) -> tuple[None, ...]:
        return (None,) * int(ctx.inputs)

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(right.__name__, (torch.autograd.Function,), methods)


def _hollow_class(right: Any, kind: str) -> Any:
    base: Any = torch.nn.Module if issubclass(right, torch.nn.Module) else object

    def make(self: Any, *args: Any, **kwargs: Any) -> None:
        base.__init__(self)
        try:
            inner = right(*args, **kwargs)
        except Exception:  # the test may expect an exception of any type
            inner = None
        object.__setattr__(self, "_inner", [inner])  # in a list, so torch does not register it

    def method(name: str) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            return _hollow_function(getattr(self._inner[0], name, None), kind)(*args, **kwargs)

        return call

    names = [n for n in vars(right) if n[0] != "_" and inspect.isfunction(vars(right)[n])]
    if kind == "refuses":  # keep the correct constructor
        hollow = {n: _hollow_function(vars(right)[n], kind) for n in names}
        return type(right.__name__, (right,), hollow)
    return type(right.__name__, (base,), {"__init__": make, **{n: method(n) for n in names}})


def _filled(wanted: Any, kind: str, arguments: list[Any]) -> Any:
    """Return the result of a trivial program.

    wanted: the correct result, or None if the solution raised an exception
    arguments: the arguments of the call
    """
    constants = {"none": None, "number": 0, "text": ""}
    if kind in constants:
        return constants[kind]
    if kind == "arguments":
        return tuple(arguments[: len(wanted)]) if isinstance(wanted, tuple) else arguments[:1]
    name, _, index = kind.partition(" ")
    if not index:
        return _like(wanted, _FILLS[kind])
    one = arguments[int(index)] if int(index) < len(arguments) else None
    if name == "mean" and len(getattr(one, "shape", "")):
        one = _mean(one)
    fitted = _like(wanted, lambda x: _fitted(one, x))
    return one if fitted is None else fitted


def _mean(argument: Any) -> torch.Tensor:
    """Return the mean over the second-to-last axis (kept with size 1), or the mean of a vector."""
    numbers = torch.as_tensor(argument).double()
    return numbers.mean(-2, keepdim=True) if numbers.ndim > 1 else numbers.mean()


def _like(wanted: Any, fill: Callable[[torch.Tensor], Any]) -> Any:
    """Return a copy of `wanted` with `fill(x)` for each tensor, array or number `x`, else None."""
    if isinstance(wanted, (tuple, list)):
        return type(wanted)([_like(part, fill) for part in wanted])
    if isinstance(wanted, torch.Tensor):
        filled = fill(wanted.detach().double())
        return filled.to(wanted.dtype) if isinstance(filled, torch.Tensor) else filled
    if isinstance(wanted, (np.ndarray, np.generic)):
        whole = _like(torch.from_numpy(np.array(wanted)), fill)
        return whole.numpy() if isinstance(whole, torch.Tensor) else whole
    if isinstance(wanted, (int, float)):
        number = fill(torch.tensor(float(wanted), dtype=torch.float64))
        try:
            return type(wanted)(number)
        except (TypeError, ValueError, OverflowError, RuntimeError):
            return number
    return None


def _fitted(argument: Any, wanted: torch.Tensor) -> Any:
    """Return an argument, reshaped or expanded to the shape of the result if possible."""
    if isinstance(argument, np.ndarray):
        argument = torch.from_numpy(argument)
    if not isinstance(argument, torch.Tensor):
        return argument
    if argument.numel() == wanted.numel():
        return argument.reshape(wanted.shape)
    try:
        return argument.expand(wanted.shape)
    except RuntimeError:
        return argument


def _noise(wanted: torch.Tensor) -> torch.Tensor:
    steps = torch.arange(1, wanted.numel() + 1, dtype=torch.float64, device=wanted.device)
    return (steps * 12.9898).sin().reshape(wanted.shape)


_FILLS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "zeros": lambda x: x * 0,
    "refuses": lambda x: x * 0,
    "ones": lambda x: torch.ones_like(x),
    "nan": lambda x: torch.full_like(x, float("nan")),
    "uniform": lambda x: torch.full_like(x, 1.0 / max(1, x.shape[-1] if x.ndim else 1)),
    "noise": _noise,
}
