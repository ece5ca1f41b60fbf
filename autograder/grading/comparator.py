"""Compare decoded values, and define the numeric tolerances of the grader.

- `verdict_bound` returns how far a correct result of a given dtype may be from the float64
  reference. Hidden tests compare a submission's values with the reference within this bound.
- `same_value` returns True if two programs returned the same value. The function tolerates rounding
  errors, and differences that are much smaller than the error of both values.
- `distance` measures how wrong a result is. A result with a distance above 1 is certainly wrong.
- `close` compares two arrays within one of the tolerances below.
- `leaves` walks two values in parallel, for callers that classify differences themselves.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import torch

from ..worker.protocol import frames
from ..worker.protocol.dtypes import FLOAT_TYPES
from ..worker.protocol.values import TORCH_DTYPES, Drawing, Figure, Image


@dataclass(frozen=True)
class Tolerance:
    """The largest difference at which two entries count as equal, as the sum of three terms.

    absolute:    a constant difference
    per_largest: a difference relative to the largest finite entry of the array
    per_entry:   a difference relative to the entry
    """

    absolute: float = 0.0
    per_largest: float = 0.0
    per_entry: float = 0.0


EXACT = Tolerance()
CELLS = Tolerance(absolute=1e-6, per_entry=1e-5)  # cell values of an image in a plot
SCALARS = Tolerance(absolute=1e-7, per_entry=1e-4)  # Python floats that two programs returned
DIGITS = Tolerance(per_largest=2e-3, per_entry=2e-3)  # equal up to the precision of float16
PATTERN = Tolerance(per_largest=1e-3)  # for patterns such as a transposed result
COARSE = Tolerance(per_largest=0.02, per_entry=0.02)  # approximately equal

# The largest error of a correct result in machine epsilons, and the relative error above which a
# result is certainly wrong, by dtype.
_ROUNDINGS = {TORCH_DTYPES[name]: t.roundings for name, t in FLOAT_TYPES.items()}
_WRONG_BEYOND = {TORCH_DTYPES[name]: t.wrong_beyond for name, t in FLOAT_TYPES.items()}
# The results of two programs for the same formula may differ by 32 machine epsilons, but never by
# more than a quarter of the value.
_SAME_ROUNDINGS, _SAME_AT_MOST = 32, 0.25
# Two wrong values count as the same if they differ by at most this fraction of their error.
_CLOSER = 0.01
_LARGEST_OVERLAP = 0.1  # if results differ more, assume that float64 took a different branch
_TINY = 1e-30
FAR = math.inf


def is_array(value: object) -> bool:
    """Return True for torch tensors, NumPy arrays and NumPy scalars."""
    return isinstance(value, (torch.Tensor, np.ndarray, np.generic))


def as_tensor(value: Any) -> torch.Tensor:
    """Convert an array to a tensor on the CPU; return a tensor unchanged."""
    return value if isinstance(value, torch.Tensor) else torch.from_numpy(np.array(value))


def in_dtype(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Convert a tensor. Take the real part of complex values, because torch would warn of it."""
    return (x.real if x.is_complex() and not dtype.is_complex else x).to(dtype)


def largest_entry(x: Any) -> float:
    """Return the largest absolute value of the finite floats in an array, or 0 if it has none."""
    if not is_array(x):
        return 0.0
    x = as_tensor(x)
    if x.is_meta or not (x.is_floating_point() or x.is_complex()):
        return 0.0
    x = x if x.is_complex() else x.double()  # torch lacks most operators for float8
    finite = x[torch.isfinite(x)]
    return float(finite.abs().max()) if finite.numel() else 0.0


def close(a: Any, b: Any, tolerance: Tolerance) -> bool:
    """Return True if two arrays with data have equal shapes and close entries. NaN equals NaN."""
    x, y = as_tensor(a), as_tensor(b)
    if x.shape != y.shape or x.is_meta or y.is_meta:
        return False
    wide = torch.complex128 if x.is_complex() or y.is_complex() else torch.float64
    x, y = x.to(wide), y.to(wide)
    atol = tolerance.absolute + tolerance.per_largest * largest_entry(y)
    return torch.allclose(x, y, rtol=tolerance.per_entry, atol=atol, equal_nan=True)


