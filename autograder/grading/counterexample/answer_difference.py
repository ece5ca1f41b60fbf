"""Decide whether and how a reply is certainly wrong, and write both replies side by side."""

import re
from collections.abc import Callable, Collection, Iterator
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

import numpy as np
import torch

from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, Effect, nested
from ...worker.protocol.values import FAKE_DEVICE, Drawing, Figure, read_answer
from ..assertions.call_comparison import check_side_effects
from ..assertions.value_comparison import compare
from ..comparator import as_tensor, distance, is_array, largest_entry
from ..disclosure.signatures import NamedParts
from ..outcomes import BadReply, Flaw, GraderFault, Outcome, Wrong, printable
from .value_text import DIGITS, result_text
from .work_difference import MEMORY_ACCESS, work_text, wrong_counts

WORK = ("work", "memory access")  # kinds whose `path` is the name of a count
_MOST = 12  # entries of an array to show; of a larger one, only the entry that differs most
_OF_PART = ("value", "type", "shape", "dtype")  # kinds whose path leads to a part of the result
_MUCH_FURTHER = 10  # times the distance of a correct value
_LONGEST = 160  # characters of a text
_ARGUMENTS = (Effect.TENSOR, Effect.TENSOR_SHAPE, Effect.ARRAY)


class AnswerDifference(NamedTuple):
    """How a reply differs from the solution's.

    path: the position of the different part in nested results, the index of the gradient, or the
          name of the count
    """

    kind: str
    path: tuple[Any, ...] = ()


def difference(
    right: Answer,
    mine: Answer | Outcome,
    makes: bool = False,
    strictly: bool = False,
    work: Collection[str] | None = None,
) -> AnswerDifference | None:
    """Return how a reply is certainly wrong, or None if it may be right.

    makes:    whether the call makes an object, which may draw random numbers
    strictly: whether rounding errors are wrong that the hidden tests do not tolerate by default
    work:     the counts to compare; None compares all
    """
    if isinstance(mine, Outcome):
        return AnswerDifference("stopped")
    a, b = mine[0], right[0]
    if a.banned and not b.banned:
        return AnswerDifference("forbidden")
    if a.status != b.status or b.raised is not None:
        return _of_status(a, b)
    try:
        values = read_answer(mine), read_answer(right)
    except frames.BadFrame:
        return AnswerDifference("type")
    if any(not isinstance(g, torch.Tensor | None) for g in values[0][1]):
        return AnswerDifference("type")
    for path, x, y in _located(values[0][0], values[1][0], ()):
        kind = _kind(x, y, strictly)
        if kind:
            return AnswerDifference(kind, path)
    for v, w in zip(nested((a.value,)), nested((b.value,)), strict=False):
        if isinstance(v, frames.TensorV) and isinstance(w, frames.TensorV) and v.device != w.device:
            return AnswerDifference("device")
    lost = [n for n in a.detached if n not in b.detached]
    if lost:
        return AnswerDifference("detached", (lost[0],))
    index = _wrong_gradient(values[0][1], *reversed(values[1]))
    if index is not None:
        return AnswerDifference("gradient", (index,))
    new = [] if makes else [e for e in a.side_effects if e not in b.side_effects]
    if new:
        return AnswerDifference("argument" if new[0].effect in _ARGUMENTS else "effect", (new[0],))
    for name in wrong_counts(a.counts, b.counts) if a.counts and b.counts else ():
        if work is None or name in work:
            kind = "memory access" if name in MEMORY_ACCESS else "work"
            return AnswerDifference(kind, (name,))
    return None


def _of_status(a: frames.Reply, b: frames.Reply) -> AnswerDifference | None:
    if b.raised is None:
        return AnswerDifference("exception" if a.raised is not None else a.status)
    if a.raised is None or b.raised.type not in a.raised.bases:
        return AnswerDifference("refusal")
    numbers = re.findall(r"\d+", b.raised.message)
    named = not numbers or any(number in a.raised.message for number in numbers)
    return None if named else AnswerDifference("message")


