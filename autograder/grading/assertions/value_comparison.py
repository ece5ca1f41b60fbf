"""Comparing a student's result with the reference: kind, shape, dtype, finiteness, values.

Tolerances follow the dtype. The reference is also run in float64; an entry may differ from that by
a small multiple of the unit roundoff times the largest entry (8 for halves, 64 for float32 and
float64, where sums over many terms are compared), or by four times the reference's own largest
error in the dtype, whichever is more. Messages say where and by how much, never the hidden inputs
or the expected values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from ...worker.protocol import frames
from ...worker.protocol.dtypes import FLOAT_TYPES
from ...worker.protocol.values import TORCH_DTYPES
from ..disclosure.leak_budget import Ration, count_of, few, of_texts, of_values, shape
from ..disclosure.signatures import NamedParts
from ..outcomes import BadReply, Flaw, GraderFault, Wrong
from .figure_comparison import Drawing, Figure, compare_drawing, compare_figure
from .mismatch_text import explain_difference

_ROUNDINGS = {TORCH_DTYPES[name]: t.roundings for name, t in FLOAT_TYPES.items()}


@dataclass(frozen=True)
class Tolerance:
    """How far values may be apart. `absolute` None derives it from the dtype."""

    absolute: float | None = None
    relative: float = 0.0
    terms: float = 0.0  # the size of the terms that a result is a sum of

    def bound(self, expected: torch.Tensor, precise: torch.Tensor) -> float:
        """The largest allowed difference from `precise`, for results in expected's dtype."""
        finite = precise[torch.isfinite(precise)]
        largest = float(finite.abs().max()) if finite.numel() else 0.0
        if self.absolute is not None:
            return self.absolute + self.relative * largest
        if expected.dtype not in _ROUNDINGS:
            return 0.0
        unit = torch.finfo(expected.dtype).eps * _ROUNDINGS[expected.dtype]
        own = (expected.double() - precise).abs()
        own = own[torch.isfinite(own)]
        own_error = float(own.max()) if own.numel() else 0.0
        return max(unit * max(largest, self.terms), 4 * own_error)


DERIVED = Tolerance()
EXACT = Tolerance(0.0)


def compare(
    actual: Any, expected: Any, precise: Any, tolerance: Tolerance, where: str = "The result"
) -> None:
    """Raise Wrong if `actual` is not `expected` (whose float64 version is `precise`)."""
    if isinstance(actual, frames.OpaqueV) or (
        isinstance(actual, frames.HandleV) and not isinstance(expected, frames.HandleV)
    ):
        raise BadReply(
            f"{where} is a {actual.type!r} object, which is not plain data. "
            f"Return {_kind(expected)}."
        )
    if isinstance(expected, torch.Tensor):
        _compare_tensor(actual, expected, precise, tolerance, where)
    elif isinstance(expected, (np.ndarray, np.generic)):
        _compare_array(actual, expected, precise, tolerance, where)
    elif isinstance(expected, (tuple, list)):
        _compare_items(actual, expected, precise, tolerance, where)
    elif isinstance(expected, dict):
        _compare_mapping(actual, expected, precise, tolerance, where)
    elif isinstance(expected, Drawing):
        compare_drawing(actual, expected, where)
    elif isinstance(expected, Figure):
        compare_figure(actual, expected, where)
    elif isinstance(expected, frames.HandleV):
        if not isinstance(actual, frames.HandleV):
            raise Wrong(f"{where} should be {_kind(expected)}, but is {_kind(actual)}.", Flaw.KIND)
    else:
        _compare_plain(actual, expected, precise, tolerance, where)


def _compare_tensor(
    actual: Any, expected: torch.Tensor, precise: Any, tolerance: Tolerance, where: str
) -> None:
    if not isinstance(actual, torch.Tensor):
        raise Wrong(f"{where} should be a torch tensor, but is {_kind(actual)}.", Flaw.KIND)
    if actual.shape != expected.shape:
        raise Wrong(
            f"{where} should have shape {tuple(expected.shape)}, but has "
            f"{shape(tuple(actual.shape), tuple(expected.shape), Ration())}.",
            Flaw.KIND,
        )
    if actual.dtype != expected.dtype:
        raise Wrong(
            f"{where} should have dtype {_name(expected.dtype)}, but has {_name(actual.dtype)}.",
            Flaw.KIND,
        )
    if actual.is_meta or expected.is_meta:
        return
    if not isinstance(precise, torch.Tensor) or precise.shape != expected.shape:
        precise = expected
    _compare_values(actual, expected, precise, tolerance, where)


