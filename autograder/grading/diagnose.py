"""Naming the misconception: whose outputs on the same inputs equal the student's?

On a failing test the misconceptions of its exercise are run through the very same test in the
trusted process. One explains the student's work if every test that it fails is one the student
fails too, with the same answers to the same calls. Several that explain different tests are named
together, the one that explains most first.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ..worker import wire
from ..worker.values import Decoder
from .compare import stripped
from .drawn import Drawing, Figure, read_special
from .outcomes import Outcome
from .plugin import Ran
from .targets import Answer


def diagnose(student: list[Ran], bank: dict[str, list[Ran]]) -> list[str]:
    """Names of the misconceptions that the student's runs of one exercise betray.

    `student` holds its runs; `bank` those runs of each misconception that ended in failure.
    """
    failed = {r.report.name: r for r in student if r.report.verdict.failed}
    explained: dict[str, set[str]] = {}
    for name, runs in bank.items():
        theirs = {r.report.name: r for r in runs}
        if not theirs or not theirs.keys() <= failed.keys():
            continue
        if all(same_answers(failed[t].answers, theirs[t].answers) for t in theirs):
            explained[name] = set(theirs)
    named: list[str] = []
    left = set(failed)
    while explained:
        best = max(sorted(explained), key=lambda n: len(explained[n] & left))
        if not explained[best] & left:
            break
        named.append(best)
        left -= explained.pop(best)
    return named


def same_answers(mine: list[Any], theirs: list[Any]) -> bool:
    """Whether two runs of a test saw the same: values, gradients, exceptions, side effects."""
    return len(mine) == len(theirs) and all(
        _same_answer(a, b) for a, b in zip(mine, theirs, strict=True)
    )


def _same_answer(a: Answer | Outcome, b: Answer | Outcome) -> bool:
    if isinstance(a, Outcome) or isinstance(b, Outcome):
        return type(a) is type(b)
    (mine, mine_raw), (theirs, theirs_raw) = a, b
    if mine.status != theirs.status or bool(mine.banned) != bool(theirs.banned):
        return False
    if {_plain(x.call) for x in mine.banned} != {_plain(x.call) for x in theirs.banned}:
        return False
    if mine.mutated != theirs.mutated or mine.side_effects != theirs.side_effects:
        return False
    if (mine.raised is None) != (theirs.raised is None):
        return False
    if mine.raised and theirs.raised and not _same_error(mine.raised, theirs.raised):
        return False
    if mine.mismatch != theirs.mismatch or mine.detached != theirs.detached:
        return False
    if (mine.counts is None) != (theirs.counts is None):
        return False
    if mine.counts and theirs.counts and not _near(mine.counts.largest, theirs.counts.largest):
        return False
    try:
        left, right = (Decoder(raw, special=read_special) for raw in (mine_raw, theirs_raw))
        return _same_value(left(mine.value), right(theirs.value)) and _same_value(
            tuple(left(g) for g in mine.gradients or ()),
            tuple(right(g) for g in theirs.gradients or ()),
        )
    except wire.BadFrame:
        return False


def _plain(name: str) -> str:
    return name.strip("_")


def _near(a: int, b: int) -> bool:
    """Two ways to the same growth need not make tensors of exactly the same size."""
    return a <= 4 * b and b <= 4 * a


def _same_error(mine: wire.Raised, theirs: wire.Raised) -> bool:
    if mine.type != theirs.type:
        return False
    return _skeleton(mine.message) == _skeleton(theirs.message) or mine.type in (
        "ValueError",
        "AssertionError",
    )


def _skeleton(message: str) -> str:
    return re.sub(r"\W+", " ", re.sub(r"'[^']*'", "", message))[:120]


def _same_value(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return _same_tensor(a, b)
    if isinstance(a, (np.ndarray, np.generic)) and isinstance(b, (np.ndarray, np.generic)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        return _same_tensor(torch.from_numpy(np.array(a)), torch.from_numpy(np.array(b)))
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(_same_value(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same_value(a[k], b[k]) for k in a)
    if isinstance(a, wire.HandleV) and isinstance(b, wire.HandleV):
        return a.state == b.state
    if isinstance(a, Drawing) and isinstance(b, Drawing):
        return _same_drawing(a, b)
    if isinstance(a, Figure) and isinstance(b, Figure):
        return a.suptitle == b.suptitle and _same_value(a.axes, b.axes)
    if isinstance(a, str) and isinstance(b, str):
        return stripped(a) == stripped(b)
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


def _same_tensor(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.is_meta or b.is_meta:
        return a.is_meta and b.is_meta
    if not (a.is_floating_point() or a.is_complex()):
        return torch.equal(a, b)
    slack = 32 * torch.finfo(a.dtype).eps
    wide = torch.complex128 if a.is_complex() else torch.float64
    wide_a, wide_b = a.to(wide), b.to(wide)
    finite = wide_b[torch.isfinite(wide_b)]
    scale = float(finite.abs().max()) if finite.numel() else 1.0
    return torch.allclose(
        wide_a, wide_b, rtol=slack, atol=slack * max(scale, 1e-30), equal_nan=True
    )