# Verdicts


def rounding_of(dtype: torch.dtype) -> float:
    """Return the allowed rounding error of a result, relative to its largest entry.

    The error is 0 for integers and for float types that hidden tests do not use.
    """
    real = dtype.to_real() if dtype.is_complex else dtype
    return torch.finfo(real).eps * _ROUNDINGS[real] if real in _ROUNDINGS else 0.0


def verdict_bound(
    expected: torch.Tensor, precise: torch.Tensor, tolerance: Tolerance | None, terms: float = 0.0
) -> float:
    """Return the largest difference from `precise` that a correct result may have.

    expected:  the reference's result in the dtype of the test
    precise:   the reference's result in float64
    tolerance: the tolerance that the hidden test sets; None derives the tolerance from the dtype
               and from the reference's own error in that dtype
    terms:     the magnitude of the terms that are summed in the result
    """
    largest = largest_entry(precise)
    if tolerance is not None:
        return tolerance.absolute + tolerance.per_largest * largest
    unit = rounding_of(expected.dtype)
    # torch cannot sum float8, so terms are summed in a wider type, at worst in bfloat16
    of_terms = min(unit, rounding_of(torch.bfloat16)) * terms
    return max(unit * largest, of_terms, 4 * largest_entry(expected.double() - precise))


def trusted_precise(expected: torch.Tensor, precise: torch.Tensor) -> torch.Tensor:
    """Return `precise`, or `expected` if the float64 run seems to have taken a different branch."""
    finite = torch.isfinite(expected)
    if not torch.equal(finite, torch.isfinite(precise)) or not finite.any():
        return expected
    apart = largest_entry(expected - precise)
    near = _LARGEST_OVERLAP * largest_entry(expected) + CELLS.absolute
    return precise if apart <= near else expected


# Equality of the results of two programs


def same_value(a: Any, b: Any, right: Any = None, scale: float = 0.0) -> bool:
    """Return True if two programs returned the same value, up to rounding.

    right: the correct value, or None if it is unknown. If given, two wrong values also count as the
           same if they are much closer to each other than to the correct value
    scale: the magnitude of related values; rounding errors are relative to this magnitude if the
           compared values are smaller
    """
    return all(_same_leaf(*leaf, scale) for leaf in leaves(a, b, right))


def _same_leaf(a: Any, b: Any, right: Any, scale: float) -> bool:
    if is_array(a) and is_array(b):
        if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor) or a.dtype != b.dtype:
            return False
        return _same_tensor(as_tensor(a), as_tensor(b), right, scale)
    if type(a) is not type(b) or _parts(a) is not None:
        return False
    if isinstance(a, float):
        return close(np.float64(a), np.float64(b), SCALARS)
    if isinstance(a, str):
        return without_trailing_spaces(a) == without_trailing_spaces(b)
    if isinstance(a, Image):
        return _same_scale(a, b) and close(a.data, b.data, CELLS)
    if isinstance(a, frames.HandleV):
        return (a.state is None) == (b.state is None)  # names may differ in fitted layers
    return bool(a == b)


def _same_tensor(a: torch.Tensor, b: torch.Tensor, right: Any, scale: float) -> bool:
    if a.shape != b.shape:
        return False
    if a.is_meta or b.is_meta:
        return a.is_meta and b.is_meta
    if not (a.is_floating_point() or a.is_complex()):
        return torch.equal(a, b)
    rounding = min(_SAME_ROUNDINGS * torch.finfo(a.dtype).eps, _SAME_AT_MOST)
    apart = max(rounding * max(largest_entry(b), scale, _TINY), _CLOSER * _error(b, right))
    return close(a, b, Tolerance(absolute=apart, per_entry=rounding))


def _error(wrong: torch.Tensor, right: Any) -> float:
    """Return the largest finite error of a wrong value, or 0 if the values cannot be compared."""
    if not is_array(right) or right.shape != wrong.shape:
        return 0.0
    right = as_tensor(right)
    if right.is_meta or wrong.is_complex() or right.is_complex():
        return 0.0
    return largest_entry(wrong.double() - right.double())


