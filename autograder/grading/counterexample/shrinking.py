"""Propose smaller and simpler versions of a sequence of calls, and measure their size.

Each phase yields changes of one kind. `shrunk` takes the first change that makes a sequence simpler
and still shows the difference, and repeats all phases until no change does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from ...model.availability import CPU
from ...worker.protocol.values import TORCH_NAMES, tensor_bytes
from ..assertions.call_comparison import IN_A_ROW
from ..assertions.case import Special
from ..comparator import as_tensor, is_array
from .call_sequence import Made, Pattern, Step, leaves_of
from .value_text import MODULI, counted, float_literal, normal, pattern_text

Calls = tuple[Step, ...]
_MOST_ENTRIES = 24  # entries of arrays that are changed one at a time
PATTERNS: tuple[Pattern, ...] = ("ones", "eye", "counted", "normal")
_COUNTED = 4096  # entries of an array to measure exactly


# Size


def cost(calls: Calls) -> tuple[float, float]:
    """Return how many numbers the calls contain, and how much else there is to read."""
    numbers, clutter = 0.0, 0.0
    for step in calls:
        clutter += 5 + 3 * len(step.kwargs) + len(step.args)
        clutter += 8 * (step.options.device != CPU) + (step.options.count or step.options.printing)
        clutter += 3 * bool(step.options.brought)
        if step.cotangents is not None:
            clutter += 4
            plain = all(bool((c == 1).all()) for c in step.cotangents)
            weighed = () if plain else step.cotangents
        else:
            weighed = ()
        arrays = [*leaves_of((step.args, step.kwargs)), *weighed]
        if step.fill is not None:
            numbers, clutter = numbers + 1, clutter + 2 + PATTERNS.index(step.fill)
        else:
            arrays += (step.state or {}).values()
        for part in arrays:
            own = _array_cost(part) if is_array(part) else _plain_cost(part)
            numbers, clutter = numbers + own[0], clutter + own[1]
    return numbers, clutter


def _plain_cost(value: Any) -> tuple[float, float]:
    if isinstance(value, str):
        return 0, len(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return 1, _entry_cost(float(value)) if math.isfinite(value) else 4
    return 0, 1


def _array_cost(value: Any) -> tuple[float, float]:
    x = as_tensor(value)
    name = TORCH_NAMES.get(x.dtype, "")
    usual = ("float32", "int64", "bool") if isinstance(value, torch.Tensor) else ("float64", "int64", "bool")
    clutter = 4.0 * (name not in usual) + x.ndim
    if isinstance(value, torch.Tensor):
        clutter += 6 * (not value.is_contiguous())
    elif isinstance(value, np.ndarray):
        clutter += 6 * (not value.flags.c_contiguous)
    if not x.numel():
        return x.ndim, clutter
    flat = x.flatten()
    if x.numel() > max(2, x.ndim) and bool((flat == flat[0]).all()):
        plain = flat[0].item() in (0, 1)
        return x.ndim + (not plain), clutter + 2 + (0 if plain else 3)
    pattern = pattern_text(value) if not clutter >= 6 else None
    if pattern is not None:
        return pattern[1], clutter + len(pattern[0]) / 10
    if x.numel() > _COUNTED or x.dtype == torch.bool:
        return (0 if x.dtype == torch.bool else x.numel()), clutter + x.numel()
    entries = flat.tolist()
    return len(entries), clutter + sum(_entry_cost(float(abs(v))) for v in entries)


def _entry_cost(x: float) -> float:
    if x in (0.0, 1.0):
        return x
    return 1.0 + len(float_literal(abs(x))) if math.isfinite(x) else 3.0


# Phases


def phases() -> tuple[Callable[[Calls], Iterator[Calls]], ...]:
    return (_fewer_steps, _plain_options, _smaller_sizes, _lower_rank, _fewer_arguments,
            _plainer_values, _single_arrays, _plainer_scalars, _single_entries)  # fmt: skip


def shrunk(
    calls: Calls, accept: Callable[[Calls], Calls | None], is_spent: Callable[[], bool]
) -> Calls:
    """Return the simplest sequence that is found.

    accept:   returns a sequence, possibly cut off, if it still shows the difference, or None
    is_spent: returns True once no more time may be spent
    """
    best, seen, changed = calls, set[bytes](), True
    while changed:
        changed = False
        for phase in phases():
            again = True
            while again:
                again = False
                for proposal in _without_errors(phase(best)):
                    if is_spent():
                        return best
                    if not cost(proposal) < cost(best):
                        continue
                    key = _fingerprint(proposal)
                    if key in seen:
                        continue
                    seen.add(key)
                    kept = accept(proposal)
                    if kept is not None:
                        best, again, changed = kept, True, True
                        break
    return best


def _without_errors(proposals: Iterator[Calls]) -> Iterator[Calls]:
    """Yield proposals up to one that cannot be made, such as the first row of an empty array."""
    with suppress(IndexError, RuntimeError, ValueError, TypeError):
        yield from proposals


def _fingerprint(calls: Calls) -> bytes:
    """Return a text that two sequences share only if they are equal, up to their layout."""
    parts: list[Any] = []
    for step in calls:
        parts += [step.key, step.owner, step.fill, step.options]
        for part in leaves_of((step.args, sorted(step.kwargs.items()), step.cotangents, step.state)):
            if is_array(part):
                x = as_tensor(part)
                dense = part.is_contiguous() if isinstance(part, torch.Tensor) else True
                parts += [tuple(x.shape), x.dtype, tensor_bytes(x), dense]
            else:
                parts.append(part)
    return repr(parts).encode()


def _each(calls: Calls, change: Callable[[Any], Any]) -> Calls:
    return tuple(s.mapped(change) for s in calls)


def _arrays_only(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: change(value) if is_array(value) else value


def needed(calls: Calls) -> Calls:
    """Return the last call and the calls that make its objects, without other earlier calls."""
    keys = {calls[-1].key}
    for step in reversed(calls):
        if step.key in keys:
            keys |= step.uses
    return tuple(s for s in calls if s.key in keys)


def _fewer_steps(calls: Calls) -> Iterator[Calls]:
    yield needed(calls)
    for number in range(len(calls) - 1):
        gone = {calls[number].key}
        kept = []
        for step in calls:
            if step.key in gone or step.uses & gone:
                gone.add(step.key)
            else:
                kept.append(step)
        if calls[-1].key not in gone:
            yield tuple(kept)
    last = calls[-1]
    if last.options.brought == IN_A_ROW:
        for number in range(1, len(last.args)):
            yield (*calls[:-1], replace(last, args=last.args[:number] + last.args[number + 1 :]))
        if len(last.args) == 2:
            single = last.with_options(brought="", path=last.args[0])
            yield (*calls[:-1], replace(single, args=tuple(last.args[1])))


def _plain_options(calls: Calls) -> Iterator[Calls]:
    if any(s.options.device != CPU for s in calls):
        yield tuple(s.with_options(device=CPU) for s in calls)
    if any(s.cotangents is not None for s in calls):
        for some in (calls, calls[:-1]):
            kept = {s.key for s in calls} - {s.key for s in some}
            yield tuple(s if s.key in kept else replace(s, cotangents=None) for s in calls)
        ones = (tuple(torch.ones_like(c) for c in s.cotangents or ()) for s in calls)
        yield tuple(
            s if s.cotangents is None else replace(s, cotangents=o)
            for s, o in zip(calls, ones, strict=True)
        )
    if any(s.options.count or s.options.printing or s.options.order is not None for s in calls):
        yield tuple(s.with_options(count=False, compiled=False, order=None) for s in calls)
        yield tuple(s.with_options(printing=False) for s in calls)
    yield _each(calls, _arrays_only(_dense))
    yield tuple(s.with_options(dtype=s.options.dtype and "float32") for s in _each(calls, _usual_type))
    for pattern in PATTERNS:
        yield tuple(
            replace(s, fill=pattern, state=None) if s.state or s.fill else s for s in calls
        )


def _dense(x: Any) -> Any:
    return x.contiguous() if isinstance(x, torch.Tensor) else np.ascontiguousarray(x) if x.ndim else x


def _usual_type(x: Any) -> Any:
    if isinstance(x, torch.Tensor) and x.is_floating_point():
        return x.float()
    if isinstance(x, np.ndarray) and x.dtype.kind == "f":
        return x.astype("float64")
    return x


def _lengths(calls: Calls) -> list[int]:
    found = set[int]()

    def look(value: Any) -> Any:
        if is_array(value):
            found.update(value.shape)
        elif isinstance(value, (list, tuple)):
            found.add(len(value))
        elif type(value) is int:
            found.add(value)
        return value

    for step in calls:
        for part in (*step.args, *step.kwargs.values()):
            replace(step, args=(part,), kwargs={}, cotangents=None).mapped(look)
    return sorted((n for n in found if n > 1), reverse=True)


def _smaller_sizes(calls: Calls) -> Iterator[Calls]:
    """Shorten all axes of one length, and equal numbers, in all calls together."""
    for size in _lengths(calls):
        for to in sorted({1, 2, size // 2, size - 1} - {0, size}):
            if to > size:
                continue
            yield _cut(calls, {size: to})
            multiples = {n: n // size * to for n in _lengths(calls) if n % size == 0}
            if len(multiples) > 1:
                yield _cut(calls, multiples)
            yield _cut(calls, {size: to}, below=to)
            if to == size - 1 and size <= 4:
                for start in range(1, size):
                    yield _cut(calls, {size: to}, without=start)


def _cut(calls: Calls, lengths: dict[int, int], without: int | None = None, below: int = 0) -> Calls:
    """Shorten axes, lists and whole numbers.

    without: the index to remove, instead of the last ones
    below:   if positive, reduce entries of integer arrays to less than this number
    """

    def change(value: Any) -> Any:
        if is_array(value):
            for axis, n in enumerate(value.shape):
                if n in lengths:
                    kept = [i for i in range(n) if i != without][: lengths[n]]
                    where = slice(0, lengths[n]) if without is None else kept
                    value = value[(slice(None),) * axis + (where,)]
            is_whole = as_tensor(value).dtype in (torch.int64, torch.int32)
            return value % below if below and is_whole else value
        if isinstance(value, (list, tuple)) and len(value) in lengths and _is_plain(value):
            kept = [v for i, v in enumerate(value) if i != without][: lengths[len(value)]]
            return type(value)(kept)
        return lengths.get(value, value) if type(value) is int else value

    found = []
    for step in calls:
        arguments = replace(step, args=tuple(step.args))
        # The tuple of arguments is not a list whose length could be cut.
        args = tuple(replace(arguments, args=(a,), kwargs={}, cotangents=None).mapped(change).args[0] for a in step.args)
        kwargs = {k: replace(arguments, args=(v,), kwargs={}, cotangents=None).mapped(change).args[0] for k, v in step.kwargs.items()}
        cotangents = tuple(change(c) for c in step.cotangents) if step.cotangents is not None else None
        new = replace(step, args=args, kwargs=kwargs, cotangents=cotangents)
        found.append(replace(new, state=None) if step.fill is not None else new)
    return tuple(found)


def _is_plain(value: Any) -> bool:
    return not any(isinstance(v, Made) for v in value)


def _lower_rank(calls: Calls) -> Iterator[Calls]:
    ranks = {x.ndim for s in calls for x in leaves_of((s.args, s.kwargs)) if is_array(x)}
    if not ranks or max(ranks) < 2:
        return
    for least in sorted(ranks):
        for index in (0, -1):
            yield _each(calls, _arrays_only(lambda x, r=least, i=index: x[i] if x.ndim >= max(r, 2) else x))


def _fewer_arguments(calls: Calls) -> Iterator[Calls]:
    for number, step in enumerate(calls):
        for name in step.kwargs:
            kwargs = {k: v for k, v in step.kwargs.items() if k != name}
            yield (*calls[:number], replace(step, kwargs=kwargs), *calls[number + 1 :])
        if len(step.args) > 1 and step.options.brought != IN_A_ROW:
            yield (*calls[:number], replace(step, args=step.args[:-1]), *calls[number + 1 :])


def _floats(make: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Any], Any]:
    """Return a change of the float arrays; infinities and NaN remain."""

    def change(value: Any) -> Any:
        if not is_array(value) or not as_tensor(value).is_floating_point():
            return value
        x = as_tensor(value)
        new = torch.where(torch.isfinite(x), (make(x.double()) + 0.0).to(x.dtype), x)
        if isinstance(value, torch.Tensor):
            return new if value.is_contiguous() else _like_strides(value, new)
        return new.numpy() if value.flags.c_contiguous or not value.ndim else _numpy_strides(value, new)

    return change


def _like_strides(value: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    if 0 in value.stride():
        kept = tuple(slice(0, 1) if s == 0 else slice(None) for s in value.stride())
        return new[kept].contiguous().expand(value.shape)
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(new)


def _numpy_strides(value: Any, new: torch.Tensor) -> Any:
    order = sorted(range(value.ndim), key=lambda axis: -value.strides[axis])
    dense = np.ascontiguousarray(new.numpy().transpose(order))
    return dense.transpose([order.index(axis) for axis in range(value.ndim)])


_MAKES: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    torch.zeros_like,
    torch.ones_like,
    lambda x: (x > 0).double(),
    torch.sign,
    torch.round,
    lambda x: torch.round(x / 100) * 100,
    lambda x: torch.round(2 * x) / 2,
    lambda x: torch.round(10 * x) / 10,
    lambda x: torch.arange(x.numel()).double().reshape(x.shape),
    lambda x: torch.round(100 * x) / 100,
    *(partial(lambda x, m: counted(tuple(x.shape), m).double(), m=m) for m in MODULI),
    lambda x: normal(tuple(x.shape)).double(),
)


def _plainer_values(calls: Calls) -> Iterator[Calls]:
    for make in _MAKES:
        yield _each(calls, _floats(make))


def _single_arrays(calls: Calls) -> Iterator[Calls]:
    arrays = {id(x): x for s in calls for x in leaves_of(s.values) if is_array(x)}
    for chosen in list(arrays.values())[:12]:
        for make in _MAKES:
            change = _floats(make)
            yield _each(calls, lambda v, c=change, x=chosen: c(v) if _is_same(v, x) else v)
        x = as_tensor(chosen)
        if not x.is_floating_point() and x.numel():
            for fill in (0, 1):
                yield _each(calls, lambda v, x=chosen, f=fill: _filled(v, f) if _is_same(v, x) else v)
            for modulus in MODULI:
                yield _each(calls, lambda v, x=chosen, m=modulus: _counted(v, m) if _is_same(v, x) else v)


def _is_same(value: Any, chosen: Any) -> bool:
    if value is chosen:
        return True
    # `mapped` passes a detached alias of a tensor
    tensors = isinstance(value, torch.Tensor) and isinstance(chosen, torch.Tensor)
    return tensors and value.data_ptr() == chosen.data_ptr() and value.shape == chosen.shape


def _filled(value: Any, fill: int) -> Any:
    return torch.full_like(value, fill) if isinstance(value, torch.Tensor) else np.full_like(value, fill)


def _counted(value: Any, modulus: int) -> Any:
    new = counted(tuple(value.shape), modulus).to(as_tensor(value).dtype)
    return new if isinstance(value, torch.Tensor) else new.numpy()


def _single_entries(calls: Calls) -> Iterator[Calls]:
    arrays = {id(x): x for s in calls for x in leaves_of(s.values) if is_array(x)}
    total = sum(as_tensor(x).numel() for x in arrays.values())
    if total > 4 * _MOST_ENTRIES:
        return
    for chosen in arrays.values():
        if not as_tensor(chosen).numel() or as_tensor(chosen).numel() > _MOST_ENTRIES:
            continue
        if not (chosen.is_contiguous() if isinstance(chosen, torch.Tensor) else True):
            continue
        for place in range(as_tensor(chosen).numel()):
            for new in (0, 1, 2):
                yield _each(
                    calls,
                    lambda v, x=chosen, p=place, n=new: _with_entry(v, p, n) if _is_same(v, x) else v,
                )


def _with_entry(value: Any, place: int, new: int) -> Any:
    if isinstance(value, np.generic):
        return type(value)(new)
    copy = value.clone() if isinstance(value, torch.Tensor) else value.copy()
    copy.reshape(-1)[place] = new
    return copy


def _plainer_scalars(calls: Calls) -> Iterator[Calls]:
    """Simplify whole numbers, floats and strings, one at a time, and drop items of lists."""
    for number, step in enumerate(calls):
        count = _Counter()
        step.mapped(count)
        for place, value in enumerate(count.values):
            for new in _plainer(value):
                changed = step.mapped(_Counter(place, new))
                changed = replace(changed, state=None) if changed.fill is not None else changed
                yield (*calls[:number], changed, *calls[number + 1 :])


class _Counter:
    """Numbers the plain values of a step in order; replaces the one at `place`."""

    def __init__(self, place: int = -1, new: Any = None) -> None:
        self.values: list[Any] = []
        self._place, self._new = place, new

    def __call__(self, value: Any) -> Any:
        if is_array(value):
            return value
        self.values.append(value)
        return self._new if len(self.values) - 1 == self._place else value


def _plainer(value: Any) -> Iterator[Any]:
    if type(value) is int:
        yield from sorted({1, 2, value // 2, value - 1} - {0, value})
    elif type(value) is float and math.isfinite(value):
        yield from dict.fromkeys((0.0, 1.0, round(value), round(value, 1), round(value, 2)))
    elif isinstance(value, str) and len(value) > 1:
        yield from (value[:1], value[:2], value[: len(value) // 2], value[:-1])
    elif isinstance(value, list) and len(value) > 1:
        for index in range(min(len(value), 12)):
            yield value[:index] + value[index + 1 :]


__all__ = ["Calls", "Special", "cost", "needed", "shrunk"]
