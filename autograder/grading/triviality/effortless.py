"""Recognise answers that take no work: constants, NaN, an argument, or the mean of an argument.

An answer shows nothing if the correct one is as simple, as in a test with a single token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...worker.protocol import frames
from ...worker.protocol.values import Decoder
from ..comparator import DIGITS, close
from ..decoding import Answers, Drawing, Figure, read_answer, read_special
from ..diagnosis.probes import Steps
from ..outcomes import Outcome
from ..running.pytest_plugin import Ran
from ..targets.in_process import Answer, request_of
from .answer_contents import contents

_LARGEST_ARGUMENT = 1 << 20  # entries


def effortless_tests(
    ran: Iterable[Ran], right: Mapping[str, Answers], requests: Mapping[str, Steps]
) -> dict[str, bool]:
    """Map each comparable test to whether its last answer takes no work.

    right:    the solution's answers in each test
    requests: the requests of each test
    """
    found = {}
    for one in ran:
        index, test = len(one.answers) - 1, one.report.name
        steps, good = requests.get(test, ()), right.get(test, ())
        if 0 <= index < min(len(steps), len(good)):
            with np.errstate(all="ignore"):
                effortless = _is_effortless(one.answers[index], good[index], steps[index][0])
            if effortless is not None:
                found[test] = effortless
    return found


def _is_effortless(mine: Answer | Outcome, right: Answer | Outcome, frame: bytes) -> bool | None:
    """Return whether an answer takes no work, or None if the answers cannot be compared."""
    if not (isinstance(mine, tuple) and isinstance(right, tuple)):
        return None
    if mine[0].status != "ok" or right[0].status != "ok":
        return None
    try:
        (own, _), (good, _) = read_answer(mine), read_answer(right)
        arguments = _arguments(frame)
    except frames.BadFrame:
        return None
    answered, expected = list(contents(own)), list(contents(good))
    if _has_drawing(good):
        return True if answered and not _has_drawing(own) else None
    if not answered or not expected:
        return None
    if len(answered) == len(expected):
        pairs = zip(answered, expected, strict=True)
        answered = [a for a, e in pairs if not _is_simple(e, arguments)]
    compared = [a for a in answered if isinstance(a, str) or a.size > 1]
    return all(_is_simple(a, arguments) for a in compared) if compared else None


def _arguments(frame: bytes) -> list[Any]:
    """Return the numbers among the arguments of a call."""
    call, buffers = request_of(frame)
    if not isinstance(call, frames.Call):
        return []
    decode = Decoder(buffers, special=read_special)
    parts = contents([decode(v) for v in (*call.args, *call.kwargs.values())])
    return [p for p in parts if not isinstance(p, str) and 0 < p.size <= _LARGEST_ARGUMENT]


def _has_drawing(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_drawing, value))
    return isinstance(value, (Drawing, Figure))


def _is_simple(part: Any, arguments: list[Any]) -> bool:
    """Return True for an empty text, one constant, NaN, an argument and the mean of an argument."""
    if isinstance(part, str):
        return not part.strip()
    numbers = part.ravel()
    if np.isnan(numbers).all() or (numbers == numbers[0]).all():
        return True
    return any(_equal(numbers, a.ravel()) or _is_mean(part, a) for a in arguments)


def _is_mean(part: Any, argument: Any) -> bool:
    means = (argument.mean(axis) for axis in range(argument.ndim)) if argument.ndim > 1 else ()
    return any(_equal(np.squeeze(part), np.squeeze(mean)) for mean in means)


def _equal(part: Any, simple: Any) -> bool:
    """Return True if an array equals another one that is broadcast to its shape."""
    try:
        return close(part, np.broadcast_to(simple, part.shape), DIGITS)
    except ValueError:
        return False
