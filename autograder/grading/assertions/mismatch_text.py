"""Saying where and how a result is off, in words that lead on and give nothing hidden away."""

from __future__ import annotations

import numpy as np
import torch

from ..disclosure.leak_budget import HINTS, ROUGH, Ration, count_of, of_values, rough
from ..disclosure.signatures import NamedParts

_ROWS = 2  # that sum to 1: of one alone it may be chance
_APART, _HALVES_APART = 1e-3, 1e-2


def explain_difference(
    actual: torch.Tensor, expected: torch.Tensor, off: torch.Tensor, where: str
) -> str:
    """A sentence for a student: how much is off, where the worst entry is, what it looks like.

    `actual` and `expected` have one shape; `off` is True where they differ.
    """
    total, wrong = off.numel(), int(off.sum())
    ration = of_values()
    pattern = _pattern(actual, expected, off)
    sums = "" if _is_no_share(where) else _sums(actual, expected)
    ration.among(HINTS)  # none is a choice too
    ration.among(ROUGH if sums else 2)
    observations = [text for text in (pattern, sums) if text]
    place = _place(actual, expected, off, ration)
    if not off.ndim:
        return " ".join([f"{where} is not the right number.", *observations])
    share = "every entry" if wrong == total else count_of(wrong, total, ration)
    rows = _rows(off, ration)
    return " ".join([f"{where} differs in {share}{place}{rows}.", *observations])


def _is_no_share(where: str) -> bool:
    """Whether rows of it sum to 1 by chance alone."""
    blend = isinstance(where, NamedParts) and where.is_output
    return blend or "output" in where or where.startswith("The gradient")


def _place(actual: torch.Tensor, expected: torch.Tensor, off: torch.Tensor, ration: Ration) -> str:
    if off.ndim == 0 or not ration.among(off.numel()):
        return ""
    gap = (actual.double() - expected.double()).abs()
    gap = torch.where(off, torch.nan_to_num(gap, nan=torch.inf), torch.zeros_like(gap))
    worst = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), tuple(gap.shape)))
    return f", most at index {list(worst)}"


def _rows(off: torch.Tensor, ration: Ration) -> str:
    if off.ndim < 2:
        return ""
    rows = off.flatten(0, -2).any(-1)
    count = int(rows.sum())
    if not 0 < count < rows.numel() or not ration.among(rows.numel()):
        return ""
    return f", in {count} of {rows.numel()} rows"


def _pattern(actual: torch.Tensor, expected: torch.Tensor, off: torch.Tensor) -> str:
    """A relation between the two that a mistake often leaves behind."""
    if actual.dtype is torch.bool:
        return "It is the exact opposite of what is asked." if bool(off.all()) else ""
    mine, theirs = actual.double(), expected.double()
    if not (torch.isfinite(mine).all() and torch.isfinite(theirs).all()):
        return "Some entries are infinite." if torch.isinf(mine).any() else ""
    scale = float(theirs.abs().max()) or 1.0

    def alike(a: torch.Tensor, b: torch.Tensor) -> bool:
        return a.shape == b.shape and float((a - b).abs().max()) <= 1e-3 * scale

    numbers = expected.is_floating_point()  # ids, counts and places are other ones, never close
    zero = theirs == 0
    if numbers and bool((mine[zero] != 0).any()) and alike(torch.where(zero, theirs, mine), theirs):
        return "Some entries that should be exactly zero are not."
    if numbers and alike(mine, theirs):  # before any relation: many hold of nearly equal numbers
        return "It is close, but not to the precision of these numbers."
    if alike(mine, -theirs):
        return "The sign is the wrong way round."
    if mine.ndim >= 2 and alike(mine, theirs.transpose(-1, -2)):
        return "It matches after swapping the last two axes: it is transposed."
    if not bool(mine.any()):
        return "All entries are zero."
    nonzero = theirs.abs() > 1e-3 * scale
    if numbers and int(nonzero.sum()) > 1:
        ratio = mine[nonzero] / theirs[nonzero]
        middle = float(ratio.median())
        if middle and float((ratio - middle).abs().max()) <= 1e-3 * abs(middle):
            return "All entries are off by one and the same factor."
    if mine.ndim and alike(mine.flatten().sort().values, theirs.flatten().sort().values):
        return "The values are right but stand in another order."
    return ""


def _sums(actual: torch.Tensor, expected: torch.Tensor) -> str:
    """Whether rows that should sum to 1 do."""
    if actual.ndim < 1 or not expected.is_floating_point() or actual.shape[-1] < 2:
        return ""
    mine, theirs = actual.double().sum(-1), expected.double().sum(-1)
    slack = _HALVES_APART if expected.element_size() < 4 else _APART
    ones = torch.isclose(theirs, torch.ones_like(theirs), atol=slack)
    shares = int(ones.sum()) >= _ROWS and bool((ones | (theirs == 0)).all())
    if bool((expected < 0).any()) or not shares or not torch.isfinite(mine).all():
        return ""
    bad = ones & ~torch.isclose(mine, theirs, atol=_HALVES_APART)
    if not bool(bad.any()):
        return ""
    return f"Rows should sum to 1 here, but one sums to {rough(float(mine[bad].flatten()[0]))}."