def _compare_array(
    actual: Any, expected: Any, precise: Any, tolerance: Tolerance, where: str
) -> None:
    if not isinstance(actual, (np.ndarray, np.generic)):
        if isinstance(actual, float) and expected.ndim == 0:
            actual = np.float64(actual)
        else:
            raise Wrong(f"{where} should be a numpy array, but is {_kind(actual)}.", Flaw.KIND)
    if actual.shape != expected.shape:
        has = shape(actual.shape, expected.shape, Ration())
        raise Wrong(f"{where} should have shape {expected.shape}, but has {has}.", Flaw.KIND)
    if actual.dtype != expected.dtype:
        raise Wrong(
            f"{where} should have dtype {expected.dtype}, but has {actual.dtype}.", Flaw.KIND
        )
    if not isinstance(precise, (np.ndarray, np.generic)) or precise.shape != expected.shape:
        precise = expected
    tensors = [torch.from_numpy(np.array(a)) for a in (actual, expected, precise)]
    _compare_values(tensors[0], tensors[1], tensors[2], tolerance, where)


def _compare_values(
    actual: torch.Tensor,
    expected: torch.Tensor,
    precise: torch.Tensor,
    tolerance: Tolerance,
    where: str,
) -> None:
    if not (expected.is_floating_point() or expected.is_complex()):
        if not torch.equal(actual, expected):
            raise Wrong(explain_difference(actual, expected, actual != expected, where), Flaw.VALUE)
        return
    if expected.is_complex() or torch.isnan(expected).any():
        raise GraderFault("the reference's result is complex or NaN")
    wide, target = actual.double(), precise.double()
    target = _sane(expected.double(), target)
    if torch.isnan(wide).any():
        ration = of_values()
        if not wide.ndim:
            raise Wrong(f"{where} is NaN.", Flaw.VALUE)
        count = count_of(int(torch.isnan(wide).sum()), wide.numel(), ration)
        raise Wrong(f"{where} is NaN in {count}{_rows_of(wide, ration)}.", Flaw.VALUE)
    infinite = torch.isinf(expected.double())
    exact = wide == expected.double()
    bound = tolerance.bound(expected, target)
    close = (wide - target).abs() <= bound
    off = ~torch.where(infinite, exact, close & torch.isfinite(wide))
    if off.any():
        raise Wrong(explain_difference(wide, target, off, where), Flaw.VALUE)


def _sane(expected: torch.Tensor, precise: torch.Tensor) -> torch.Tensor:
    """`precise`, unless it is a different result altogether (a discrete choice fell otherwise)."""
    finite = torch.isfinite(expected) & torch.isfinite(precise)
    if not torch.equal(torch.isfinite(expected), torch.isfinite(precise)):
        return expected
    if not finite.any():
        return expected
    largest = float(expected[finite].abs().max())
    apart = float((expected[finite] - precise[finite]).abs().max())
    return precise if apart <= 0.1 * largest + 1e-6 else expected


def _compare_items(
    actual: Any, expected: Any, precise: Any, tolerance: Tolerance, where: str
) -> None:
    if not isinstance(actual, (tuple, list)):
        raise Wrong(
            f"{where} should be {len(expected)} values together (return a, b), "
            f"but is {_kind(actual)}.",
            Flaw.KIND,
        )
    if len(actual) != len(expected):
        raise Wrong(
            f"{where} should hold {len(expected)} values, but holds {few(len(actual))}.", Flaw.KIND
        )
    alike = isinstance(precise, (tuple, list)) and len(precise) == len(expected)
    whole = NamedParts.of(where)
    for number, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
        finer = precise[number] if alike else None
        compare(mine, theirs, finer, tolerance, whole.part(number, len(expected)))


