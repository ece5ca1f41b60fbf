"""A stand-in for helpers that give no answer, so that what calls them can be tried all the same.

Theory of operation. Where a student's helper stops, right code cannot go on with it either, and
nothing is known of the exercise that calls it. But that exercise can be asked with something else
in the helper's place, as right code can: numbers made of all its arguments, in the shape that an
answer has. They are no softmax and no attention; who hands over the right arguments and goes on
rightly with what comes back agrees with right code that does the same, and nobody else does. What
enters the student's process is this text and the shapes that the tests' calls have: nothing of a
solution, and no number that it makes. Of whole numbers it says only whether each of 0, 1, 2, …
comes once along the last axis: then the stand-in gives an order too, and else zeros and ones, which
are good for a bucket and for an index alike; and whether such an order undoes the one before it:
then that of the stand-in does so too, and no other.

A module's stand-in has the parameters that the module should have, by names and shapes, and makes
its numbers of these too.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from .carrying import Carrying, RightSides
from .lent import Changed
from .targets import InProcess, RecordedTarget

Written = Callable[[str, str], Path]  # a module of ours by a name, from its text
_PLAIN = (int, float, bool, str, type(None))
_ORDERS = ("order", "way back")
_MOST_SHAPES = 400
_MOST = 200  # stand-ins that are kept

# Operators and the plainest methods only: what an exercise may not call is not called here.
_TEXT = """

def _stands_in():
    import numpy as np
    import torch

    known = {known}

    def kind(x):
        if isinstance(x, (torch.Tensor, np.ndarray)):
            return (str(x.dtype), *x.shape)
        return ("int", int(x)) if isinstance(x, int) else None

    def flat(x):
        x = x.double() if isinstance(x, torch.Tensor) else x.astype("float64")
        return x.reshape(-1).clip(-1e5, 1e5)

    def spread(count, start):
        return (np.arange(1, count + 1) * 0.6180339887498949 + start) % 1.0 - 0.5

    def like(x, numbers):
        return torch.from_numpy(numbers).to(x.device) if isinstance(x, torch.Tensor) else numbers

    def answer(name, arguments, weights=()):
        sums = [0.0, 0.0, 0.0]
        for place, x in enumerate((*arguments, *weights)):
            for turn in range(3):
                start = 0.377 * (place + 1) + 0.146 * turn
                if isinstance(x, (torch.Tensor, np.ndarray)):
                    numbers = flat(x)
                    share = like(x, spread(len(numbers), start) * 5 / max(1, len(numbers)) ** 0.5)
                    sums[turn] = sums[turn] + (numbers * share).sum()
                elif isinstance(x, (bool, int, float)):
                    sums[turn] = sums[turn] + start * x
        return made(known[name, tuple(kind(x) for x in arguments)], sums, 0.0)

    def made(form, sums, start):
        if isinstance(form[0], bool):
            parts = []
            for place, part in enumerate(form[1:]):
                undoes = part[0] == "way back"
                one = parts[-1].argsort(-1) if undoes else made(part, sums, start + 0.21 * place)
                parts.append(one)
            return tuple(parts)
        if form[0] == "order":
            return made(("torch.float64", *form[1:]), sums, start).argsort(-1)
        dtype, *shape = form
        if "int" in dtype:  # in steps that no rounding of an argument is likely to cross
            steps = [round(float(part)) for part in sums if part == part]
            numbers = spread(int(np.prod(shape)), start + 0.13 * sum(steps) % 1.0) > 0
            if not dtype.startswith("torch."):
                return numbers.reshape(shape).astype(dtype)
            given = [part for part in sums if isinstance(part, torch.Tensor)]
            numbers = like(given[0], numbers) if given else torch.from_numpy(numbers)
            return numbers.reshape(shape).to(getattr(torch, dtype[6:]))
        turned = 5.0 * spread(int(np.prod(shape)), start)
        for turn in range(3):
            share = spread(int(np.prod(shape)), start + 0.4 * turn + 0.1) + 1.0
            part = sums[turn]
            if isinstance(part, torch.Tensor):
                share = like(part, share)
                turned = turned if isinstance(turned, torch.Tensor) else like(part, turned)
            turned = turned + share * part
        if isinstance(turned, torch.Tensor):
            return turned.sin().reshape(shape).to(getattr(torch, dtype[6:]))
        if dtype.startswith("torch."):
            return torch.from_numpy(np.sin(turned)).reshape(shape).to(getattr(torch, dtype[6:]))
        return np.sin(turned).reshape(shape).astype(dtype)

    class Module(torch.nn.Module):
        def __init__(self, name, arguments):
            super().__init__()
            self.asked = name, arguments
            for path, *shape in known[name, "made", tuple(kind(x) for x in arguments)]:
                *parts, last = path.split(".")
                held = self
                for part in parts:
                    if not hasattr(held, part):
                        held.add_module(part, torch.nn.Module())
                    held = getattr(held, part)
                held.register_parameter(last, torch.nn.Parameter(torch.zeros(shape)))

        def answer(self, arguments):
            name, own = self.asked
            weights = [w for _, w in sorted(self.named_parameters())]
            return answer(name, (*own, *arguments), weights)

