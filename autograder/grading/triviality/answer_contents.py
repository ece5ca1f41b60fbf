"""Compare the contents of answers, and recognise answers that take no work.

An answer takes no work if it is a constant, NaN, an argument or the mean of an argument. Numbers
and texts are compared independently of their types. If the correct answer is equally simple, as in
a test with a single token, it is unknown whether an answer takes work.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import torch
from msgspec.structs import replace

from ...model.availability import CPU
from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, request_of
from ...worker.protocol.values import Decoder, Drawing, Encoder, Figure, read_answer, read_special
from ..comparator import (
    COARSE,
    DIGITS,
    Tolerance,
    as_tensor,
    close,
    in_dtype,
    is_array,
    rounding_of,
)
from ..outcomes import Answers, Flaw, Outcome
from ..running.pytest_plugin import Ran
from ..targets.in_process import Steps

_MAJORITY = 0.5
_ENOUGH_VALUES = 4  # fewer values could be guessed
_INFINITY = 1e150  # replaces infinity, so that a sum of squares is finite
_TESTS_WITH_CORRECT_PARTS = 2  # one test could be passed by luck
_SAME_ORDER = 0.99  # values with a higher rank correlation count as being in the same order

_MOST_ORDERED = 4  # parts of a result, and axes of an array, whose orders are tried
_HIDES = -1000.0  # a mask that is added to scores hides keys by smaller numbers

Contents = list[Any]  # NumPy arrays of float64 or complex128, and texts


def contents(value: Any) -> Iterator[Any]:
    """Yield the texts in a decoded value, and its numbers and images as arrays."""
    if isinstance(value, torch.Tensor):
        if not value.is_meta:
            wide = torch.complex128 if value.is_complex() else torch.float64
            yield value.detach().to(wide).numpy()
    elif isinstance(value, (np.ndarray, np.generic, bool, int, float)):
        array = np.asarray(value)
        yield array if array.dtype.kind == "c" else array.astype(np.float64)
    elif isinstance(value, str):
        yield "\n".join(line.rstrip() for line in value.strip("\n").split("\n"))
    elif isinstance(value, Drawing):
        yield from (image.data for image in value.images)
    elif isinstance(value, Figure):
        yield from contents(value.axes)
    elif isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from contents(part)


def answer_contents(answer: Answer | Outcome | None) -> Contents | None:
    """Return the contents of an answer, or the printed text if the answer's value is None.

    Return [] if there is neither, and None if the call raised an exception or did not end. Raise
    frames.BadFrame if the answer is malformed.
    """
    if not isinstance(answer, tuple) or answer[0].status != "ok":
        return None
    value = read_answer(answer)[0]
    if value is None:
        printed = answer[0].printed
        return list(contents(printed)) if printed.strip() else []
    return list(contents(value))


def same_contents(mine: Contents, expected: Contents) -> bool:
    """Return True if two answers contain the same texts and about the same numbers, in order."""
    return len(mine) == len(expected) and all(map(_same_part, mine, expected))


def same_numbers(mine: Contents, right: Contents) -> bool:
    """Return True if an answer has the correct numbers, at least four in all; texts may differ."""
    own, expected = ([p for p in parts if not isinstance(p, str)] for parts in (mine, right))
    return sum(p.size for p in expected) >= _ENOUGH_VALUES and same_contents(own, expected)


def _same_part(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return bool(type(a) is type(b) and a == b)
    return a.size == b.size and close(a.ravel(), b.ravel(), COARSE)


def has_outputs(ran: Iterable[Ran]) -> bool:
    """Return True if all tests reject their answers and at least half have varying outputs.

    Exceptions, constants and NaN do not show work. State dicts that fail to load count as varying.
    """
    runs = list(ran)
    rejected = all(r.report.verdict.rejects_answers for r in runs)
    return rejected and sum(map(_has_different_numbers, runs)) >= _MAJORITY * len(runs)


def _has_different_numbers(ran: Ran) -> bool:
    try:
        parts = [part for answer in ran.answers for part in answer_contents(answer) or ()]
    except frames.BadFrame:
        return False
    numbers = [np.real(p).ravel() for p in parts if not isinstance(p, str)]
    finite = [n[np.isfinite(n)] for n in numbers]
    values = np.concatenate([np.zeros(0), *finite])
    return ran.flaw is Flaw.STATE or bool(values.size and np.ptp(values) > 0)


def resembling_tests(
    ran: Collection[Ran], recorded: Mapping[str, Steps], *, needs_work: bool = False
) -> set[str]:
    """Return the tests whose answers resemble the correct ones or cannot be compared with them.

    An answer resembles the correct one if it contains the same values in a different order, or if a
    monotone function such as a factor or a logarithm maps one answer to the other. Return an empty
    set if there are no comparable answers or fewer than half of them resemble the correct ones.

    recorded:   the requests of each test, with the solution's answers
    needs_work: the answers must also take work, and their values must have the same order as the
                correct ones, so that permutations of an argument and inverted masks do not count
    """
    steps = {r.report.name: recorded.get(r.report.name, []) for r in ran}
    similar = {r.report.name: _resembles(r, steps[r.report.name], needs_work) for r in ran}
    comparable = [one for one in similar.values() if one is not None]
    if not comparable or sum(comparable) < _MAJORITY * len(comparable):
        return set()
    return {name for name, one in similar.items() if one is not False}


def _resembles(ran: Ran, steps: Steps, needs_work: bool) -> bool | None:
    """Return whether the last answer resembles the correct one.

    Return None if either answer is missing, or the correct one has too few or only equal values.
    """
    index = len(ran.answers) - 1
    if not 0 <= index < len(steps):
        return None
    try:
        both = ran.answers[index], steps[index][1]
        own, expected = (_real_numbers(answer_contents(a)) for a in both)
    except frames.BadFrame:
        return False
    wanted = np.concatenate([np.zeros(0), *expected])
    if wanted.size < _ENOUGH_VALUES or not np.ptp(wanted) > 0:
        return None
    parts = [p for p in (np.concatenate([np.zeros(0), *own]), *own) if p.size == wanted.size]
    if needs_work:
        if takes_no_work(ran.answers, steps):
            return False
        return any(_rank_correlation(p, wanted) > _SAME_ORDER for p in parts)
    return any(
        abs(_rank_correlation(p, wanted)) > _SAME_ORDER or _same_part(np.sort(p), np.sort(wanted))
        for p in parts
    )


def has_correct_parts(ran: Iterable[Ran], recorded: Mapping[str, Steps]) -> bool:
    """Return True if answers in at least two tests have a correct part that takes work.

    A constant part, an argument or fewer than four values take no work.
    """
    found = (_has_correct_part(r, recorded.get(r.report.name, [])) for r in ran)
    return sum(found) >= _TESTS_WITH_CORRECT_PARTS


def _has_correct_part(ran: Ran, steps: Steps) -> bool:
    try:
        for mine, (frame, correct) in zip(ran.answers, steps, strict=False):
            own, expected = (answer_contents(a) or [] for a in (mine, correct))
            both = list(zip(own, expected, strict=False)) if len(own) == len(expected) else []
            equal = [e for a, e in both if np.size(e) >= _ENOUGH_VALUES and _same_part(a, e)]
            arguments = _arguments(frame) if equal else []
            if not all(_is_simple(e, arguments) for e in equal):
                return True
    except frames.BadFrame:
        pass
    return False


def _rank_correlation(mine: Any, right: Any) -> float:
    """Return the rank correlation of two arrays, or 0 if all values of `mine` are equal."""
    own, wanted = (np.unique(x, return_inverse=True)[1].ravel() for x in (mine, right))
    return float(np.corrcoef(own, wanted)[0, 1]) if np.ptp(own) > 0 else 0.0


def _real_numbers(parts: Contents | None) -> Sequence[Any]:
    """Flatten the real part of each array, and replace NaN and infinity by finite numbers."""
    numbers = (np.real(p).ravel() for p in parts or () if not isinstance(p, str))
    return [np.nan_to_num(n, posinf=_INFINITY, neginf=-_INFINITY) for n in numbers]


_LARGEST_ARGUMENT = 1 << 20  # entries; answers are not compared with larger arguments


def takes_no_work(mine: Answers, steps: Steps) -> bool | None:
    """Return whether the last answer in a test takes no work, or None if this is unknown.

    steps: the requests of the test, with the solution's answers
    """
    index = len(mine) - 1
    if not 0 <= index < len(steps):
        return None
    last, (request, expected) = mine[index], steps[index]
    if isinstance(last, Outcome) or isinstance(expected, Outcome):
        return None
    if last[0].status != "ok" or expected[0].status != "ok":
        return None
    try:
        (own, _), (good, _) = read_answer(last), read_answer(expected)
        arguments = _arguments(request)
    except frames.BadFrame:
        return None
    with np.errstate(all="ignore"):
        return _takes_no_work(own, good, arguments)


def _takes_no_work(own: Any, good: Any, arguments: list[Any]) -> bool | None:
    answered, wanted = list(contents(own)), list(contents(good))
    if _has_drawing(good):
        return True if answered and not _has_drawing(own) else None
    if not answered or not wanted:
        return None
    if len(answered) == len(wanted):
        pairs = zip(answered, wanted, strict=True)
        answered = [a for a, w in pairs if not _is_simple(w, arguments)]
    compared = [a for a in answered if isinstance(a, str) or a.size > 1]
    return all(_is_simple(a, arguments) for a in compared) if compared else None


def _arguments(frame: bytes) -> list[Any]:
    """Return the arrays and numbers in a call's arguments, except empty and very large arrays."""
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
    """Return True for a blank text, a constant, NaN, an argument or the mean of an argument."""
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
    """Return True if `part` approximately equals `simple`, broadcast to the shape of `part`."""
    try:
        return close(part, np.broadcast_to(simple, part.shape), DIGITS)
    except ValueError:
        return False