def _compare_mapping(
    actual: Any, expected: Any, precise: Any, tolerance: Tolerance, where: str
) -> None:
    if not isinstance(actual, dict):
        raise Wrong(f"{where} should be a dict, but is {_kind(actual)}.", Flaw.KIND)
    if actual.keys() != expected.keys():  # its own keys are the student's words: not repeated
        lacking = [repr(k) for k in expected if k not in actual]
        said = ", ".join(lacking) if of_texts().among(1 << len(expected)) else "some of them"
        raise Wrong(
            f"{where} should have the keys {', '.join(map(repr, expected))}, but "
            + (f"lacks {said}." if lacking else "has more than these."),
            Flaw.KIND,
        )
    whole = NamedParts.of(where)
    for key in expected:
        finer = precise.get(key) if isinstance(precise, dict) else None
        compare(actual[key], expected[key], finer, tolerance, whole.item(key))


def _compare_plain(
    actual: Any, expected: Any, precise: Any, tolerance: Tolerance, where: str
) -> None:
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        plain = actual.item() if isinstance(actual, np.bool_) else actual
        if isinstance(plain, str) and isinstance(expected, str):
            plain, expected = stripped(plain), stripped(expected)
        if type(plain) is not type(expected):
            raise Wrong(f"{where} should be {_kind(expected)}, but is {_kind(actual)}.", Flaw.KIND)
        if plain != expected:
            raise Wrong(_text_difference(plain, expected, where), Flaw.VALUE)
        return
    if isinstance(expected, int):
        if isinstance(actual, np.integer):
            actual = int(actual)
        if not isinstance(actual, int) or isinstance(actual, bool):
            raise Wrong(f"{where} should be an int, but is {_kind(actual)}.", Flaw.KIND)
        if actual != expected:
            raise Wrong(f"{where} is not the right number.", Flaw.VALUE)
        return
    if isinstance(actual, (int, np.floating)) and not isinstance(actual, bool):
        actual = float(actual)
    if not isinstance(actual, float):
        raise Wrong(f"{where} should be a float, but is {_kind(actual)}.", Flaw.KIND)
    finer = precise if isinstance(precise, float) else expected
    pair = [torch.tensor(x, dtype=torch.float64) for x in (actual, expected, finer)]
    single = torch.tensor(expected, dtype=torch.float32)
    if tolerance.absolute is None:
        tolerance = replace(tolerance, absolute=tolerance.bound(single, pair[2]))
    _compare_values(pair[0], pair[1], pair[2], tolerance, where)


_LINES = 99  # lines of a text, or letters in one, that are counted


def stripped(text: str) -> str:
    """Text as it is compared: spaces at the ends of lines do not count."""
    return "\n".join(line.rstrip(" ") for line in text.split("\n"))


def _text_difference(actual: Any, expected: Any, where: str) -> str:
    if not isinstance(expected, str) or not isinstance(actual, str):
        return f"{where} is not the right one."
    mine, theirs, ration = actual.split("\n"), expected.split("\n"), of_texts()
    if len(mine) != len(theirs):
        has = few(len(mine), _LINES, ration)
        return f"{where} should have {len(theirs)} lines, but has {has}."
    line = next(i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
    place = f"line {line + 1}" if ration.among(len(theirs)) else "a line"
    if len(mine[line]) != len(theirs[line]):
        has = few(len(mine[line]), _LINES, ration)
        return f"{where}: {place} should be {len(theirs[line])} characters long, but is {has}."
    column = next(
        i for i, (a, b) in enumerate(zip(mine[line], theirs[line], strict=True)) if a != b
    )
    from_where = f" from column {column + 1} on" if ration.among(len(theirs[line])) else ""
    return f"{where}: {place} differs{from_where}."


def _rows_of(wide: torch.Tensor, ration: Ration) -> str:
    if wide.ndim < 2:
        return ""
    rows = torch.isnan(wide).flatten(0, -2).any(-1)
    whole = torch.isnan(wide).flatten(0, -2).all(-1)
    count = int(rows.sum())
    if not ration.among(2 * rows.numel()):
        return ""
    return (
        f", in {count} of {rows.numel()} rows{' (whole rows)' if torch.equal(rows, whole) else ''}"
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _kind(thing: Any) -> str:
    """What a value is, in a student's words."""
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
