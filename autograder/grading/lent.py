"""A student's function in the place of the solution's: a call that crosses the wire.

Theory of operation. To tell what is right *given* a student's helper, the solution's exercise runs
in this process and each call of the helper goes to the student's process and back, as plain data.
Nothing of the solution goes there but the helper's arguments, which an exercise of that name must
expect anyway. Gradients cross too: the backward pass of a lent call asks for the pulled-back
gradients of the same call. A torch module is lent in the same way: its weights rest here, in an
object of the solution's class, and travel with each call.

The student's side may lie. What it answers is used as the helper's result and for nothing else,
and whatever is no result (an exception, an object, too much of it) is `Unanswered`: the solution
cannot go on, and nothing is inherited from such a call. The solution's work grows with what it is
answered, by the square in places; so an answer that holds far more than the solution's own helper
gives for the same arguments, or than these themselves, is too much (`size.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..worker import wire
from ..worker.values import TORCH_NAMES, Decoder
from .lender import Lender, LentObject, Unanswered
from .options import CallOptions
from .size import size_of
from .targets import InProcess

_BYTES = 64 << 20
# As many times as large as the solution's own an answer may be: an honest mistake can give it an
# axis too many, which makes it as many times larger as there are sequences in a batch.
_TIMES = 16

Change = Callable[[Any], None]
_Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def unchanged(module: Any) -> None:
    """Leave a module as it is."""


def lent_function(lender: Lender, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """What the solution calls instead of its `own` function of that name."""

    @functools.wraps(own)
    def lent(*args: Any, **kwargs: Any) -> Any:
        return _call(lender, name, None, args, kwargs, [], own)

    return lent


def lent_module(lender: Lender, name: str, own: type[nn.Module]) -> type[nn.Module]:
    """A class like the solution's `own` whose `forward` is the student's."""

    class Lent(own):  # type: ignore[misc, valid-type]  # made from what it replaces
        _recipe: _Arguments

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            object.__setattr__(self, "_recipe", (args, kwargs))

        @functools.wraps(own.forward)
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            made, weights = _made(lender, name, self, self._recipe)
            return _call(lender, "", made, args, kwargs, weights, super().forward)

    Lent.__name__ = Lent.__qualname__ = own.__name__
    Lent.__module__ = own.__module__
    return Lent


def _made(
    lender: Lender, name: str, module: nn.Module, recipe: _Arguments
) -> tuple[LentObject, list[torch.Tensor]]:
    """The student's object with a module's weights, and those that may have gradients."""
    args, kwargs = recipe
    weights: list[torch.Tensor] = [
        p for _, p in sorted(module.named_parameters()) if p.is_floating_point()
    ]
    dtype = TORCH_NAMES[weights[0].dtype] if weights else None
    options = CallOptions(construct=True, dtype=dtype, state=module.state_dict())
    making = lender.frame(name, args, kwargs, options)
    mode = lender.frame("train", (module.training,), {}, CallOptions())
    return LentObject((making, mode)), weights


def _call(
    lender: Lender,
    path: str,
    made: LentObject | None,
    args: Any,
    kwargs: Any,
    parameters: list[torch.Tensor],
    own: Callable[..., Any],
) -> Any:
    inputs = [*_floats(args, kwargs), *parameters]
    wanted = torch.is_grad_enabled() and any(x.requires_grad for x in inputs)
    # Cotangents for no result are asked for first: the reply says what carries a gradient.
    options = CallOptions(cotangents=() if wanted else None)
    reply, buffers = lender.ask(path, args, kwargs, options, made)
    value = _decoded(reply.value, buffers)
    if _is_far_more(value, own, args, kwargs):
        raise Unanswered("far more than the solution's own helper says")
    outputs = _floats((value,), {})
    if not wanted or not outputs or len(reply.detached) == len(outputs):
        return value

    def pull(cotangents: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        reply, buffers = lender.ask(path, args, kwargs, options.pulling(cotangents), made)
        if reply.gradients is None or len(reply.gradients) != len(inputs):
            raise Unanswered("the gradients do not fit")
        return [
            _gradient(_decoded(g, buffers), x) for g, x in zip(reply.gradients, inputs, strict=True)
        ]

    results = _PulledBack.apply(pull, reply.detached, outputs, *inputs)  # type: ignore[no-untyped-call]  # torch's
    return _with(value, dict(zip(map(id, outputs), results, strict=True)))


class Changed(InProcess):
    """A program of ours that is changed once it was imported."""

    def __init__(self, path: Path, change: Change) -> None:
        super().__init__(path)
        self._change = change

    def _loaded(self, module: Any) -> None:
        self._change(module)


class Composed(Changed):
    """A program of ours whose named exercises are lent by the student, and then changed."""

    def __init__(
        self, path: Path, lent: Sequence[str], lender: Lender, change: Change = unchanged
    ) -> None:
        super().__init__(path, change)
        self._lent, self._lender = lent, lender

    def begin(self, test: str, exercise: str) -> None:
        self._lender.begin(test, exercise)

    def _loaded(self, module: Any) -> None:
        for name in self._lent:
            own = getattr(module, name, None)
            if isinstance(own, type) and issubclass(own, nn.Module):
                setattr(module, name, lent_module(self._lender, name, own))
            elif own is not None:
                setattr(module, name, lent_function(self._lender, name, own))
        super()._loaded(module)

    def close(self) -> None:
        super().close()
        self._lender.close()


class _PulledBack(torch.autograd.Function):
    """Results that came from elsewhere, whose gradients are asked for there."""

    @staticmethod
    def forward(
        ctx: Any,
        pull: Callable[[Sequence[torch.Tensor]], list[torch.Tensor | None]],
        detached: tuple[int, ...],
        outputs: list[torch.Tensor],
        *inputs: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        ctx.pull = pull
        results = tuple(y.clone() for y in outputs)
        ctx.mark_non_differentiable(*(results[i] for i in detached if i < len(results)))
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return (None, None, None, *ctx.pull(cotangents))


def _is_far_more(value: Any, own: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    """Whether an answer is larger than the arguments and the solution's own answer can explain."""
    size = size_of(value)
    if size <= _TIMES * max(map(size_of, [None, *args, *kwargs.values()])):
        return False
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=()):
            return size > _TIMES * size_of(own(*args, **kwargs))
    except Exception:  # the solution's own may not know what to do with another helper's answer
        return True


