"""Compare rows, each of which describes one recorded value (see `repair/trace_recorder.py`)."""

import numpy as np
import numpy.typing as npt

from ...repair.trace_recorder import COUNT, GRADIENT, KIND, ORDERED, SHAPE, TYPE, UNORDERED

_ROUNDING = 2e-4  # relative tolerance, because correct programs round differently

Mask = npt.NDArray[np.bool_]


def permuted(row: np.ndarray, rows: np.ndarray) -> Mask:
    """Return a mask that is True for the rows whose values have the entries of `row`, in any order.

    Entries are compared by sums and extrema that do not depend on their order.
    """
    if not len(rows):
        return np.zeros(0, bool)
    a, b = row[UNORDERED], rows[:, UNORDERED]
    total, squares = max(a[2], 1e-9), max(a[1], 1e-12)
    largest = max(abs(a[3]), abs(a[4]), 1e-9)
    scale = np.array([total, squares, total, largest, largest, 0.0, largest * squares])
    tolerance = scale * _ROUNDING
    tolerance[5] = 0.5  # the number of non-finite entries
    alike: Mask = (rows[:, COUNT] == row[COUNT]) & (np.abs(b - a) <= tolerance).all(axis=1)
    return alike


def same(
    row: np.ndarray, rows: np.ndarray, *, any_type: bool = False, any_shape: bool = False
) -> Mask:
    """Return a mask that is True for the rows that describe the same value as `row`.

    The entries and their order must be equal; unless `any_shape`, the shape as well, and unless
    `any_type`, the dtype, the kind and `requires_grad` as well.
    """
    alike = permuted(row, rows)
    if alike.any():
        tolerance = _ROUNDING * max(row[UNORDERED][2], 1e-9)
        alike &= (np.abs(rows[:, ORDERED] - row[ORDERED]) <= tolerance).all(axis=1)
        alike &= any_shape | (np.abs(rows[:, SHAPE] - row[SHAPE]) < 1e-6)
        for column in () if any_type else (TYPE, KIND, GRADIENT):
            alike &= rows[:, column] == row[column]
    return alike


def is_ambiguous(row: np.ndarray) -> bool:
    """Return True for constant arrays and whole numbers, which unrelated mistakes may produce."""
    if row[COUNT] == 1:
        return abs(float(row[UNORDERED][0]) % 1.0 - 0.5) >= 0.49
    high, low = row[UNORDERED][[3, 4]]
    return bool(high == low)


def is_whole(row: np.ndarray) -> bool:
    """Return True if all entries are whole numbers, as in positions, masks and sizes."""
    return bool((row[UNORDERED] % 1.0 == 0.0).all())