{functions}
    return {{{names}}}


globals().update(_stands_in())
"""


@dataclass(frozen=True)
class _Function:
    """A helper of the solution's: its parameters, as they are written, and their names.

    called: those of `forward`, if it is a module
    """

    name: str
    written: str
    names: tuple[str, ...]
    called: _Function | None = None


class StandIns:
    """Of a week; what stands in for some helpers in some tests is found once."""

    def __init__(self, written: Written) -> None:
        self._written = written
        self._known: dict[Hashable, str] = {}

    def of(self, carrying: Carrying, tests: Iterable[str]) -> Carrying | None:
        """The same exercise in these tests with a stand-in for its helpers; None if there is none.

        What right code hands over without a student's helper depends on no submission.
        """
        wanted = set(tests)
        items = [i for i in carrying.items if carrying.plugin.name(i) in wanted]
        asked = replace(carrying, items=items)
        facts = carrying.exercise, carrying.lent, carrying.program.path, asked.names, carrying.paid
        text = self._known.get(facts)
        if text is None:
            text = _text_for(asked) if items else ""
            if len(self._known) < _MOST and not carrying.patience.over:
                self._known[facts] = text
        if not text:
            return None
        digest = hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
        path = self._written(f"-stand-in-{digest}", text)
        return replace(
            asked,
            target=lambda more="": carrying.target(f"{text}{more}"),
            lends=lambda: InProcess(path),
            stand_in=path,
        )


def _text_for(carrying: Carrying) -> str:
    """The text of a stand-in; nothing if there is none, or no time to find it."""
    functions, known = dict[str, _Function](), dict[tuple[str, Any], Any]()
    change = partial(_noting, lent=carrying.lent, functions=functions, known=known)
    if not _all_answered(carrying, carrying.items, change) or not known:
        return ""
    if set(functions) != set(carrying.lent) or len(known) > _MOST_SHAPES:
        return ""
    return _text(functions, known)


def _all_answered(carrying: Carrying, items: Iterable[Any], change: Callable[[Any], None]) -> bool:
    """Run right code in the tests, and note its helpers' arguments; False if there is no time."""

    def target() -> RecordedTarget:
        return RecordedTarget(Changed(carrying.program.path, change), {})

    sides, right = RightSides(target(), target()), target()
    try:
        for item in items:
            carrying.run_right(item, right, sides, None)
        return not carrying.patience.over
    finally:
        sides.close()
        right.close()


def _noting(
    module: Any,
    lent: Iterable[str],
    functions: dict[str, _Function],
    known: dict[tuple[str, Any], Any],
) -> None:
    """Make the lent helpers of a module note what their arguments and results look like."""
    for name in lent:
        own = getattr(module, name, None)
        if isinstance(own, type) and issubclass(own, nn.Module):
            making, calling = _signature(own.__init__), _signature(own.forward)
            if making is not None and calling is not None:
                function = replace(_function(name, making), called=_function(name, calling))
                functions[name] = function
                setattr(module, name, _noted_module(name, own, making, calling, known))
            continue
        signature = _signature(own)
        if own is None or signature is None:
            continue
        functions[name] = _function(name, signature)
        setattr(module, name, _noted(name, own, signature, known))


def _function(name: str, signature: inspect.Signature) -> _Function:
    return _Function(name, _parameters(signature), tuple(signature.parameters))


def _noted(
    name: str, own: Callable[..., Any], signature: inspect.Signature, known: dict[Any, Any]
) -> Callable[..., Any]:
    def noted(*args: Any, **kwargs: Any) -> Any:
        result = own(*args, **kwargs)
        _note(known, (name, _kinds(signature, *args, **kwargs)), result)
        return result

    return noted


