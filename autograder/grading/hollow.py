"""Empty work: an exercise whose results say nothing of its own.

What a student's helper lets pass must not be had for nothing. So before anything is inherited, the
exercise under test is made empty in these ways, and a test that rejects them with the solution's
helper must still do so.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

Emptied = Callable[[Any, tuple[Any, ...]], Any]


def zeros(result: Any, _: tuple[Any, ...]) -> Any:
    """Zeros of the result's kind and shape."""
    return _each(result, lambda x: x * 0 if _is_array(x) else type(x)())


def echo(result: Any, args: tuple[Any, ...]) -> Any:
    """The argument that has the result's shape, else zeros."""

    def answer(x: Any) -> Any:
        if not _is_array(x):
            return x
        found = _alike(x, args)
        return zeros(x, args) if found is None else _like(found, x)

    return _each(result, answer)


def _alike(x: Any, args: tuple[Any, ...]) -> Any:
    """The first argument of a result's type and shape, or None."""
    return next((a for a in args if type(a) is type(x) and a.shape == x.shape), None)


def level(result: Any, _: tuple[Any, ...]) -> Any:
    """The result with all its rows alike: nothing depends on the query any more."""

    def answer(x: Any) -> Any:
        if not _is_array(x) or x.ndim < 2:
            return x
        first = x[..., :1, :]
        return (
            first.expand_as(x) if isinstance(x, torch.Tensor) else np.broadcast_to(first, x.shape)
        )

    return _each(result, answer)


def level_first(result: Any, args: tuple[Any, ...]) -> Any:
    """Of several results the first with all its rows alike, the others as they are.

    What a helper hides of one result, the others do not tell.
    """
    return (level(result[0], args), *result[1:]) if _is_several(result) else result


def level_others(result: Any, args: tuple[Any, ...]) -> Any:
    """Of several results the first as it is, the others with all their rows alike."""
    return (result[0], *level(result[1:], args)) if _is_several(result) else result


HOLLOW: dict[str, Emptied] = {
    "zeros": zeros,
    "echo": echo,
    "level": level,
    "level first": level_first,
    "level others": level_others,
}


class EchoHeard:
    """Whether a version that answers zeros, or an echo, would have answered otherwise as the other.

    seen: in a call since this was last set to False
    """

    def __init__(self) -> None:
        self.seen = False

    def noting(self, emptied: Emptied) -> Emptied:
        """The same way of being empty, looked at."""

        def noted(result: Any, args: tuple[Any, ...]) -> Any:
            self.seen = self.seen or _is_echoed(result, args)
            return emptied(result, args)

        return noted


def _is_echoed(result: Any, args: tuple[Any, ...]) -> bool:
    """Whether an echo of these arguments is something else than zeros."""
    found = list[bool]()
    _each(result, lambda x: found.append(not _is_array(x) or _alike(x, args) is not None))
    return any(found)


def hollowed(exercise: str, emptied: Emptied) -> Callable[[Any], None]:
    """Make the exercise of a loaded module empty."""

    def change(module: Any) -> None:
        own = getattr(module, exercise, None)
        if isinstance(own, type):
            setattr(module, exercise, _class(own, emptied))
        elif callable(own):
            setattr(module, exercise, _function(own, emptied))

    return change


def _function(own: Callable[..., Any], emptied: Emptied) -> Callable[..., Any]:
    return lambda *args, **kwargs: emptied(own(*args, **kwargs), args)


def _class(own: type, emptied: Emptied) -> Any:
    if issubclass(own, torch.autograd.Function):
        return SimpleNamespace(apply=_function(own.apply, emptied))
    original = own.forward  # type: ignore[attr-defined]  # an exercise's class has one

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return emptied(original(self, *args, **kwargs), args)

    made = type(own.__name__, (own,), {"forward": forward, "__module__": own.__module__})
    if issubclass(own, nn.Module):
        made.__qualname__ = own.__qualname__
    return made


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(_each(v, change) for v in value)
    if isinstance(value, dict):
        return {k: _each(v, change) for k, v in value.items()}
    if isinstance(value, nn.Module) or value is None:
        return value
    return change(value)


def _is_several(result: Any) -> bool:
    return isinstance(result, tuple) and len(result) > 1


def _is_array(x: Any) -> bool:
    return isinstance(x, (torch.Tensor, np.ndarray))


def _like(found: Any, x: Any) -> Any:
    return found.to(x.dtype) if isinstance(x, torch.Tensor) else found.astype(x.dtype)