def with_form(answer: Answer, right: Answer) -> Answer:
    """Give a result the type, dtype, shape and order of parts of the correct result, if possible.

    Axes are ordered such that the values are closest to the correct ones. A float mask, which is
    added to scores, becomes a bool mask. Missing parts are added if all other parts are correct.
    Gradients that do not fit the shapes count as correct.
    """
    reply = answer[0]
    try:
        (value, gradients), (expected, others) = map(read_answer, (answer, right))
    except frames.BadFrame:
        return answer
    given, rights = ([*x] if isinstance(x, (tuple, list)) else [x] for x in (value, expected))
    lacks_parts = 0 < len(given) < len(rights) <= _MOST_ORDERED
    parts = _completed(given, rights) if lacks_parts else given
    orders = ([*map(_fitted, o, rights)] for o in permutations(parts[:_MOST_ORDERED], len(rights)))
    fitted = next((some for some in orders if all(map(_has_form, some, rights))), parts)
    if [*map(id, fitted)] == [*map(id, given)]:
        return answer
    encoder, old = Encoder(), [*frames.nested([reply.value])]
    device = next((v.device for v in old if isinstance(v, frames.TensorV)), CPU)
    new = [encoder(part) for part in fitted]
    new = [replace(x, device=device) if isinstance(x, frames.TensorV) else x for x in new]
    whole = frames.SeqV("tuple", tuple(new)) if isinstance(expected, (tuple, list)) else new[0]
    if reply.gradients is not None:
        reply = replace(reply, gradients=tuple(map(encoder, gradients or others)))
    return replace(reply, value=whole), [memoryview(b) for b in encoder.buffers]


