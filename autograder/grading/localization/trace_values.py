"""What traced programs noted, row by row, and which rows tell of the same value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from ...repair.instrumentation import (
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
from ..diagnosis.probes import Probe, read
from ..outcomes import Outcome
from ..targets.in_process import Target

_MOST_ROWS = 2000
_SLACK = 2e-4  # of the size of what is compared: right programs round in other ways
Which = npt.NDArray[np.bool_]


def noted(target: Target, exercise: str, probe: Probe) -> np.ndarray | None:
    """What a traced program notes while it is asked what a test asks."""
    ask = frames.pack(frames.Call(exercise, None, NOTES, (), {}, "cpu"), [])
    try:
        target.begin(probe.test, exercise)
        target.request(ask)
        for frame, _ in probe.steps:
            target.request(frame)
        value, _ = read(target.request(ask))
    except (Outcome, frames.BadFrame):
        return None
    if not isinstance(value, torch.Tensor) or value.is_meta or value.ndim != 2:
        return None
    if value.dtype != torch.float64:
        return None
    if value.shape[1] != WIDTH or not bool(torch.isfinite(value).all()):
        return None
    return value.numpy()[:_MOST_ROWS].copy()


def moved(row: np.ndarray, others: np.ndarray) -> Which:
    """Which rows hold the same entries, in whatever order."""
    if not len(others):
        return np.zeros(0, bool)
    a, b = row[UNORDERED], others[:, UNORDERED]
    total, squares = max(a[2], 1e-9), max(a[1], 1e-12)
    top = max(abs(a[3]), abs(a[4]), 1e-9)
    slack = np.array([total, squares, total, top, top, 0.01, top * squares]) * _SLACK
    slack[5] = 0.5
    alike: Which = (others[:, COUNT] == row[COUNT]) & (np.abs(b - a) <= slack).all(axis=1)
    return alike


def ordered(row: np.ndarray, others: np.ndarray) -> Which:
    """Which rows hold the same entries in the same order, in whatever type."""
    alike = moved(row, others)
    if alike.any():
        slack = _SLACK * max(row[UNORDERED][2], 1e-9)
        alike &= (np.abs(others[:, ORDERED] - row[ORDERED]) <= slack).all(axis=1)
        alike &= np.abs(others[:, SHAPE] - row[SHAPE]) < 1e-6
    return alike


def same(row: np.ndarray, others: np.ndarray) -> Which:
    """Which rows hold the same entries in the same order, in one type."""
    alike = ordered(row, others)
    if alike.any():
        for column in (TYPE, KIND, GRADIENT):
            alike &= others[:, column] == row[column]
    return alike


def is_common(row: np.ndarray) -> bool:
    """Whether many expressions have such a value: one number, one number everywhere, counting."""
    total, high, low = row[UNORDERED][[0, 3, 4]]
    counting = high - low == row[COUNT] - 1 and abs(total - row[COUNT] * (high + low) / 2) < 1e-6
    return bool(row[COUNT] < 2 or high == low or counting)
