"""Whether a student's run of a hidden test and a misconception's went wrong in the same way.

What is compared is what the test failed for. Where values are wrong, nobody looked at gradients
or at the caller's arguments, so a difference there says nothing. Numbers are the same if they are
equal up to rounding, or if they are much closer to each other than the wrong ones are to the
right ones: the gradient of a large call may hold rounding noise, a float64 of a float32 as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ...model.report.verdicts import Verdict
from ...worker.protocol import frames
from ...worker.protocol.values import Decoder
from ..decoding import Drawing, Figure, read_special
from ..outcomes import Flaw, Outcome
from ..running.pytest_plugin import Ran
from ..targets.in_process import Answer

# As close as this to each other, in parts of the distance from what is right.
_CLOSE = 0.01
Answers = Sequence[Answer | Outcome]


def same_failure(mine: Ran, theirs: Ran, right: Answers = ()) -> bool:
    """Whether both failed a test with the same answers. right: what right code answers there."""
    only_values = mine.flaw.stops_at_values and theirs.flaw.stops_at_values
    return same_answers(mine.answers, theirs.answers, right, only_values=only_values)


def failure_in_part(mine: Ran, theirs: Ran, right: Answers) -> bool:
    """Whether some of several results are wrong as theirs are, and the others right.

    Who makes a mistake in the values alone makes a part of who makes it in keys and values.
    """
    only_values = mine.flaw.stops_at_values and theirs.flaw.stops_at_values
    count = len(mine.answers)
    if not only_values or len(theirs.answers) != count or len(right) < count:
        return False
    found = [_in_part(*some) for some in zip(mine.answers, theirs.answers, right, strict=False)]
    return None not in found and any(found)


def _in_part(
    mine: Answer | Outcome, theirs: Answer | Outcome, right: Answer | Outcome
) -> bool | None:
    """Whether some results of a call are right and the others theirs; None if one is neither."""
    if not all(isinstance(x, tuple) and x[0].status == "ok" for x in (mine, theirs, right)):
        return False if _same_answer(mine, theirs, right, True) else None
    try:
        own, other, good = (_decoder(x)(x[0].value) for x in (mine, theirs, right))  # type: ignore[arg-type, index]
    except frames.BadFrame:
        return None
    if not all(isinstance(x, (tuple, list)) for x in (own, other, good)):
        return False if _same_value(own, other) else None
    if not len(own) == len(other) == len(good) or len(set(map(_shape, good))) > 1:
        return None  # what has other shapes was made in another way
    like = [_same_value(x, y, r) for x, y, r in zip(own, other, good, strict=True)]
    fine = [_same_value(x, r) for x, r in zip(own, good, strict=True)]
    if not all(a or b for a, b in zip(like, fine, strict=True)):
        return None
    return any(like) and not all(like)


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(getattr(x, "shape", ()))


def alike_failure(mine: Ran, theirs: Ran) -> bool:
    """Whether both failed for the same reason, as the student would be told, with other values."""
    mine_said, theirs_said = mine.report, theirs.report
    if mine_said.verdict != theirs_said.verdict:
        return False
    if mine.flaw is Flaw.REFUSAL and len(mine.answers) != len(theirs.answers):
        return False  # what one of them accepts is not what the other does
    if mine.flaw.tells_by_itself and mine_said.message == theirs_said.message:
        return not _other_numbers(mine.answers, theirs.answers)
    if mine_said.verdict is not Verdict.CRASHED or not 0 < len(mine.answers) == len(theirs.answers):
        return False
    errors = [x.answers[-1][0].raised for x in (mine, theirs) if isinstance(x.answers[-1], tuple)]
    return len(errors) == 2 and _same_errors(errors[0], errors[1])


def state_in_part(mine: Ran, theirs: Ran) -> bool:
    """Whether what does not fit in their parameters is a part of what does not in mine."""
    ends = [x.answers[-1] if x.answers else None for x in (mine, theirs)]
    if not (mine.flaw is theirs.flaw is Flaw.STATE):
        return False
    found = [_mismatch(e[0]) if isinstance(e, tuple) else None for e in ends]
    own, other = found
    if own is None or other is None or not any(other):
        return False
    return all(part <= whole for part, whole in zip(other, own, strict=True))


def _other_numbers(mine: Answers, theirs: Answers) -> bool:
    """Whether two runs ended with plain numbers that are far apart: those are other mistakes."""
    ends = [x[-1] for x in (mine, theirs) if x and isinstance(x[-1], tuple)]
    if len(ends) < 2:
        return False
    try:
        values = [_decoder(end)(end[0].value) for end in ends if isinstance(end, tuple)]
    except frames.BadFrame:
        return False
    plain = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    return plain and not math.isclose(*values, rel_tol=_CLOSE)


def same_answers(
    mine: Answers, theirs: Answers, right: Answers = (), *, only_values: bool = False
) -> bool:
    """Return whether two runs saw the same values, exceptions, gradients and side effects.

    only_values: neither gradients nor side effects are looked at
    """
    if len(mine) != len(theirs):
        return False
    padded = [*right, *[None] * len(mine)]
    answers = list(zip(mine, theirs, padded, strict=False))
    # from the last one, at which the test failed: if they differ anywhere, then mostly there
    return all(_same_answer(a, b, r, only_values) for a, b, r in reversed(answers))


def _same_answer(
    a: Answer | Outcome, b: Answer | Outcome, right: Answer | Outcome | None, only_values: bool
) -> bool:
    if isinstance(a, Outcome) or isinstance(b, Outcome):
        return type(a) is type(b)
    mine, theirs = a[0], b[0]
    if mine.status != theirs.status or bool(mine.banned) != bool(theirs.banned):
        return False
    if {_plain(x.call) for x in mine.banned} != {_plain(x.call) for x in theirs.banned}:
        return False
    if mine.banned:  # the test ended there: nobody looked at what came of it
        return True
    if not only_values and mine.side_effects != theirs.side_effects:
        return False
    if (mine.raised is None) != (theirs.raised is None):
        return False
    refused = isinstance(right, tuple) and right[0].raised is not None
    if mine.raised and theirs.raised and not _same_error(mine.raised, theirs.raised, refused):
        return False
    if _mismatch(mine) != _mismatch(theirs):
        return False
    if not only_values and mine.detached != theirs.detached:
        return False
    if (mine.counts is None) != (theirs.counts is None):
        return False
    if mine.counts and theirs.counts and not _same_work(mine.counts, theirs.counts):
        return False
    try:
        return _same_numbers(a, b, right if isinstance(right, tuple) else None, only_values)
    except frames.BadFrame:
        return False


def _mismatch(reply: frames.Reply) -> tuple[frozenset[object], ...] | None:
    """How parameters do not fit: layers by their names, other tensors have what names one likes."""
    found = reply.mismatch
    if found is None:
        return None
    layers = frozenset(
        n for n in found.unexpected if n.rpartition(".")[2] in ("weight", "bias") and "." in n
    )
    others = frozenset(["others"][: len(found.unexpected) - len(layers)])
    return frozenset(found.missing), layers, others, frozenset(found.shapes)


def _same_work(mine: frames.Counts, theirs: frames.Counts) -> bool:
    """Whether two runs made tensors alike in size, and launched kernels that did the same."""
    if not _near(mine.largest, theirs.largest) or bool(mine.computed) != bool(theirs.computed):
        return False
    return _launched(mine) == _launched(theirs)


def _launched(counts: frames.Counts) -> tuple[object, ...]:
    """What kernels did, but for how often and how much."""
    launches = counts.launches
    return (
        min(len(launches), 2),
        any(x.outside_loads for x in launches),
        any(x.outside_stores for x in launches),
        {race.kind for x in launches for race in x.races},
        any(x.refused for x in launches),
        {(least, most) for x in launches for _, least, most in x.loads},
        max((x.largest.bit_length() for x in launches), default=0),
    )


def _same_numbers(a: Answer, b: Answer, right: Answer | None, only_values: bool) -> bool:
    left, other = _decoder(a), _decoder(b)
    truth = _decoder(right) if right is not None else None
    good = truth(right[0].value) if truth and right else None
    if not _same_value(left(a[0].value), other(b[0].value), good):
        return False
    if only_values:
        return True
    mine, theirs = a[0].gradients or (), b[0].gradients or ()
    wanted = (right[0].gradients or ()) if right else ()
    goods = [truth(g) for g in wanted] if truth else []
    decoded = [left(g) for g in mine], [other(g) for g in theirs]
    # All gradients of a call are compared on one scale: a zero one holds rounding noise only.
    scale = max((_size(g) for g in decoded[1]), default=0.0)
    return len(mine) == len(theirs) and all(
        _same_value(x, y, goods[i] if i < len(goods) else None, scale)
        for i, (x, y) in enumerate(zip(*decoded, strict=True))
    )


def _decoder(answer: Answer) -> Decoder:
    return Decoder(answer[1], special=read_special)


def _plain(name: str) -> str:
    return name.strip("_")


def _near(a: int, b: int) -> bool:
    """Two ways to the same growth need not make tensors of exactly the same size."""
    return a <= 4 * b and b <= 4 * a


def _same_errors(mine: frames.Raised | None, theirs: frames.Raised | None) -> bool:
    return mine is not None and theirs is not None and _same_error(mine, theirs)


def _same_error(mine: frames.Raised, theirs: frames.Raised, refused: bool = False) -> bool:
    """refused: right code raises there too, in words of its own."""
    if mine.type != theirs.type:
        return False
    own_words = refused and mine.type in ("ValueError", "AssertionError")
    return own_words or _skeleton(mine.message) == _skeleton(theirs.message)


def _skeleton(message: str) -> str:
    return re.sub(r"\W+", " ", re.sub(r"'[^']*'", "", message))[:120]


def _same_value(a: Any, b: Any, right: Any = None, scale: float = 0.0) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return _same_tensor(a, b, right, scale)
    if isinstance(a, (np.ndarray, np.generic)) and isinstance(b, (np.ndarray, np.generic)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        good = torch.from_numpy(np.array(right)) if isinstance(right, np.ndarray) else None
        return _same_tensor(
            torch.from_numpy(np.array(a)), torch.from_numpy(np.array(b)), good, scale
        )
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        fits = isinstance(right, (tuple, list)) and len(right) == len(b)
        goods = right if fits else [None] * len(b)
        return len(a) == len(b) and all(
            _same_value(x, y, r) for x, y, r in zip(a, b, goods, strict=True)
        )
    if isinstance(a, dict) and isinstance(b, dict):
        goods = right if isinstance(right, dict) else {}
        return a.keys() == b.keys() and all(_same_value(a[k], b[k], goods.get(k)) for k in a)
    if isinstance(a, frames.HandleV) and isinstance(b, frames.HandleV):
        return a.state == b.state
    if isinstance(a, Drawing) and isinstance(b, Drawing):
        return _same_drawing(a, b)
    if isinstance(a, Figure) and isinstance(b, Figure):
        return a.suptitle == b.suptitle and _same_value(a.axes, b.axes)
    return _same_plain(a, b)


def _same_plain(a: Any, b: Any) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return [line.rstrip(" ") for line in a.split("\n")] == [
            line.rstrip(" ") for line in b.split("\n")
        ]
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-7) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and bool(a == b)


def _same_drawing(a: Drawing, b: Drawing) -> bool:
    if replace(a, images=()) != replace(b, images=()) or len(a.images) != len(b.images):
        return False
    return all(
        (x.top_row_first, x.vmin, x.vmax) == (y.top_row_first, y.vmin, y.vmax)
        and x.data.shape == y.data.shape
        and np.allclose(x.data, y.data, atol=1e-6, equal_nan=True)
        for x, y in zip(a.images, b.images, strict=True)
    )


def _same_tensor(a: torch.Tensor, b: torch.Tensor, right: Any, scale: float) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.is_meta or b.is_meta:
        return a.is_meta and b.is_meta
    if not (a.is_floating_point() or a.is_complex()):
        return torch.equal(a, b)
    slack = 32 * torch.finfo(a.dtype).eps
    wide = torch.complex128 if a.is_complex() else torch.float64
    wide_a, wide_b = a.to(wide), b.to(wide)
    near = max(slack * max(_size(b), scale, 1e-30), _CLOSE * _distance(wide_b, right))
    return torch.allclose(wide_a, wide_b, rtol=slack, atol=near, equal_nan=True)


def _size(x: Any) -> float:
    """The largest finite entry, without its sign."""
    if not isinstance(x, torch.Tensor) or x.is_meta or not x.is_floating_point():
        return 0.0
    finite = x[torch.isfinite(x)]
    return float(finite.abs().max()) if finite.numel() else 0.0


def _distance(wrong: torch.Tensor, right: Any) -> float:
    """How far a wrong result lies from the right one, where both are finite."""
    if not isinstance(right, torch.Tensor) or right.shape != wrong.shape:
        return 0.0
    if right.is_meta or wrong.is_complex() or right.is_complex():
        return 0.0
    return _size(wrong - right.double())