def _floats(args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The float tensors of a call in the order in which the worker meets them, each once."""
    found: dict[int, torch.Tensor] = {}
    for x in _tensors([*args, *kwargs.values()]):
        if x.is_floating_point():
            found.setdefault(id(x), x)
    return list(found.values())


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in _tensors(v)] if isinstance(value, (tuple, list)) else []


def _decoded(value: wire.Value, buffers: list[memoryview]) -> Any:
    budget = _BYTES + 2 * sum(map(len, buffers))
    try:
        return Decoder(buffers, special=_refused, without_data=False, budget=budget)(value)
    except wire.BadFrame as error:
        raise Unanswered(str(error)) from None


def _gradient(gradient: Any, x: torch.Tensor) -> torch.Tensor | None:
    if gradient is None:
        return None
    if not isinstance(gradient, torch.Tensor) or gradient.shape != x.shape:
        raise Unanswered("a gradient of another shape")
    return gradient.to(x.dtype)


def _with(value: Any, results: dict[int, torch.Tensor]) -> Any:
    """The value with its tensors exchanged, by identity."""
    if isinstance(value, torch.Tensor):
        return results.get(id(value), value)
    if isinstance(value, (tuple, list)):
        return type(value)(_with(v, results) for v in value)
    if isinstance(value, dict):
        return {k: _with(v, results) for k, v in value.items()}
    return value


def _refused(value: wire.Value, _: Any) -> Any:
    raise Unanswered(f"a {type(value).__name__} is no plain data")