# Distance from the correct value


def distance(a: Any, right: Any, scale: float = 0.0) -> float:
    """Return the distance of a value from the correct value. Above 1, the value is certainly wrong.

    Return FAR if the values differ in type (except int for float), shape or dtype, in an integer,
    boolean or string, in which entries are finite or infinite, or in the colour limits or row order
    of an image. The captions of plots are ignored.
    """
    return max((_leaf_distance(x, y, scale) for x, y, _ in leaves(a, right)), default=0.0)


def _leaf_distance(a: Any, b: Any, scale: float) -> float:
    if is_array(b):
        alike = is_array(a) and isinstance(a, torch.Tensor) == isinstance(b, torch.Tensor)
        return _tensor_distance(as_tensor(a), as_tensor(b), scale) if alike else FAR
    if isinstance(b, float) and isinstance(a, (int, float)):
        x, y = (torch.tensor(float(n), dtype=torch.float64) for n in (a, b))
        return _tensor_distance(x, y, scale)
    if type(a) is not type(b) or _parts(a) is not None or _parts(b) is not None:
        return FAR
    if isinstance(b, (bool, int, str)):
        return 0.0 if a == b else FAR
    if isinstance(b, Image):
        if not _same_scale(a, b):
            return FAR
        mine, right = (as_tensor(i.data).double() for i in (a, b))
        return _tensor_distance(mine, right, 0.0)
    return 0.0


def _tensor_distance(a: torch.Tensor, b: torch.Tensor, scale: float) -> float:
    if a.shape != b.shape or a.dtype != b.dtype:
        return FAR
    if a.is_meta or b.is_meta:
        return 0.0
    if not b.is_floating_point():
        return 0.0 if torch.equal(a, b) else FAR
    x, y = a.double(), b.double()
    finite, infinite = torch.isfinite(y), torch.isinf(y)
    if not torch.equal(torch.isfinite(x), finite) or not torch.equal(x[infinite], y[infinite]):
        return FAR
    gap = largest_entry(torch.where(finite, x - y, torch.zeros_like(y)))
    return gap / max(largest_entry(y), scale, _TINY) / _WRONG_BEYOND[b.dtype]


# Structure


def leaves(a: Any, b: Any, right: Any = None) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the innermost parts of two values in pairs, each with the matching part of `right`.

    The third item is None if `right` has no matching part. Containers that differ in length, keys
    or type (other than list and tuple) are yielded whole, and callers treat them as different. A
    drawing yields its images, and a copy of the drawing without images that holds the captions.
    """
    mine, theirs = _parts(a), _parts(b)
    if mine is None or theirs is None or mine.keys() != theirs.keys() or _kind(a) != _kind(b):
        yield a, b, right
        return
    found = _parts(right)
    known = found if found is not None and found.keys() == theirs.keys() else {}
    for key, part in theirs.items():
        yield from leaves(mine[key], part, known.get(key))


def _parts(value: Any) -> dict[Any, Any] | None:
    """Return the parts of a container by position or key, or None if `value` has no parts."""
    if isinstance(value, (tuple, list)):
        return {("item", place): part for place, part in enumerate(value)}
    if isinstance(value, dict):
        return {("key", key): part for key, part in value.items()}
    if isinstance(value, Figure):
        return {"suptitle": value.suptitle, "axes": value.axes}
    if isinstance(value, Drawing) and value.images:
        return {"captions": msgspec.structs.replace(value, images=()), "images": value.images}
    return None


def _kind(container: Any) -> type:
    return tuple if isinstance(container, list) else type(container)


def _same_scale(a: Image, b: Image) -> bool:
    return (a.vmin, a.vmax, a.top_row_first) == (b.vmin, b.vmax, b.top_row_first)


def without_trailing_spaces(text: str) -> str:
    """Remove the spaces at the end of each line, because comparisons ignore them."""
    return "\n".join(line.rstrip(" ") for line in text.split("\n"))
