"""Compare the recorded values of a program with those of correct programs and of a misconception.

Each recorded value is described by a row of numbers (see `repair/trace_recorder.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ...repair.instrumentation import TracedExpression, TracedProgram
from ...repair.trace_recorder import (
    ADDRESS,
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
    VALUES,
    WIDTH,
)
from ...worker.protocol import frames
from ...worker.protocol.values import Encoder, read_answer
from ..outcomes import Outcome
from ..targets.in_process import Target
from .candidate_runner import Probe

_ROWS_PER_TRACE = 2000
_ROUNDING = 2e-4  # relative tolerance, because correct programs round differently

Mask = npt.NDArray[np.bool_]


def record(target: Target, exercise: str, probe: Probe) -> np.ndarray | None:
    """Replay the requests of a test in a traced program, and return the recorded rows.

    Return None if a request fails, or if the rows are invalid (see `rows_during`).
    """

    def replay() -> None:
        target.begin(probe.test, exercise)
        for frame, _ in probe.steps:
            target.request(frame)

    return rows_during(target, exercise, replay)


def rows_during(target: Target, exercise: str, replay: Callable[[], Any]) -> np.ndarray | None:
    """Return the rows that a traced program records while `replay` makes calls.

    Return None if a request fails, or if the rows are not a float64 matrix of finite numbers with
    WIDTH columns.
    """
    ask = frames.pack(frames.Call(exercise, None, NOTES, (), {}, "cpu"), [])
    try:
        target.begin("", exercise)
        target.request(ask)
        replay()
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


def values_of(target: Target, exercise: str, rows: Sequence[int]) -> list[Any]:
    """Return the small values of rows that were recorded last; None for the other values."""
    encoder = Encoder()
    call = frames.Call(exercise, None, VALUES, (encoder(list(rows)),), {}, "cpu")
    try:
        found, _ = read_answer(target.request(frames.pack(call, encoder.buffers)))
    except (Outcome, frames.BadFrame):
        found = None
    return found if isinstance(found, list) and len(found) == len(rows) else [None] * len(rows)


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

    def is_comparable(self, rows: np.ndarray) -> Mask:
        """Return a mask without texts if correct programs recorded none, and likewise for lists."""
        foreign = {TEXT, LIST}.difference(self.rows[:, KIND].tolist())
        return ~np.isin(rows[:, KIND], [*foreign])

    def is_expected(self, row: np.ndarray) -> bool:
        """Return True if correct programs should compute this value, whatever their style.

        Texts and lists are a matter of style unless correct programs return values of that kind.
        """
        return row[KIND] not in (TEXT, LIST) or row[KIND] in self.returned[:, KIND]


@dataclass
class TracedRun:
    """The recorded run of a program.

    same: mask of the rows whose values correct programs compute too
    """

    program: TracedProgram
    rows: np.ndarray
    same: Mask = field(default_factory=lambda: np.empty(0, bool))

    @property
    def nodes(self) -> list[TracedExpression]:
        return self.program.nodes

    def node(self, row: int) -> TracedExpression:
        return self.nodes[int(self.rows[row, NODE])]

    def place(self, row: int) -> Place:
        return self.node(row).function, self.node(row).line

    def returned(self, exercise: str) -> np.ndarray:
        """Return the rows of the return values of an exercise."""
        return self.rows[self.returned_rows(exercise)]

    def returned_rows(self, exercise: str) -> list[int]:
        """Return the indices of the return values of an exercise."""
        own = [
            n.returned
            and (n.function.partition(".")[0] == exercise or not n.statement.startswith("return "))
            for n in self.nodes
        ]
        return [number for number, row in enumerate(self.rows) if own[int(row[NODE])]]

    def judge(self, right: RightValues, exercise: str) -> None:
        """Compare the recorded values with those of correct programs, and set `same`.

        A value that the exercise returns is correct only if correct programs return it too.
        """
        known: dict[bytes, bool] = {}  # cache: a value is often recorded repeatedly
        judged = []
        for row in self.rows:
            value = row[NODE + 1 :].tobytes()
            if value not in known:
                known[value] = not right.is_expected(row) or bool(same(row, right.rows).any())
            judged.append(known[value])
        self.same = np.array(judged, bool)
        for row in self.returned(exercise) if len(right.returned) else ():
            if not same(row, right.returned).any():
                self.same &= ~same(row, self.rows)

    @cached_property
    def deviations(self) -> list[int]:
        """The rows in which values first become wrong, in order.

        A value is wrong if correct programs do not compute it and no value that depends on it is
        correct again: values that differ only in style lead back to correct ones.
        """
        consumers: list[list[int]] = [[] for _ in self.rows]
        for row, operands in enumerate(self.operands):
            for operand in operands:
                consumers[operand].append(row)
        wrong = np.zeros(len(self.rows), bool)
        for row in reversed(range(len(self.rows))):
            is_output = self.node(row).returned
            if not self.same[row] and (is_output or not self._is_constant(row)):
                used = consumers[row]
                wrong[row] = wrong[used].any() if used else is_output or not self._is_whole(row)
        return [
            row
            for row, operands in enumerate(self.operands)
            if wrong[row] and not wrong[operands].any() and not self.node(row).name
        ]

    def _is_constant(self, row: int) -> bool:
        """Return True for arrays with equal entries, which carry nothing but a shape."""
        return bool(self.rows[row, COUNT] > 1 and is_ambiguous(self.rows[row]))

    def _is_whole(self, row: int) -> bool:
        """Return True for positions, masks and sizes, which are no outputs if nothing uses them."""
        return bool((self.rows[row, UNORDERED] % 1.0 == 0.0).all())

    @cached_property
    def operands(self) -> list[list[int]]:
        """For each row, the earlier rows from which its value is computed or copied."""
        latest: dict[int, int] = {}
        values: dict[bytes, int] = {}
        found = []
        for row, recorded in enumerate(self.rows):
            value, number = recorded[NODE + 1 :].tobytes(), int(recorded[NODE])
            parts = [latest[part] for part in self.nodes[number].parts if part in latest]
            found.append([values[value]] if value in values else parts)
            latest[number] = values[value] = row
        return found

    def is_uncertain(self, row: int) -> bool:
        """Return True if a wrong value may be caused by a line that computes only known values.

        That line may have a wrong condition, or give its value a wrong name, constant or address.
        """
        node = self.node(row)
        is_position = self._is_whole(row) and not node.returned  # positions have many styles
        if node.conditional or is_position or is_ambiguous(self.rows[row]):
            return True
        for operand in self.operands[row]:
            read, recorded = self.node(operand), self.rows[operand]
            if recorded[KIND] == ADDRESS:
                return True
            is_trivial = self._is_constant(operand) or self._is_whole(operand)
            if read.name and recorded[COUNT] > 1 and is_trivial:  # many programs compute it
                return True
            for source in self.operands[operand] if read.name else ():
                made = self.node(source)
                renamed = made.unpacked or made.name not in ("", read.name)
                if renamed and made.function == read.function:
                    return True
                before = (self.node(r) for r in self.operands[source])
                if any(n.name == read.name and n.line > made.line for n in before):
                    return True  # a loop computes the same value again
        return False

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
        own = [r for r in range(len(self.rows)) if not self.node(r).name]
        if deviating:
            own = [r for r in own if not self.same[r]]
        for value in reference.rows[deviating or results]:
            for alike in () if is_ambiguous(value) else (same, permuted):
                found = [own[index] for index in np.flatnonzero(alike(value, self.rows[own]))]
                if not deviating and len({self.place(row) for row in found}) > 1:
                    return None  # a correct value that several statements compute
                for row in found:
                    if not deviating or row in self.deviations:
                        return self.place(row)
                    before = {self.place(r) for r in self.deviations if r < row}
                    if len(before) == 1:  # an earlier deviation causes this value
                        return before.pop()
        return None
