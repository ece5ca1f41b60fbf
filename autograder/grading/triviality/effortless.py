"""Find answers that take no work: constants, NaN, an argument, or the mean of an argument.

The price of a named mistake pays for the rest of the work. Where all answers could have been had
without any work, there is no rest to pay for, however much a misconception's answers look the same.
An answer tells nothing where the right one is as simple, as in a test with a single token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...worker.protocol import frames
from ...worker.protocol.values import Decoder
from ..decoding import Drawing, Figure, read_special
from ..diagnosis.equivalence import Answers, same_failure
from ..diagnosis.probes import Steps
from ..outcomes import Flaw, Outcome
from ..running.pytest_plugin import Ran
from ..targets.in_process import Answer, request_of
from .shown_work import parts_of

_SAME = 2e-3  # in parts of the largest entry: half precision has about that
_MOST_ENTRIES = 1 << 20  # of an argument

Arrays = list[Any]


def seen_work(
    mine: Iterable[Ran],
    theirs: Iterable[Ran],
    tests: frozenset[str],
    right: Mapping[str, Answers],
    asked: Mapping[str, Steps],
) -> frozenset[str] | None:
    """Return those of a misconception's tests that count as explained; None if none shows work.

    Work is seen where a misconception's answer takes some, and the submission's is the same.
    """
    own = {r.report.name: r for r in mine if r.report.name in tests}
    other = {r.report.name: r for r in theirs if r.report.name in tests}
    mine_simple, their_simple = (effortless(x.values(), right, asked) for x in (own, other))
    told = mine_simple.keys() | their_simple.keys()
    able = [t for t in told if not their_simple.get(t)]
    shown = [t for t in able if not mine_simple.get(t) and _alike(own[t], other.get(t), right)]
    if told and (not able or 2 * len(shown) < len(able)):
        return None
    return frozenset(t for t in tests if their_simple.get(t) or not mine_simple.get(t))


def _alike(mine: Ran, theirs: Ran | None, right: Mapping[str, Answers]) -> bool:
    """Return False if values that were compared are not the misconception's."""
    if theirs is None or mine.flaw is not Flaw.VALUE:
        return True
    return same_failure(mine, theirs, right.get(mine.report.name, ()))


def effortless(
    ran: Iterable[Ran], right: Mapping[str, Answers], asked: Mapping[str, Steps]
) -> dict[str, bool]:
    """Return for each test that can tell whether its last answer took no work.

    asked: the requests of each test.
    """
    found = {}
    for one in ran:
        index, test = len(one.answers) - 1, one.report.name
        steps, good = asked.get(test, ()), right.get(test, ())
        if 0 <= index < min(len(steps), len(good)):
            with np.errstate(all="ignore"):
                told = _took_no_work(one.answers[index], good[index], steps[index][0])
            if told is not None:
                found[test] = told
    return found


def _took_no_work(mine: Answer | Outcome, right: Answer | Outcome, frame: bytes) -> bool | None:
    """Return True if an answer took no work, None if that cannot be told."""
    if any(isinstance(x, Outcome) or x[0].status != "ok" for x in (mine, right)):
        return None
    try:
        own, good = _value(mine), _value(right)
        given = _arguments(frame)
    except frames.BadFrame:
        return None
    answered, wanted = list(parts_of(own)), list(parts_of(good))
    if _holds_drawing(good):
        return True if answered and not _holds_drawing(own) else None
    if not answered or not wanted:
        return None
    if len(answered) == len(wanted):
        pairs = zip(answered, wanted, strict=True)
        answered = [a for a, w in pairs if not _is_simple(w, given)]
    told = [a for a in answered if isinstance(a, str) or a.size > 1]
    return all(_is_simple(a, given) for a in told) if told else None


def _value(answer: Answer | Outcome) -> Any:
    assert isinstance(answer, tuple)
    return Decoder(answer[1], special=read_special)(answer[0].value)


def _arguments(frame: bytes) -> Arrays:
    """Return the numbers among the arguments of a call."""
    call, buffers = request_of(frame)
    if not isinstance(call, frames.Call):
        return []
    decode = Decoder(buffers, special=read_special)
    values = [decode(v) for v in (*call.args, *call.kwargs.values())]
    return [p for p in parts_of(values) if not isinstance(p, str) and 0 < p.size <= _MOST_ENTRIES]


def _holds_drawing(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_holds_drawing, value))
    return isinstance(value, (Drawing, Figure))


def _is_simple(part: Any, given: Arrays) -> bool:
    """Return True for one constant, NaN, and the numbers of an argument or of its mean."""
    if isinstance(part, str):
        return not part.strip()
    numbers = part.ravel()
    if np.isnan(numbers).all() or (numbers == numbers[0]).all():
        return True
    return any(_equal(numbers, a.ravel()) or _is_mean(part, a) for a in given)


def _is_mean(part: Any, given: Any) -> bool:
    return given.ndim > 1 and any(
        _equal(np.squeeze(part), np.squeeze(given.mean(axis)), broadcast=True)
        for axis in range(given.ndim)
    )


def _equal(mine: Any, other: Any, broadcast: bool = False) -> bool:
    if mine.shape != other.shape and not (broadcast and _broadcasts(other.shape, mine.shape)):
        return False
    finite = np.abs(other[np.isfinite(other)])
    slack = _SAME * (float(finite.max()) if finite.size else 0.0)
    return bool(np.allclose(mine, other, rtol=0, atol=slack, equal_nan=True))


def _broadcasts(shape: Sequence[int], to: Sequence[int]) -> bool:
    try:
        return np.broadcast_shapes(tuple(shape), tuple(to)) == tuple(to)
    except ValueError:
        return False
