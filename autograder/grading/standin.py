"""A stand-in for helpers that give no answer, so that what calls them can be tried all the same.

Theory of operation. Where a student's helper stops, right code cannot go on with it either, and
nothing is known of the exercise that calls it. But that exercise can be asked with something else
in the helper's place, as right code can: numbers made of all its arguments, in the shape that an
answer has. They are no softmax and no attention; who hands over the right arguments and goes on
rightly with what comes back agrees with right code that does the same, and nobody else does. What
enters the student's process is this text and the shapes that the tests' calls have: nothing of a
solution, and no number that it makes.

A class has weights and a state, and no such stand-in.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .carrying import Carrying, RightSides
from .lent import Changed
from .targets import InProcess, RecordedTarget

Written = Callable[[str, str], Path]  # a module of ours by a name, from its text
_PLAIN = (int, float, bool, str, type(None))
_MOST_SHAPES = 400

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

    def answer(name, arguments):
        sums = [0.0, 0.0, 0.0]
        for place, x in enumerate(arguments):
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
            return tuple(made(f, sums, start + 0.21) for f in form[1:])
        dtype, *shape = form
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

{functions}
    return {{{names}}}


globals().update(_stands_in())
"""


@dataclass(frozen=True)
class _Function:
    """A helper of the solution's: its parameters, as they are written, and their names."""

    name: str
    written: str
    names: tuple[str, ...]


def with_stand_in(carrying: Carrying, tests: Iterable[str], written: Written) -> Carrying | None:
    """The same exercise in these tests with a stand-in for its helpers; None if there is none."""
    wanted = set(tests)
    items = [i for i in carrying.items if carrying.plugin.name(i) in wanted]
    functions, known = dict[str, _Function](), dict[tuple[str, Any], Any]()
    change = partial(_noting, lent=carrying.lent, functions=functions, known=known)
    if not items or not _all_answered(carrying, items, change) or not known:
        return None
    if set(functions) != set(carrying.lent) or len(known) > _MOST_SHAPES:
        return None
    text = _text(functions, known)
    path = written(f"-stand-in-{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}", text)
    return replace(
        carrying,
        items=items,
        target=lambda more="": carrying.target(f"{text}{more}"),
        lends=lambda: InProcess(path),
    )


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
        signature = _signature(own)
        if own is None or signature is None:
            continue
        functions[name] = _Function(name, _parameters(signature), tuple(signature.parameters))
        setattr(module, name, _noted(name, own, signature, known))


def _noted(
    name: str, own: Callable[..., Any], signature: inspect.Signature, known: dict[Any, Any]
) -> Callable[..., Any]:
    def noted(*args: Any, **kwargs: Any) -> Any:
        result = own(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        form = _form(result)
        if form is not None:
            known[name, tuple(map(_kind, bound.arguments.values()))] = form
        return result

    return noted


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


def _form(result: Any) -> tuple[Any, ...] | None:
    """The dtypes and shapes of a result of arrays; those of a tuple follow a True."""
    if isinstance(result, tuple):
        parts = [_form(r) for r in result]
        return None if None in parts else (True, *parts)
    return _kind(result) if isinstance(result, (torch.Tensor, np.ndarray)) else None


def _text(functions: Mapping[str, _Function], known: Mapping[tuple[str, Any], Any]) -> str:
    shapes = {k: known[k] for k in sorted(known, key=repr)}
    written = [
        f"    def {f.name}({f.written}):\n"
        f"        return answer({f.name!r}, ({''.join(f'{n}, ' for n in f.names)}))\n"
        for f in functions.values()
    ]
    names = ", ".join(f"{n!r}: {n}" for n in functions)
    return _TEXT.format(known=repr(shapes), functions="\n".join(written), names=names)
