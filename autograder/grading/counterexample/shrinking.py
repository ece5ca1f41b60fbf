"""Propose smaller and simpler versions of a sequence of calls.

Each phase yields changes of one kind. `shrunk` takes the first change that makes a sequence simpler
and still shows the difference, and repeats all phases until no change does.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from ...model.availability import CPU
from ..assertions.call_comparison import IN_A_ROW
from ..comparator import as_tensor, is_array
from .array_sizes import PlainValues, each, is_same_array, lower_rank, single_axes, smaller_sizes
from .call_cost import PATTERNS, Calls, cost, dense
from .call_sequence import Made, Step, leaves_of
from .value_text import MODULI, array_text, counted, normal, storage

_MOST_ENTRIES = 24  # size of the largest array whose entries are changed one at a time
_MOST_ARRAYS = 12  # arrays that are changed one at a time
_SHARE_OF_SIZES = 0.6  # of the time; the rest is left for values


def shrunk(
    calls: Calls, accept: Callable[[Calls], Calls | None], spent_share: Callable[[], float]
) -> Calls:
    """Return the simplest sequence that is found.

    accept:      returns a sequence, possibly cut off, if it still shows the difference, or None
    spent_share: returns the share of the time that is spent
    """
    best, seen, changed = calls, set[bytes](), True

    def step(phase: Callable[[Calls], Iterator[Calls]]) -> Calls | None:
        least = cost(best)
        limit = _SHARE_OF_SIZES if phase in (smaller_sizes, single_axes) else 1.0
        # A change may be impossible, such as taking the first row of an empty array.
        with suppress(IndexError, RuntimeError, ValueError, TypeError):
            for proposal in phase(best):
                if spent_share() > limit:
                    return None
                if cost(proposal) < least and (key := _fingerprint(proposal)) not in seen:
                    seen.add(key)
                    if (kept := accept(proposal)) is not None:
                        return kept
        return None

    while changed:
        changed = False
        for phase in _PHASES:
            while (better := step(phase)) is not None:
                best, changed = better, True
    return best


def _fingerprint(calls: Calls) -> bytes:
    handles: defaultdict[Made, int] = defaultdict(int)
    return b"".join(s.frame(handles, False) + f"{s.key}{s.owner}{s.fill}".encode() for s in calls)


def needed(calls: Calls) -> Calls:
    """Return the last call and the calls that make its objects, without other earlier calls."""
    keys = {calls[-1].key}
    for step in reversed(calls):
        keys |= step.uses if step.key in keys else set()
    return tuple(s for s in calls if s.key in keys)


def _with(calls: Calls, number: int, step: Step) -> Calls:
    return (*calls[:number], step, *calls[number + 1 :])


# Phases


def _fewer_steps(calls: Calls) -> Iterator[Calls]:
    yield needed(calls)
    for dropped in calls[:-1]:
        gone = {dropped.key}
        for step in calls:
            gone |= {step.key} if step.uses & gone else set()
        if calls[-1].key not in gone:
            yield tuple(s for s in calls if s.key not in gone)
    last = calls[-1]
    if last.options.brought == IN_A_ROW:
        for number in range(1, len(last.args)):
            yield (*calls[:-1], replace(last, args=last.args[:number] + last.args[number + 1 :]))
        single = last.with_options(brought="", path=last.args[0])
        yield (*calls[:-1], replace(single, args=tuple(last.args[1])))


def _plain_options(calls: Calls) -> Iterator[Calls]:
    yield tuple(s.with_options(device=CPU) for s in calls)
    yield tuple(replace(s, cotangents=None) for s in calls)
    yield (*(replace(s, cotangents=None) for s in calls[:-1]), calls[-1])
    ones = [s.cotangents and tuple(map(torch.ones_like, s.cotangents)) for s in calls]
    yield tuple(replace(s, cotangents=one) for s, one in zip(calls, ones, strict=True))
    yield tuple(s.with_options(count=False, compiled=False, order=None) for s in calls)
    yield tuple(s.with_options(printing=False) for s in calls)
    yield each(calls, dense)
    for layout in _LAYOUTS:
        yield each(calls, partial(_laid_out, layout))
    casts = (s.with_options(dtype=s.options.dtype and "float32") for s in calls)
    yield each(tuple(casts), _usual_type)
    for pattern in PATTERNS:
        yield tuple(replace(s, fill=pattern, state=None) if s.state or s.fill else s for s in calls)


def _laid_out(layout: Callable[[torch.Tensor], torch.Tensor], x: Any) -> Any:
    """Return an array that is not dense in a simpler layout."""
    if not isinstance(x, (torch.Tensor, np.ndarray)) or dense(x) is x:
        return x
    return layout(x) if isinstance(x, torch.Tensor) else layout(torch.from_numpy(x)).numpy()


_LAYOUTS: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    lambda x: x.transpose(0, -1).contiguous().transpose(0, -1),
    lambda x: x.transpose(-3, -2).contiguous().transpose(-3, -2),
    lambda x: x.repeat_interleave(2, dim=-1)[..., ::2],
)


def _usual_type(x: Any) -> Any:
    if not is_array(x) or not as_tensor(x).is_floating_point():
        return x
    return x.float() if isinstance(x, torch.Tensor) else x.astype("float64")


def _fewer_arguments(calls: Calls) -> Iterator[Calls]:
    for number, step in enumerate(calls):
        for name in step.kwargs:
            kwargs = {k: v for k, v in step.kwargs.items() if k != name}
            yield _with(calls, number, replace(step, kwargs=kwargs))
        if len(step.args) > 1 and step.options.brought != IN_A_ROW:
            yield _with(calls, number, replace(step, args=step.args[:-1]))


_VALUES: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    torch.zeros_like,
    torch.ones_like,
    lambda x: (x > 0).double(),
    torch.sign,
    torch.round,
    lambda x: torch.round(x / 100) * 100,
    lambda x: torch.round(2 * x) / 2,
    lambda x: torch.round(10 * x) / 10,
    lambda x: torch.arange(len(x)),
    lambda x: torch.round(100 * x) / 100,
    *(partial(lambda x, m: counted((len(x),), m), m=m) for m in MODULI),
    lambda x: normal((len(x),)),
)


def with_values(calls: Calls) -> Iterator[Calls]:
    """Yield the calls with the same kind of values in all float arrays, the plainest first."""
    for make in _VALUES:
        yield each(calls, partial(_revalued, make, only_floats=True))


def _plainer_values(calls: Calls) -> Iterator[Calls]:
    yield from with_values(calls)
    for chosen in _arrays(calls)[:_MOST_ARRAYS]:
        for make in _VALUES:
            yield each(calls, partial(_revalued, make, only=chosen))


def _arrays(calls: Calls) -> list[Any]:
    arrays = (
        x for s in calls for x in leaves_of(s.values) if isinstance(x, (torch.Tensor, np.ndarray))
    )
    return list({id(x): x for x in arrays}.values())


def _revalued(
    make: Callable[[torch.Tensor], torch.Tensor],
    value: Any,
    only: Any = None,
    only_floats: bool = False,
) -> Any:
    """Return an array with new finite entries and the same layout.

    make: returns the new entries, given those in memory order, as float64
    only: the array to change; other arrays are returned unchanged
    """
    if not isinstance(value, (torch.Tensor, np.ndarray)) or not (
        only is None or is_same_array(value, only)
    ):
        return value
    x = value if isinstance(value, torch.Tensor) else torch.from_numpy(value)
    if only_floats and not x.is_floating_point():
        return value
    flat = storage(x)
    made = torch.where(torch.isfinite(flat), make(flat.double()).double() + 0.0, flat.double())
    new = torch.as_strided(made.to(x.dtype), x.shape, x.stride())
    return new if isinstance(value, torch.Tensor) else new.numpy()


def _single_entries(calls: Calls) -> Iterator[Calls]:
    arrays = [x for x in _arrays(calls) if as_tensor(x).numel() <= _MOST_ENTRIES]
    for chosen in arrays[:_MOST_ARRAYS]:
        for place in range(as_tensor(chosen).numel()):
            for new in (0, 1, 2):
                yield each(calls, partial(_revalued, partial(_put, place, new), only=chosen))


def _put(place: int, new: float, flat: torch.Tensor) -> torch.Tensor:
    changed = flat.clone()
    changed[place] = new
    return changed


def _plainer_scalars(calls: Calls) -> Iterator[Calls]:
    """Simplify numbers, strings and lists, one at a time."""
    for number, step in enumerate(calls):
        plain = PlainValues()
        step.mapped(plain)
        for place, value in enumerate(plain.values):
            for new in _plainer(value):
                yield _with(calls, number, step.mapped(PlainValues(place, new)))


def _plainer(value: Any) -> Iterator[Any]:
    if type(value) is int:
        yield from sorted({1, 2, value // 2, value - 1} - {0, value})
    elif type(value) is float and math.isfinite(value):
        yield from (0.0, 1.0, 0.5, 2.0, float(round(value)), round(value, 1))
    elif isinstance(value, str) and len(value) > 1:
        yield from (value[:1], value[:2], value[: len(value) // 2], value[:-1])
    elif isinstance(value, list) and len(value) > 1:
        yield from (value[:n] + value[n + 1 :] for n in range(min(len(value), _MOST_ARRAYS)))


_PHASES = (_fewer_steps, _plain_options, smaller_sizes, lower_rank, _fewer_arguments,
           single_axes, _plainer_values, _plainer_scalars, _single_entries)  # fmt: skip


def as_written(calls: Calls) -> Calls:
    """Return the calls with the arrays that their texts make."""
    names = {"torch": torch, "np": np, "math": math}
    return each(calls, lambda x: eval(array_text(x), names) if is_array(x) else x)