def _completed(parts: list[Any], rights: list[Any]) -> list[Any]:
    """Return all correct parts if each of `parts` is one of them; otherwise, return `parts`."""
    for some in permutations(rights, len(parts)):
        pairs = [(x, y) for x, y in zip(parts, some, strict=True) if is_array(x) and is_array(y)]
        if len(pairs) == len(parts) and all(close(x, y, DIGITS) for x, y in pairs):
            return rights
    return parts


def _has_form(value: Any, right: Any) -> bool:
    if not (is_array(value) and is_array(right)):
        return type(value) is type(right)
    same_type = isinstance(value, torch.Tensor) == isinstance(right, torch.Tensor)
    return same_type and (value.shape, value.dtype) == (right.shape, right.dtype)


def _fitted(value: Any, right: Any) -> Any:
    if _has_form(value, right) or not (is_array(value) and is_array(right)):
        return value
    x, wanted = as_tensor(value), as_tensor(right)
    if x.is_meta or wanted.is_meta or x.numel() != wanted.numel():
        return value
    if wanted.dtype is torch.bool and x.is_floating_point():
        x = x == 0 if bool((x < _HIDES).any()) else x != 0
    if x.shape != wanted.shape:
        axes = permutations(range(x.squeeze().ndim)) if x.ndim <= _MOST_ORDERED else ()
        moved = [y for a in axes if (y := x.squeeze().permute(a)).shape == wanted.squeeze().shape]
        real = in_dtype(wanted.squeeze(), torch.float64)
        gaps = [(in_dtype(y, torch.float64) - real).nan_to_num().abs().sum() for y in moved]
        if not moved:
            return value
        x = moved[gaps.index(min(gaps))].reshape(wanted.shape)
    lost = rounding_of(x.dtype)
    if lost > rounding_of(wanted.dtype) and close(x, wanted, Tolerance(per_largest=lost)):
        return right
    x = in_dtype(x, wanted.dtype)
    return x if isinstance(right, torch.Tensor) else x.numpy()[() if not right.ndim else ...]
