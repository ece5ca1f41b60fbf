"""Check the type, shape, dtype, finiteness and values of a result against the reference.

The reference also runs in float64, and `comparator.verdict_bound` limits the distance from its
float64 result. Messages describe which entries are wrong and how, but contain neither hidden inputs
nor expected values.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from ...worker.protocol import frames
from ...worker.protocol.values import Drawing, Figure
from ..comparator import (
    PATTERN,
    Tolerance,
    as_tensor,
    close,
    is_array,
    rounding_of,
    trusted_precise,
    verdict_bound,
    without_trailing_spaces,
)
from ..disclosure.leak_budget import (
    HINTS,
    ROUGH,
    TEXTS,
    VALUES,
    MessageBudget,
    count_of,
    few,
    rough,
    shape,
)
from ..disclosure.signatures import NamedParts
from ..outcomes import BadReply, Flaw, GraderFault, Wrong
from .properties import compare_drawing, compare_figure

_LEAST_ROWS = 2  # one row may sum to 1 by chance
_SUMS, _SUMS_OFF = 1e-3, 1e-2


def explain_difference(
    actual: torch.Tensor, expected: torch.Tensor, off: torch.Tensor, subject: str
) -> str:
    """Describe how many entries differ, where the difference is largest, and in which pattern.

    actual, expected, off: tensors of the same shape; `off` is True where the values differ
    subject:               the subject of the message
    """
    total, wrong = off.numel(), int(off.sum())
    budget = MessageBudget(VALUES)
    pattern = _pattern(actual, expected, off)
    is_output = getattr(subject, "is_output", False)
    by_chance = is_output or "output" in subject or subject.startswith("The gradient")
    sums = "" if by_chance else _sums(actual, expected)
    budget.afford(HINTS)  # charged even without a hint, because its absence reveals something
    budget.afford(ROUGH if sums else 2)
    hints = [text for text in (pattern, sums) if text]
    place = _worst_entry(actual, expected, off, budget)
    if not off.ndim:
        return " ".join([f"{subject} is not the right number.", *hints])
    share = "every entry" if wrong == total else count_of(wrong, total, budget)
    return " ".join([f"{subject} differs in {share}{place}{_rows(off, budget)}.", *hints])


def _worst_entry(
    actual: torch.Tensor, expected: torch.Tensor, off: torch.Tensor, budget: MessageBudget
) -> str:
    if off.ndim == 0 or not budget.afford(off.numel()):
        return ""
    gap = (actual.double() - expected.double()).abs()
    gap = torch.where(off, torch.nan_to_num(gap, nan=torch.inf), torch.zeros_like(gap))
    worst = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), tuple(gap.shape)))
    return f", with the largest error at index {list(worst)}"


def _rows(off: torch.Tensor, budget: MessageBudget) -> str:
    if off.ndim < 2:
        return ""
    rows = off.flatten(0, -2).any(-1)
    count = int(rows.sum())
    if not 0 < count < rows.numel() or not budget.afford(rows.numel()):
        return ""
    return f", in {count} of {rows.numel()} rows"


def _pattern(actual: torch.Tensor, expected: torch.Tensor, off: torch.Tensor) -> str:
    """Return a sentence about the common mistake that explains the difference, or ""."""
    if actual.dtype is torch.bool:
        return "True and False are swapped." if bool(off.all()) else ""
    mine, theirs = actual.double(), expected.double()
    if not (torch.isfinite(mine).all() and torch.isfinite(theirs).all()):
        return "Some entries are infinite." if torch.isinf(mine).any() else ""
    scale = float(theirs.abs().max()) or 1.0
    eps = torch.finfo(actual.dtype).eps if actual.is_floating_point() else 0.0
    near = Tolerance(PATTERN.per_largest * scale, per_entry=eps)
    zero = theirs == 0
    is_float = expected.is_floating_point()  # integers are either equal or different, never close
    filled = torch.where(zero, theirs, mine)
    if is_float and bool((mine[zero] != 0).any()) and close(filled, theirs, near):
        return "Some entries that should be exactly zero are not."
    # Check this before the other patterns, because nearly equal values could match them too.
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
        if middle and float((ratio / middle - 1).abs().max()) <= PATTERN.per_largest + eps:
            return "All entries are off by the same factor."
    if mine.ndim and close(mine.flatten().sort().values, theirs.flatten().sort().values, near):
        return "The values are right, but in a different order."
    return ""


def _sums(actual: torch.Tensor, expected: torch.Tensor) -> str:
    """Return a sentence if the expected rows sum to 1 and the actual rows do not, or ""."""
    if actual.ndim < 1 or not expected.is_floating_point() or actual.shape[-1] < 2:
        return ""
    mine, theirs = actual.double().sum(-1), expected.double().sum(-1)
    ones = torch.isclose(theirs, torch.ones_like(theirs), atol=_SUMS)
    sum_to_one = int(ones.sum()) >= _LEAST_ROWS and bool((ones | (theirs == 0)).all())
    if bool((expected < 0).any()) or not sum_to_one or not torch.isfinite(mine).all():
        return ""
    bad = ones & ~torch.isclose(mine, theirs, atol=max(_SUMS_OFF, rounding_of(actual.dtype)))
    if not bool(bad.any()):
        return ""
    return f"Rows should sum to 1 here, but one sums to {rough(float(mine[bad].flatten()[0]))}."


_LONGEST_COUNT = 99  # messages state larger numbers of lines or characters only roughly


def compare(
    actual: Any,
    expected: Any,
    precise: Any = None,
    tolerance: Tolerance | None = None,
    subject: str = "The result",
    terms: float = 0.0,
) -> None:
    """Raise Wrong if `actual` differs from `expected`, or BadReply if `actual` is not plain data.

    precise:   the expected value in float64; None uses `expected`
    tolerance: the allowed difference; None derives it from the dtype
    subject:   the subject of the message
    terms:     the magnitude of the terms that are summed in the values
    """
    _Comparison(tolerance, terms).check(actual, expected, precise, subject)


@dataclass(frozen=True)
class _Comparison:
    tolerance: Tolerance | None
    terms: float

    def check(self, actual: Any, expected: Any, precise: Any, subject: str) -> None:
        is_object = isinstance(actual, frames.HandleV)
        if isinstance(actual, frames.OpaqueV) or (
            is_object and not isinstance(expected, frames.HandleV)
        ):
            raise BadReply(
                f"{subject} is a {actual.type!r} object, which is not plain data. "
                f"Return {_kind(expected)}."
            )
        if is_array(expected):
            self._check_array(actual, expected, precise, subject)
        elif isinstance(expected, (tuple, list)):
            self._check_items(actual, expected, precise, subject)
        elif isinstance(expected, dict):
            self._check_mapping(actual, expected, precise, subject)
        elif isinstance(expected, Drawing):
            compare_drawing(actual, expected, subject)
        elif isinstance(expected, Figure):
            compare_figure(actual, expected, subject)
        elif isinstance(expected, float):
            self._check_float(actual, expected, precise, subject)
        elif not isinstance(expected, frames.HandleV):
            _check_exact(actual, expected, subject)
        elif not is_object:
            raise _wrong_kind(subject, _kind(expected), actual)

    def _check_array(self, actual: Any, expected: Any, precise: Any, subject: str) -> None:
        in_torch = isinstance(expected, torch.Tensor)
        if not in_torch and isinstance(actual, float) and expected.ndim == 0:
            actual = np.float64(actual)
        if not is_array(actual) or isinstance(actual, torch.Tensor) != in_torch:
            raise _wrong_kind(subject, "a torch tensor" if in_torch else "a numpy array", actual)
        wanted = tuple(expected.shape)
        if tuple(actual.shape) != wanted:
            has = shape(tuple(actual.shape), wanted, MessageBudget())
            raise Wrong(f"{subject} should have shape {wanted}, but has {has}.", Flaw.KIND)
        if actual.dtype != expected.dtype:
            wanted_type, has = (str(x.dtype).removeprefix("torch.") for x in (expected, actual))
            raise Wrong(f"{subject} should have dtype {wanted_type}, but has {has}.", Flaw.KIND)
        if in_torch and (actual.is_meta or expected.is_meta):
            return
        if not is_array(precise) or precise.shape != expected.shape:
            precise = expected
        self._check_values(as_tensor(actual), as_tensor(expected), as_tensor(precise), subject)

    def _check_values(
        self, actual: torch.Tensor, expected: torch.Tensor, precise: torch.Tensor, subject: str
    ) -> None:
        if not (expected.is_floating_point() or expected.is_complex()):
            if not torch.equal(actual, expected):
                off = actual != expected
                raise Wrong(explain_difference(actual, expected, off, subject), Flaw.VALUE)
            return
        if expected.is_complex() or torch.isnan(expected).any():
            raise GraderFault("the reference's result is complex or NaN")
        wide, wanted = actual.double(), expected.double()
        if torch.isnan(wide).any():
            raise Wrong(_nan_message(torch.isnan(wide), subject), Flaw.VALUE)
        target = trusted_precise(wanted, precise.double())
        bound = verdict_bound(expected, target, self.tolerance, self.terms)
        near = ((wide - target).abs() <= bound) & torch.isfinite(wide)
        off = ~torch.where(torch.isinf(wanted), wide == wanted, near)
        if off.any():
            raise Wrong(explain_difference(actual, target, off, subject), Flaw.VALUE)

    def _check_items(self, actual: Any, expected: Any, precise: Any, subject: str) -> None:
        count = len(expected)
        if not isinstance(actual, (tuple, list)):
            raise _wrong_kind(subject, f"{count} values (return a, b)", actual)
        if len(actual) != count:
            raise Wrong(
                f"{subject} should contain {count} values, but contains {few(len(actual))}.",
                Flaw.KIND,
            )
        has_precise = isinstance(precise, (tuple, list)) and len(precise) == count
        whole = NamedParts.of(subject)
        for number, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
            finer = precise[number] if has_precise else None
            self.check(mine, theirs, finer, whole.part(number, count))

    def _check_mapping(self, actual: Any, expected: Any, precise: Any, subject: str) -> None:
        if not isinstance(actual, dict):
            raise _wrong_kind(subject, "a dict", actual)
        if actual.keys() != expected.keys():  # a wrong key may be a hidden input
            missing = [repr(k) for k in expected if k not in actual]
            affordable = MessageBudget(TEXTS).afford(1 << len(expected))
            names = ", ".join(missing) if affordable else "some of them"
            raise Wrong(
                f"{subject} should have the keys {', '.join(map(repr, expected))}, but "
                + (f"lacks {names}." if missing else "has more than these."),
                Flaw.KIND,
            )
        whole = NamedParts.of(subject)
        for key in expected:
            finer = precise.get(key) if isinstance(precise, dict) else None
            self.check(actual[key], expected[key], finer, whole.item(key))

    def _check_float(self, actual: Any, expected: float, precise: Any, subject: str) -> None:
        if isinstance(actual, (int, np.floating)) and not isinstance(actual, bool):
            actual = float(actual)
        if not isinstance(actual, float):
            raise _wrong_kind(subject, "a float", actual)
        finer = precise if isinstance(precise, float) else expected
        values = (actual, expected, finer)
        mine, theirs, wide = (torch.tensor(x, dtype=torch.float64) for x in values)
        # Use the tolerance of float32, because a Python float may come from a float32 tensor.
        bound = verdict_bound(theirs.float(), wide, self.tolerance, self.terms)
        replace(self, tolerance=Tolerance(bound))._check_values(mine, theirs, wide, subject)


def _check_exact(actual: Any, expected: Any, subject: str) -> None:
    """Raise Wrong if an integer, boolean, text or None differs from the expected value."""
    if isinstance(actual, (np.bool_, np.integer)):
        actual = actual.item()
    if isinstance(actual, str) and isinstance(expected, str):
        actual, expected = without_trailing_spaces(actual), without_trailing_spaces(expected)
    if type(actual) is not type(expected):
        raise _wrong_kind(subject, _kind(expected), actual)
    if actual == expected:
        return
    if isinstance(expected, str):
        raise Wrong(_text_difference(actual, expected, subject), Flaw.VALUE)
    is_number = isinstance(expected, int) and not isinstance(expected, bool)
    raise Wrong(f"{subject} is not the right {'number' if is_number else 'value'}.", Flaw.VALUE)


def _text_difference(actual: str, expected: str, subject: str) -> str:
    mine, theirs, budget = actual.split("\n"), expected.split("\n"), MessageBudget(TEXTS)
    if len(mine) != len(theirs):
        has = few(len(mine), _LONGEST_COUNT, budget)
        return f"{subject} should have {len(theirs)} lines, but has {has}."
    line = _first_difference(mine, theirs)
    place = f"line {line + 1}" if budget.afford(len(theirs)) else "a line"
    if len(mine[line]) != len(theirs[line]):
        has = few(len(mine[line]), _LONGEST_COUNT, budget)
        return f"{subject}: {place} should be {len(theirs[line])} characters long, but is {has}."
    column = _first_difference(mine[line], theirs[line]) + 1
    from_column = f" from column {column} on" if budget.afford(len(theirs[line])) else ""
    return f"{subject}: {place} differs{from_column}."


def _first_difference(a: list[str] | str, b: list[str] | str) -> int:
    return next(i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)


def _nan_message(nan: torch.Tensor, subject: str) -> str:
    if not nan.ndim:
        return f"{subject} is NaN."
    budget = MessageBudget(VALUES)
    count, rows = count_of(int(nan.sum()), nan.numel(), budget), ""
    in_row = nan.flatten(0, -2) if nan.ndim > 1 else nan[:0]
    if nan.ndim > 1 and budget.afford(2 * in_row.shape[0]):
        whole = " (whole rows)" if torch.equal(in_row.any(-1), in_row.all(-1)) else ""
        rows = f", in {int(in_row.any(-1).sum())} of {in_row.shape[0]} rows{whole}"
    return f"{subject} is NaN in {count}{rows}."


def _wrong_kind(subject: str, wanted: str, actual: Any) -> Wrong:
    return Wrong(f"{subject} should be {wanted}, but is {_kind(actual)}.", Flaw.KIND)


def _kind(thing: Any) -> str:
    """Describe the type of a value in words that a student knows."""
    if thing is None:
        return "None (is a `return` missing?)"
    if isinstance(thing, torch.Tensor):
        return "a torch tensor"
    if isinstance(thing, np.ndarray):
        return "a numpy array"
    if isinstance(thing, (tuple, list)):
        return f"a {type(thing).__name__} of {few(len(thing))}"
    if isinstance(thing, (frames.OpaqueV, frames.HandleV)):
        return f"a {thing.type} object"
    if isinstance(thing, (Drawing, Figure)):
        return "a matplotlib Axes" if isinstance(thing, Drawing) else "a matplotlib Figure"
    name = type(thing).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
