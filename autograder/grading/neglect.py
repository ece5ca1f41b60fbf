"""Neglect: an exercise that does not use a helper, or leaves out one of its arguments.

Where a student's helper ignores its mask, an exercise that never hands one over answers just what
right code answers with that helper. So before a test is inherited, right code neglects each helper
in these ways: a test that rejects that with the solution's own helper must reject it with the
student's too. In the place of an argument stands one that nobody could foresee: its own entries,
shuffled.
"""

from __future__ import annotations

import ast
import inspect
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from .hollow import echo


@dataclass(frozen=True)
class Neglect:
    """A helper and what is left out of its calls; without a parameter it is not called at all."""

    helper: str
    parameter: str = ""


def neglects(source: str, helpers: Iterable[str]) -> list[Neglect]:
    """The ways in which a program can neglect its helpers."""
    found = list[Neglect]()
    defined = {d.name: d for d in ast.parse(source).body if hasattr(d, "name")}
    for helper in helpers:
        node = defined.get(helper)
        if isinstance(node, ast.ClassDef):
            methods = (m for m in node.body if isinstance(m, ast.FunctionDef))
            node = next((m for m in methods if m.name == "forward"), None)
        if isinstance(node, ast.FunctionDef):
            found.append(Neglect(helper))
            arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            found += [Neglect(helper, a.arg) for a in arguments if a.arg != "self"]
    return found


def neglecting(way: Neglect, secret: bytes) -> Callable[[Any], None]:
    """Make a loaded module, whose helpers may be lent, neglect one of them.

    The order of shuffled entries is drawn from the secret and the number of entries.
    """

    def change(module: Any) -> None:
        own = getattr(module, way.helper, None)
        if isinstance(own, type) and issubclass(own, nn.Module):
            forward = _neglected(way.parameter, own.forward, secret)
            changed = type(own.__name__, (own,), {"forward": forward, "__module__": own.__module__})
            changed.__qualname__ = own.__qualname__
            setattr(module, way.helper, changed)
        elif inspect.isfunction(own):
            setattr(module, way.helper, _neglected(way.parameter, own, secret))

    return change


def _neglected(parameter: str, own: Callable[..., Any], secret: bytes) -> Callable[..., Any]:
    signature = inspect.signature(own)

    def call(*args: Any, **kwargs: Any) -> Any:
        if not parameter:
            return echo(own(*args, **kwargs), (*args, *kwargs.values()))
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        default = signature.parameters[parameter].default
        bound.arguments[parameter] = _another(bound.arguments[parameter], default, secret)
        return own(*bound.args, **bound.kwargs)

    return call


def _another(value: Any, default: Any, secret: bytes) -> Any:
    """The entries of an array in another order, the other truth value, or else the default."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        count = value.numel() if isinstance(value, torch.Tensor) else value.size
        order = list(range(count))
        random.Random(secret + count.to_bytes(8, "big")).shuffle(order)
        return value.reshape(-1)[order].reshape(value.shape)
    if isinstance(value, bool):
        return not value
    return value if default is inspect.Parameter.empty else default
