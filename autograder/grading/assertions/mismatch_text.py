"""Explain a difference between two tensors without revealing their values."""

from __future__ import annotations

import numpy as np
import torch

from ..comparator import PATTERN, Tolerance, close
from ..disclosure.leak_budget import HINTS, ROUGH, VALUES, MessageBudget, count_of, rough
from ..disclosure.signatures import NamedParts

_LEAST_ROWS = 2  # one row may sum to 1 by chance
_SUMS, _SUMS_OF_HALVES = 1e-3, 1e-2


def explain_difference(
    actual: torch.Tensor, expected: torch.Tensor, off: torch.Tensor, subject: str
) -> str:
    """Return a message that says how many entries differ, where most, and in which pattern.

    actual, expected, off: tensors of the same shape; `off` is True where the values differ
    subject:                 the subject of the message
    """
    total, wrong = off.numel(), int(off.sum())
    budget = MessageBudget(VALUES)
    pattern = _pattern(actual, expected, off)
    sums = "" if _sums_by_chance(subject) else _sums(actual, expected)
    budget.afford(HINTS)  # "no hint" is a choice too
    budget.afford(ROUGH if sums else 2)
    hints = [text for text in (pattern, sums) if text]
    place = _worst_entry(actual, expected, off, budget)
    if not off.ndim:
        return " ".join([f"{subject} is not the right number.", *hints])
    share = "every entry" if wrong == total else count_of(wrong, total, budget)
    return " ".join([f"{subject} differs in {share}{place}{_rows(off, budget)}.", *hints])


def _sums_by_chance(subject: str) -> bool:
    is_output = isinstance(subject, NamedParts) and subject.is_output
    return is_output or "output" in subject or subject.startswith("The gradient")


def _worst_entry(
    actual: torch.Tensor, expected: torch.Tensor, off: torch.Tensor, budget: MessageBudget
) -> str:
    if off.ndim == 0 or not budget.afford(off.numel()):
        return ""
    gap = (actual.double() - expected.double()).abs()
    gap = torch.where(off, torch.nan_to_num(gap, nan=torch.inf), torch.zeros_like(gap))
    worst = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), tuple(gap.shape)))
    return f", most at index {list(worst)}"


def _rows(off: torch.Tensor, budget: MessageBudget) -> str:
    if off.ndim < 2:
        return ""
    rows = off.flatten(0, -2).any(-1)
    count = int(rows.sum())
    if not 0 < count < rows.numel() or not budget.afford(rows.numel()):
        return ""
    return f", in {count} of {rows.numel()} rows"


def _pattern(actual: torch.Tensor, expected: torch.Tensor, off: torch.Tensor) -> str:
    """Return a sentence if the values differ in a way typical of a mistake, or ""."""
    if actual.dtype is torch.bool:
        return "True and False are swapped." if bool(off.all()) else ""
    mine, theirs = actual.double(), expected.double()
    if not (torch.isfinite(mine).all() and torch.isfinite(theirs).all()):
        return "Some entries are infinite." if torch.isinf(mine).any() else ""
    scale = float(theirs.abs().max()) or 1.0
    near = Tolerance(PATTERN.per_largest * scale)
    zero = theirs == 0
    is_float = expected.is_floating_point()  # ids and counts are equal or not, never close
    filled = torch.where(zero, theirs, mine)
    if is_float and bool((mine[zero] != 0).any()) and close(filled, theirs, near):
        return "Some entries that should be exactly zero are not."
    # Checked before the patterns below, because nearly equal values could match these too.
    if is_float and close(mine, theirs, near):
        return "It is close, but not accurate enough for its dtype."
    if close(mine, -theirs, near):
        return "The sign is flipped."
    if mine.ndim >= 2 and close(mine, theirs.transpose(-1, -2), near):
        return "It matches after swapping the last two axes: it is transposed."
    if not bool(mine.any()):
        return "All entries are zero."
    nonzero = theirs.abs() > PATTERN.per_largest * scale
    if is_float and int(nonzero.sum()) > 1:
        ratio = mine[nonzero] / theirs[nonzero]
        middle = float(ratio.median())
        if middle and float((ratio / middle - 1).abs().max()) <= PATTERN.per_largest:
            return "All entries are off by the same factor."
    if mine.ndim and close(mine.flatten().sort().values, theirs.flatten().sort().values, near):
        return "The values are right, but in a different order."
    return ""


def _sums(actual: torch.Tensor, expected: torch.Tensor) -> str:
    """Return a sentence if rows should sum to 1 and do not, or ""."""
    if actual.ndim < 1 or not expected.is_floating_point() or actual.shape[-1] < 2:
        return ""
    mine, theirs = actual.double().sum(-1), expected.double().sum(-1)
    slack = _SUMS_OF_HALVES if expected.element_size() < 4 else _SUMS
    ones = torch.isclose(theirs, torch.ones_like(theirs), atol=slack)
    sum_to_one = int(ones.sum()) >= _LEAST_ROWS and bool((ones | (theirs == 0)).all())
    if bool((expected < 0).any()) or not sum_to_one or not torch.isfinite(mine).all():
        return ""
    bad = ones & ~torch.isclose(mine, theirs, atol=_SUMS_OF_HALVES)
    if not bool(bad.any()):
        return ""
    return f"Rows should sum to 1 here, but one sums to {rough(float(mine[bad].flatten()[0]))}."
