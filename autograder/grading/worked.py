"""Whether a failed test shows the work that the price of a named mistake gives credit for.

A named mistake costs little because all the rest is there. Where a test ends at a result's type or
at a layer that does not fit, nobody has looked at the rest, and an empty exercise of the same type
would be called by the same name. So its values are looked at here in spite of the flaw: they are
those of the misconception or the right ones, in whatever type or beside whatever texts; a drawing
that was returned as something else has the right pictures; what was printed in place of being
returned is the right text; and with layers that are made to fit, the tests hold (`Fitting`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import torch

from ..model.verdicts import Verdict
from ..worker import wire
from ..worker.values import Decoder
from .alike import Answers, same_failure
from .drawn import Drawing, Figure, read_special
from .outcomes import Flaw, Outcome
from .plugin import Ran
from .targets import Answer, Target, as_frame, request_of

_CLOSE = 0.02  # in parts of the largest entry
_MOST = 0.5  # of the tests, that must show it
_LOOKED_AT = 64  # numbers of an answer
_LEAST = 4  # numbers
_HUGE = 1e150  # stands for infinity
_SAME_ORDER = 0.99  # correlation with the ranks of the right answer

Shown = list[Any]


def without_work(
    mine: Iterable[Ran], theirs: Iterable[Ran], right: Mapping[str, Answers]
) -> frozenset[str] | None:
    """The tests that a misconception and a submission fail alike, and that show none of its work.

    None if those are most of the tests that can tell.
    """
    failed = {r.report.name: r for r in mine}
    found = {
        one.report.name: _shown(failed[one.report.name], one, right.get(one.report.name, ()))
        for one in theirs
        if one.report.name in failed
    }
    told = {test: shown for test, shown in found.items() if shown is not None}
    if told and sum(told.values()) < _MOST * len(told):
        return None
    return frozenset(test for test, shown in told.items() if not shown)


def came_to_something(ran: Iterable[Ran]) -> bool:
    """Whether tests ended with answers, most of them with numbers that are not all the same.

    An error or NaN everywhere is soon had: like a mistake's, it says nothing of what else is there.
    """
    runs = list(ran)
    told = sum(_holds_numbers(r) for r in runs if r.report.verdict is Verdict.WRONG)
    wrong = all(r.report.verdict is Verdict.WRONG for r in runs)
    return wrong and told >= _MOST * len(runs)


def resembles_right_answers(ran: Iterable[Ran], right: Mapping[str, Answers]) -> bool:
    """Return True if most answers hold the right values in another order or on another scale.

    Then an exercise was attempted even if each of its tests fails, by its values or by a call that
    is not allowed.
    """
    tried = (r for r in ran if r.report.verdict in (Verdict.WRONG, Verdict.FORBIDDEN))
    alike = [_resembles(r, right.get(r.report.name, ())) for r in tried]
    told = [one for one in alike if one is not None]
    return bool(told) and sum(told) >= _MOST * len(told)


def resembling(ran: Collection[Ran], right: Mapping[str, Answers]) -> set[str]:
    """Return the tests whose answers resemble the right ones, or cannot be compared, if most do."""
    if not resembles_right_answers(ran, right):
        return set()
    names = {r.report.name: _resembles(r, right.get(r.report.name, ())) for r in ran}
    return {name for name, alike in names.items() if alike is not False}


def _resembles(ran: Ran, right: Answers) -> bool | None:
    """Return True if an answer, or a part of it, resembles the right one; None if nobody can tell.

    It does if a monotone function, such as a factor or a logarithm, leads from one to the other, or
    if both hold the same values.
    """
    index = len(ran.answers) - 1
    if not 0 <= index < len(right):
        return None
    try:
        own, expected = (_numbers(_content(a)) for a in (ran.answers[index], right[index]))
    except wire.BadFrame:
        return False
    wanted = np.concatenate([np.zeros(0), *expected])
    if wanted.size < _LEAST or not np.ptp(wanted) > 0:
        return None
    parts = (p for p in (np.concatenate([np.zeros(0), *own]), *own) if p.size == wanted.size)
    return any(_same_order(p, wanted) or _near_part(np.sort(p), np.sort(wanted)) for p in parts)


def _same_order(mine: Any, right: Any) -> bool:
    """Return True if the ranks of two arrays' values correlate; equal values have one rank."""
    own, wanted = (np.unique(x, return_inverse=True)[1].ravel() for x in (mine, right))
    return bool(np.ptp(own) > 0 and abs(np.corrcoef(own, wanted)[0, 1]) > _SAME_ORDER)


def _numbers(shown: Shown | None) -> list[Any]:
    """The numbers of each part of an answer, all finite."""
    parts = (np.real(p).ravel() for p in shown or () if not isinstance(p, str))
    return [np.nan_to_num(p, posinf=_HUGE, neginf=-_HUGE) for p in parts]


def _holds_numbers(ran: Ran) -> bool:
    """Whether what was answered holds two different numbers."""
    seen = set[float]()
    for answer in ran.answers:
        try:
            parts = _content(answer) or []
        except wire.BadFrame:
            return False
        for part in parts:
            if not isinstance(part, str):
                numbers = np.real(np.asarray(part, dtype=np.complex128)).ravel()
                seen.update(numbers[np.isfinite(numbers)][:_LOOKED_AT].tolist())
        if len(seen) > 1:
            return True
    return ran.flaw is Flaw.STATE


