"""Compare the recorded values of a program with those of correct programs and of a misconception.

Each recorded value is described by a row of numbers (see `repair/instrumentation.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch

from ...repair.instrumentation import (
    COUNT,
    GRADIENT,
    KIND,
    LIST,
    NODE,
    NOTES,
    ORDERED,
    SHAPE,
    TEXT,
    TYPE,
    UNORDERED,
    WIDTH,
    TracedExpression,
    TracedProgram,
)
from ...worker.protocol import frames
from ...worker.protocol.values import read_answer
from ..outcomes import Outcome
from ..targets.in_process import Target
from .candidate_runner import Probe

_ROWS_PER_TRACE = 2000
_ROUNDING = 2e-4  # relative tolerance, because correct programs round differently

Mask = npt.NDArray[np.bool_]


def record(target: Target, exercise: str, probe: Probe) -> np.ndarray | None:
    """Replay the requests of a test in a traced program, and return the recorded rows.

    Return None if a request fails, or if the rows are not a float64 matrix of finite numbers with
    WIDTH columns.
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
    return value.numpy()[:_ROWS_PER_TRACE].copy()


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


def same(row: np.ndarray, rows: np.ndarray) -> Mask:
    """Return a mask that is True for the rows that describe the same value as `row`.

    The entries, their order, the shape, the dtype, the kind and `requires_grad` must be equal.
    """
    alike = permuted(row, rows)
    if alike.any():
        tolerance = _ROUNDING * max(row[UNORDERED][2], 1e-9)
        alike &= (np.abs(rows[:, ORDERED] - row[ORDERED]) <= tolerance).all(axis=1)
        alike &= np.abs(rows[:, SHAPE] - row[SHAPE]) < 1e-6
        for column in (TYPE, KIND, GRADIENT):
            alike &= rows[:, column] == row[column]
    return alike


def is_ambiguous(row: np.ndarray) -> bool:
    """Return True for constant arrays and whole numbers, which unrelated mistakes may produce."""
    if row[COUNT] == 1:
        return abs(float(row[UNORDERED][0]) % 1.0 - 0.5) >= 0.49
    high, low = row[UNORDERED][[3, 4]]
    return bool(high == low)


Place = tuple[str, int]  # a function and a line


@dataclass(frozen=True)
class RightValues:
    """The values that correct programs recorded in one test.

    rows: all recorded values
    returned: the values that the exercise returned
    """

    rows: np.ndarray
    returned: np.ndarray

    def comparable(self, rows: np.ndarray) -> np.ndarray:
        """Drop the rows of texts if correct programs recorded no text, and likewise for lists."""
        foreign = {TEXT, LIST}.difference(self.rows[:, KIND].tolist())
        return rows[~np.isin(rows[:, KIND], [*foreign])]

    def is_expected(self, row: np.ndarray) -> bool:
        """Return True if correct programs should compute this value, whatever their style.

        Texts and lists are a matter of style unless correct programs return values of that kind.
        """
        return row[KIND] not in (TEXT, LIST) or row[KIND] in self.returned[:, KIND]


@dataclass
class TracedRun:
    """The recorded run of a program.

    same: mask of the rows whose values correct programs compute too
    permuted: like `same`, but a value's entries may be in a different order
    """

    program: TracedProgram
    rows: np.ndarray
    same: Mask = field(default_factory=lambda: np.empty(0, bool))
    permuted: Mask = field(default_factory=lambda: np.empty(0, bool))

    @property
    def nodes(self) -> list[TracedExpression]:
        return self.program.nodes

    def node(self, row: int) -> TracedExpression:
        return self.nodes[int(self.rows[row, NODE])]

    def place(self, row: int) -> Place:
        return self.node(row).function, self.node(row).line

    def returned(self, exercise: str) -> np.ndarray:
        """Return the rows of the return values of an exercise."""
        own = [
            n.returned and (n.function == exercise or n.function.startswith(f"{exercise}."))
            for n in self.nodes
        ]
        return self.rows[[own[int(r[NODE])] for r in self.rows]]

    def judge(self, right: RightValues, exercise: str) -> None:
        """Compare the recorded values with those of correct programs; set `same` and `permuted`.

        A value that the exercise returns is correct only if correct programs return it too.
        """
        known: dict[bytes, tuple[bool, bool]] = {}  # cache: a value is often recorded repeatedly
        judged = []
        for row in self.rows:
            value = row[NODE + 1 :].tobytes()
            if value not in known:
                others = right.rows[right.rows[:, COUNT] == row[COUNT]]
                exact, in_any_order = same(row, others).any(), permuted(row, others).any()
                known[value] = bool(exact), bool(in_any_order)
            judged.append(known[value])
        self.same, self.permuted = np.array(judged, bool).reshape(-1, 2).T.copy()
        if not len(right.returned):
            return
        for row in self.returned(exercise):
            if same(row, right.returned).any():
                continue
            self.same &= ~same(row, self.rows)
            if not permuted(row, right.returned).any():
                self.permuted &= ~permuted(row, self.rows)

    @cached_property
    def deviations(self) -> list[int]:
        """The rows in which values first become wrong, in order; permuted values come last."""
        first: dict[int, int] = {}  # expression -> its first deviating row, or its first row
        for row in range(len(self.rows)):
            node = int(self.rows[row, NODE])
            if node not in first or (self.same[first[node]] and not self.same[row]):
                first[node] = row
        wrong = [n for n, row in first.items() if not self.permuted[row]]
        moved = [n for n, row in first.items() if self.permuted[row] and not self.same[row]]
        found = []
        for some, below in ((wrong, wrong), (moved, wrong + moved)):
            # Parts that are single numbers are ignored, because they may be wrong by coincidence.
            large = {n for n in below if self.rows[first[n], COUNT] > 1}
            roots = [
                n
                for n in some
                if large.isdisjoint(self.nodes[n].parts) and not self.nodes[n].is_name
            ]
            found += sorted(first[n] for n in roots)
        return found

    def place_of_mistake(self, reference: TracedRun, right: TracedProgram) -> Place | None:
        """Return the place in this program that computes the wrong value of a misconception.

        Return None if no statement of this program computes that value.

        reference: the run of the bank's program for the misconception
        right:     the traced solution
        """
        unchanged = {node.statement for node in right.nodes}
        rows = range(len(reference.rows))
        changed = [r for r in rows if reference.node(r).statement not in unchanged]
        deviating = [r for r in reference.deviations if r in changed]
        results = []
        if len({reference.node(r).statement for r in changed}) == 1:
            # If the misconception omits a step, correct programs compute all its values too, so
            # use the result of the changed statement. If several statements changed, some may
            # differ only in style.
            parts = {part for node in reference.nodes for part in node.parts}
            results = [r for r in changed if int(reference.rows[r, NODE]) not in parts]
        own = [r for r in range(len(self.rows)) if not self.node(r).is_name]
        if deviating:
            own = [r for r in own if not self.same[r]]
        for value in reference.rows[deviating or results]:
            for alike in () if is_ambiguous(value) else (same, permuted):
                for index in np.flatnonzero(alike(value, self.rows[own])):
                    row = own[index]
                    if not deviating or row in self.deviations:
                        return self.place(row)
                    before = {self.place(r) for r in self.deviations if r < row}
                    if len(before) == 1:  # an earlier deviation causes this value
                        return before.pop()
        return None