def _noted_module(
    name: str,
    own: type[nn.Module],
    making: inspect.Signature,
    calling: inspect.Signature,
    known: dict[Any, Any],
) -> type[nn.Module]:
    """A class like `own` that notes its parameters, if these are all its state, and its results."""

    class NotingModule(own):  # type: ignore[misc, valid-type]  # made from what it replaces
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            kinds = _kinds(making, self, *args, **kwargs)[1:]
            object.__setattr__(self, "_kinds", kinds)
            weights = sorted(self.named_parameters())
            if len(weights) == len(self.state_dict()):
                known[name, "made", kinds] = tuple((n, *w.shape) for n, w in weights)

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            result = super().forward(*args, **kwargs)
            called = _kinds(calling, self, *args, **kwargs)[1:]
            _note(known, (name, (*self._kinds, *called)), result)
            return result

    NotingModule.__name__ = NotingModule.__qualname__ = own.__name__
    NotingModule.__module__ = own.__module__
    return NotingModule


def _kinds(signature: inspect.Signature, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return tuple(map(_kind, bound.arguments.values()))


def _note(known: dict[Any, Any], asked: tuple[Any, ...], result: Any) -> None:
    """Note the form of a result; an order is one only if every result of these shapes is."""
    form = _form(result)
    if form is not None:
        known[asked] = form if known.get(asked, form) == form else _form(result, orders=False)


def _signature(own: Any) -> inspect.Signature | None:
    """The parameters of a function, if they can be written down again."""
    if not inspect.isfunction(own):
        return None
    signature = inspect.signature(own)
    for p in signature.parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            return None
        if p.default is not p.empty and not isinstance(p.default, _PLAIN):
            return None
    return signature


def _parameters(signature: inspect.Signature) -> str:
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(bare))[1:-1]


def _kind(x: Any) -> tuple[Any, ...] | None:
    """What decides the shape of an answer: an argument's shape and dtype, or a whole number."""
    if isinstance(x, (torch.Tensor, np.ndarray)):
        return (str(x.dtype), *x.shape)
    return ("int", int(x)) if isinstance(x, int) else None


def _form(result: Any, orders: bool = True) -> tuple[Any, ...] | None:
    """The dtypes and shapes of a result of arrays; those of a tuple follow a True."""
    if isinstance(result, tuple):
        parts = [_form(r, orders) for r in result]
        for place, (before, part) in enumerate(pairwise(parts), start=1):
            if before is None or before[0] not in _ORDERS or part != ("order", *before[1:]):
                continue
            if _undoes(result[place], result[place - 1]):
                parts[place] = ("way back", *before[1:])
        return None if None in parts else (True, *parts)
    if orders and isinstance(result, torch.Tensor) and _is_order(result):
        return "order", *result.shape
    return _kind(result) if isinstance(result, (torch.Tensor, np.ndarray)) else None


def _is_order(x: torch.Tensor) -> bool:
    """Whether each of 0, 1, 2, … comes once along the last axis."""
    if x.dtype != torch.int64 or x.ndim == 0:
        return False
    return bool((x.sort(-1).values == torch.arange(x.shape[-1], device=x.device)).all())


def _undoes(x: torch.Tensor, order: torch.Tensor) -> bool:
    """Whether one order leads back from another."""
    return bool((order.gather(-1, x) == torch.arange(x.shape[-1], device=x.device)).all())


def _text(functions: Mapping[str, _Function], known: Mapping[tuple[str, Any], Any]) -> str:
    shapes = {k: known[k] for k in sorted(known, key=repr)}
    written = [_class(f) if f.called else _def(f) for f in functions.values()]
    names = ", ".join(f"{n!r}: {n}" for n in functions)
    return _TEXT.format(known=repr(shapes), functions="\n".join(written), names=names)


def _def(f: _Function) -> str:
    return (
        f"    def {f.name}({f.written}):\n        return answer({f.name!r}, ({_listed(f.names)}))\n"
    )


def _class(f: _Function) -> str:
    assert f.called is not None
    (own, *made), (this, *called) = f.names, f.called.names
    return (
        f"    class {f.name}(Module):\n"
        f"        def __init__({f.written}):\n"
        f"            Module.__init__({own}, {f.name!r}, ({_listed(made)}))\n\n"
        f"        def forward({f.called.written}):\n"
        f"            return {this}.answer(({_listed(called)}))\n"
    )


def _listed(names: Iterable[str]) -> str:
    return "".join(f"{n}, " for n in names)