def _shown(mine: Ran, theirs: Ran, right: Answers) -> bool | None:
    """Whether this test shows it; None if it cannot tell."""
    if theirs.flaw in (Flaw.STATE, Flaw.REFUSAL) or not theirs.flaw.tells_by_itself:
        return None
    if mine.flaw is not theirs.flaw:
        return None  # of another mistake beside it
    index = len(mine.answers) - 1
    other = theirs.answers[-1] if theirs.answers else None
    good = right[index] if 0 <= index < len(right) else None
    try:
        own, expected = _content(mine.answers[-1] if mine.answers else None), _content(other)
        if own is None or expected is None:
            return None  # it raised, or came to no answer: that is all there is
        if not expected:  # objects, of which nothing but their kind is seen
            return None if same_failure(mine, theirs, right) else False
        if not own:
            return False
        printed = isinstance(own[0], str)  # which no comparison of failures looks at
        if not printed and same_failure(mine, theirs, right):
            return True
        all_right = _content(good)
        if any(c is not None and _near(own, c) for c in (expected, all_right)):
            return True
        return all_right is not None and _right_numbers(own, all_right)
    except wire.BadFrame:
        return False


def _content(answer: Answer | Outcome | None) -> Shown | None:
    """The numbers and texts of an answer, or what was printed instead; None if it is no value."""
    if not isinstance(answer, tuple) or answer[0].status != "ok":
        return None
    reply, buffers = answer
    value = Decoder(buffers, special=read_special)(reply.value)
    if value is None:
        return [_text(reply.printed)] if reply.printed.strip() else []
    return list(parts_of(value))


def parts_of(value: Any) -> Iterable[Any]:
    if isinstance(value, torch.Tensor):
        if not value.is_meta:
            yield (
                value.detach().to(torch.complex128 if value.is_complex() else torch.float64).numpy()
            )
    elif isinstance(value, (np.ndarray, np.generic, bool, int, float)):
        array = np.asarray(value)
        yield array if array.dtype.kind == "c" else array.astype(np.float64)
    elif isinstance(value, str):
        yield _text(value)
    elif isinstance(value, Figure):
        yield from parts_of(value.axes)
    elif isinstance(value, Drawing):
        yield from (image.data for image in value.images)
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from parts_of(part)
    elif isinstance(value, dict):
        yield from parts_of(list(value.values()))


def _text(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def _near(mine: Shown, other: Shown) -> bool:
    return len(mine) == len(other) and all(map(_near_part, mine, other))


def _right_numbers(mine: Shown, right: Shown) -> bool:
    """Whether the numbers are right, beside texts that are not: as many as nobody guesses."""
    own, expected = ([p for p in parts if not isinstance(p, str)] for parts in (mine, right))
    return sum(p.size for p in expected) >= _LEAST and _near(own, expected)


def _near_part(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return bool(type(a) is type(b) and a == b)
    if a.size != b.size:
        return False
    x, y = a.ravel(), b.ravel()
    finite = np.abs(y[np.isfinite(y)])
    slack = _CLOSE * (float(finite.max()) if finite.size else 0.0)
    return bool(np.allclose(x, y, rtol=_CLOSE, atol=slack, equal_nan=True))


class Fitting:
    """A submission whose layers are made to fit the weights that they are given, where they can."""

    def __init__(self, inner: Target) -> None:
        self._inner = inner

    @property
    def attempts(self) -> Sequence[str]:
        return self._inner.attempts

    def begin(self, test: str, exercise: str) -> None:
        self._inner.begin(test, exercise)

    def request(self, frame: bytes) -> Answer:
        call, buffers = request_of(frame)
        if isinstance(call, wire.Call) and call.construct:
            frame = as_frame(msgspec.structs.replace(call, fitting=True), buffers)
        return self._inner.request(frame)

    def close(self) -> None:
        self._inner.close()


def empty_when_fitted(
    mine: Target, run: Callable[[Target], Iterable[Ran]], theirs: Callable[[], Iterable[Target]]
) -> frozenset[str]:
    """The tests that a submission fails for more than its layers.

    They fail once these fit, and do not end there as one of the misconceptions does with its own
    layers: those of other sizes hold numbers that follow from their names.
    """
    failed = {r.report.name: r for r in _fitted(mine, run) if r.report.verdict.failed}
    for one in theirs() if failed else ():
        for ran in _fitted(one, run):
            name = ran.report.name
            if name in failed and ran.report.verdict.failed and _end_alike(failed[name], ran):
                del failed[name]
    return frozenset(failed)


def _fitted(target: Target, run: Callable[[Target], Iterable[Ran]]) -> list[Ran]:
    fitted = Fitting(target)
    try:
        return list(run(fitted))
    finally:
        fitted.close()


def _end_alike(mine: Ran, theirs: Ran) -> bool:
    """Whether two tests ended with near values, or with one kind of error."""
    ends = [r.answers[-1] if r.answers else None for r in (mine, theirs)]
    own, expected = map(_content, ends)
    if own and expected:
        return _near(own, expected)
    errors = [a[0].raised for a in ends if isinstance(a, tuple)]
    kinds = {e.type for e in errors if e is not None}
    raised = len(errors) == 2 and None not in errors
    return own is None and expected is None and raised and len(kinds) == 1