def _located(a: Any, b: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Yield the innermost parts of two results in pairs, with their position."""
    both = (a, b)
    if all(isinstance(x, dict) for x in both) and a.keys() == b.keys():
        keys = list(b)
    elif all(isinstance(x, (tuple, list)) for x in both) and len(a) == len(b):
        keys = list(range(len(b)))
    else:
        yield path, a, b
        return
    for key in keys:
        yield from _located(a[key], b[key], (*path, key))


def _kind(a: Any, b: Any, strictly: bool) -> str:
    """Return how part of a result is wrong, or ""; the comparison of the hidden tests decides."""
    if isinstance(b, frames.OpaqueV):  # such as a method, which cannot be compared
        return ""
    if isinstance(a, str) and isinstance(b, str):
        a, b = a.rstrip("\n"), b.rstrip("\n")
    try:
        compare(a, b)
        return ""
    except GraderFault:  # the solution's result is NaN
        return ""
    except BadReply:
        return "type"
    except Wrong as wrong:
        if isinstance(b, (Drawing, Figure)):
            return "type" if type(a) is not type(b) else "drawing"
        if isinstance(b, str):
            return "text" if isinstance(a, str) else "type"
        if wrong.flaw is Flaw.KIND:
            alike = is_array(a) and is_array(b)
            if not alike or isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor):
                return "type"
            return "shape" if tuple(a.shape) != tuple(b.shape) else "dtype"
        a = b.dtype.type(a) if isinstance(b, np.generic) else a
        return "value" if strictly or distance(a, b) > 1 else ""


def _wrong_gradient(mine: tuple[Any, ...], right: tuple[Any, ...], value: Any) -> int | None:
    """Return the index of the first wrong gradient; a missing gradient is zero."""
    largest = max(
        map(largest_entry, value if isinstance(value, (tuple, list)) else (value,)), default=0.0
    )
    scale = max([*map(largest_entry, right), 1e-2 * largest], default=0.0)
    for index, pair in enumerate(zip(mine, right, strict=False)):
        if any(g is not None for g in pair) and distance(*_with_zeros(*pair), scale) > 1:
            return index
    return None


def _with_zeros(a: Any, b: Any) -> tuple[Any, Any]:
    """Replace a missing gradient by zeros."""
    return torch.zeros_like(b) if a is None else a, torch.zeros_like(a) if b is None else b


def is_style(
    found: AnswerDifference,
    other: Answer | Outcome,
    wrong: AnswerDifference,
    right: Answer,
    mine: Answer | Outcome,
) -> bool:
    """Return True if a correct program's answer differs from the solution's in style only.

    Messages may state other numbers, and values may be rounded differently: a value is wrong if it
    is much further away. Parts of the result that are not wrong in this answer do not count.

    found: how `other`, the correct program's answer, differs from the solution's
    wrong: how `mine` differs
    """
    if found.kind == "message":
        return True
    if found.kind not in _OF_PART or wrong.kind not in _OF_PART or isinstance(other, Outcome):
        return False
    assert isinstance(mine, tuple)
    parts = (reduce(getitem, wrong.path, read_answer(x)[0]) for x in (right, other, mine))
    correct, near, far = parts
    gap, is_value = distance(near, correct), wrong.kind == "value"
    return gap <= 1 or (is_value and _MUCH_FURTHER * gap < distance(far, correct))


class Sides(NamedTuple):
    """The expected and the actual value of a call, as short texts that differ.

    suffix: what selects the shown part of the value, such as "[1, 0]"
    digits: how many significant digits make the texts differ
    """

    expected: str
    actual: str
    suffix: str = ""
    digits: int = 0


def side_by_side(
    found: AnswerDifference, right: Answer, mine: Answer | Outcome, parts: NamedParts
) -> Sides:
    """Write two replies. `parts`: the subject of the result, with the names of its parts."""
    if isinstance(mine, Outcome):
        return Sides(_whole(right), printable(mine.message)[:_LONGEST] or "no answer")
    match found.kind:
        case "value" | "shape" | "dtype" | "type" | "text" | "drawing":
            return _parts(found, read_answer(right)[0], read_answer(mine)[0], parts)
        case "device":
            is_one = isinstance(right[0].value, frames.TensorV)
            return Sides("on the GPU", "on the CPU", ".device" if is_one else "")
        case "detached":
            many = isinstance(read_answer(right)[0], (tuple, list))
            return Sides("True", "False", f"[{found.path[0]}]" if many else "")
        case "gradient":
            gradients = (read_answer(x)[1][found.path[0]] for x in (right, mine))
            return differing_entries(*_with_zeros(*gradients))
        case "work" | "memory access":
            counts = [x[0].counts or frames.Counts(0, 0, 0) for x in (right, mine)]
            return Sides(work_text(found.path[0], counts[0]), work_text(found.path[0], counts[1]))
        case "state" if mine[0].mismatch is not None:
            return _state(mine[0].mismatch)
        case "effect":
            try:
                check_side_effects(mine[0], "it")
            except Wrong as wrong:
                return Sides("no other effect", wrong.message)
    return Sides(_whole(right), _whole(mine))


def _parts(found: AnswerDifference, expected: Any, actual: Any, parts: NamedParts) -> Sides:
    where = ""
    for depth, key in enumerate(found.path):
        named = depth == 0 and isinstance(expected, (tuple, list))
        where += parts.part(key, len(expected)).strip("`") if named else f"[{key!r}]"
        expected, actual = expected[key], actual[key]
    path = "".join(f"[{key!r}]" for key in found.path)
    if found.kind == "value":
        sides = differing_entries(expected, actual, path)
    elif found.kind == "dtype":
        sides = Sides(str(expected.dtype), str(actual.dtype), f"{path}.dtype")
    elif found.kind == "text":
        sides = Sides(expected, printable(actual))
    elif found.kind == "drawing":
        sides = Sides(*_drawings(expected, actual))
    else:
        note = _NOTES[found.kind]
        sides = Sides(note(expected), note(actual))
    if not where or sides.suffix:
        return sides
    where = where[:1].lower() + where[1:]
    return sides._replace(expected=f"{where}: {sides.expected}", actual=f"{where}: {sides.actual}")


_NOTES: dict[str, Callable[[Any], str]] = {
    "shape": lambda x: f"{_short(x)}, shape {tuple(x.shape)}",
    "type": lambda x: _short(x) if hasattr(x, "type") else f"{type(x).__name__} {_short(x)}",
}


def _short(value: Any) -> str:
    text = result_text(value, 2)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _whole(answer: Answer) -> str:
    reply = answer[0]
    if reply.banned:
        return f"a call of {printable(reply.banned[0].call)}, which is not allowed"
    if reply.raised is not None:
        message = reply.raised.message.replace(FAKE_DEVICE, "cuda")
        text = f"raised {reply.raised.type}: {message}"
        return printable(text)[:_LONGEST].strip(": ")
    others = {"missing": "there is no such name", "too_large": "a result that is too large"}
    return others.get(reply.status) or _short(read_answer(answer)[0])


def differing_entries(expected: Any, actual: Any, path: str = "", limit: int = _MOST) -> Sides:
    """Return both values, or the entry that differs most if there are more than `limit`."""
    suffix = ""
    if is_array(expected) and as_tensor(expected).numel() > limit:
        x, y = as_tensor(expected), as_tensor(actual)
        gap = torch.nan_to_num((x.double() - y.double()).abs(), nan=torch.inf)
        gap = torch.where((x == y) | (torch.isnan(x) & torch.isnan(y)), 0.0, gap)
        index = [int(i) for i in np.unravel_index(int(gap.argmax()), tuple(gap.shape))]
        expected, actual, suffix = x[tuple(index)].item(), y[tuple(index)].item(), f"{path}{index}"
    for digits in DIGITS:
        texts = result_text(expected, digits), result_text(actual, digits)
        if texts[0] != texts[1]:
            break
    return Sides(*texts, suffix, digits)


def _state(found: frames.StateMismatch) -> Sides:
    if found.shapes and not found.missing and not found.unexpected:
        name, shape, own = found.shapes[0]
        name = printable(name)
        return Sides(f"{name} with shape {shape}", f"{name} with shape {own}")
    expected, actual = (
        f"parameters {', '.join(map(printable, names))}" if names else "none of these"
        for names in (found.missing, found.unexpected)
    )
    return Sides(expected, actual)


_LOOKS: dict[str, Callable[[Drawing], Any]] = {
    "images": lambda d: len(d.images),
    "first row at the top": lambda d: [i.top_row_first for i in d.images],
    "cells": lambda d: result_text([i.data for i in d.images], 3),
    "colours from, to": lambda d: [(i.vmin, i.vmax) for i in d.images],
    "x label": lambda d: d.xlabel.strip(),
    "y label": lambda d: d.ylabel.strip(),
    "title": lambda d: d.title.strip(),
    "columns": lambda d: list(d.xticks),
    "rows": lambda d: list(d.yticks),
    "drawn on the given Axes": lambda d: d.same_axes,
}


def _drawings(expected: Any, actual: Any) -> tuple[str, str]:
    """Return the first part of a drawing that differs, as two texts."""
    if isinstance(expected, Figure):
        if len(expected.axes) != len(actual.axes):
            return f"{len(expected.axes)} panels", f"{len(actual.axes)} panels"
        for number, pair in enumerate(zip(expected.axes, actual.axes, strict=True)):
            if _kind(pair[1], pair[0], False):
                x, y = _drawings(*pair)
                return f"panel {number + 1}, {x}", f"panel {number + 1}, {y}"
    for name, look in _LOOKS.items() if isinstance(expected, Drawing) else ():
        x, y = look(expected), look(actual)
        if x != y and x:
            return f"{name}: {x}", f"{name}: {printable(str(y))[:_LONGEST]}"
    return "the drawing", "a different drawing"
