"""Record the rows of a traced program, and compare the values that the rows describe."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from ...repair.trace_recorder import (
    COUNT,
    GRADIENT,
    KIND,
    NOTES,
    ORDERED,
    SHAPE,
    TYPE,
    UNORDERED,
    WIDTH,
)
from ...worker.protocol import frames
from ..decoding import read_answer
from ..diagnosis.probes import Probe
from ..outcomes import Outcome
from ..targets.in_process import Target
from .tuning import ROUNDING, ROWS_PER_TRACE

Mask = npt.NDArray[np.bool_]


def record(target: Target, exercise: str, probe: Probe) -> np.ndarray | None:
    """Replay a test's requests in a traced program; return its rows, or None if the run failed.

    The rows must be a matrix of finite numbers of the expected width; otherwise return None.
    """
    ask = frames.pack(frames.Call(exercise, None, NOTES, (), {}, "cpu"), [])
    try:
        target.begin(probe.test, exercise)
        target.request(ask)
        for frame, _ in probe.steps:
            target.request(frame)
        value, _ = read_answer(target.request(ask))
    except (Outcome, frames.BadFrame):
        return None
    if not isinstance(value, torch.Tensor) or value.is_meta or value.ndim != 2:
        return None
    if value.dtype != torch.float64 or value.shape[1] != WIDTH:
        return None
    if not bool(torch.isfinite(value).all()):
        return None
    return value.numpy()[:ROWS_PER_TRACE].copy()


def permuted(row: np.ndarray, rows: np.ndarray) -> Mask:
    """Return a mask of `rows` whose values have the same entries as `row`, in any order."""
    if not len(rows):
        return np.zeros(0, bool)
    a, b = row[UNORDERED], rows[:, UNORDERED]
    total, squares = max(a[2], 1e-9), max(a[1], 1e-12)
    largest = max(abs(a[3]), abs(a[4]), 1e-9)
    scale = np.array([total, squares, total, largest, largest, 0.0, largest * squares])
    tolerance = scale * ROUNDING
    tolerance[5] = 0.5  # the number of non-finite entries
    alike: Mask = (rows[:, COUNT] == row[COUNT]) & (np.abs(b - a) <= tolerance).all(axis=1)
    return alike


def same(row: np.ndarray, rows: np.ndarray) -> Mask:
    """Return a mask of `rows` whose values have the same entries in the same order and dtype."""
    alike = permuted(row, rows)
    if alike.any():
        tolerance = ROUNDING * max(row[UNORDERED][2], 1e-9)
        alike &= (np.abs(rows[:, ORDERED] - row[ORDERED]) <= tolerance).all(axis=1)
        alike &= np.abs(rows[:, SHAPE] - row[SHAPE]) < 1e-6
        for column in (TYPE, KIND, GRADIENT):
            alike &= rows[:, column] == row[column]
    return alike


def is_ambiguous(row: np.ndarray) -> bool:
    """Return True if unrelated mistakes could give this value: a constant or a round number."""
    if row[COUNT] == 1:
        return abs(float(row[UNORDERED][0]) % 1.0 - 0.5) >= 0.49
    high, low = row[UNORDERED][[3, 4]]
    return bool(high == low)
