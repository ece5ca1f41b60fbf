"""Record the values of a program, and compare them with those of correct programs.

Localization (`traces`) and counterexamples (`counterexample/wrong_value.py`) both run instrumented
programs (`record`) and compare the runs (`RightValues.compared`). Each recorded value is described
by a row of numbers (see `repair/trace_recorder.py`). A submission can forge its rows, but only the
rows of values that it computes equal those of correct programs. Other rows only select lines of the
submission, and the values of a submission are shown to its student alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch

from ...repair import UNPARSABLE
from ...repair.instrumentation import TracedExpression, TracedProgram, trace_program
from ...repair.trace_recorder import (
    ADDRESS,
    ARRAY,
    COUNT,
    KIND,
    LIST,
    NODE,
    NOTES,
    TENSOR,
    TEXT,
    TYPE,
    VALUES,
    WIDTH,
    number_of_type,
)
from ...worker.protocol import frames
from ...worker.protocol.values import Encoder, read_answer
from ..outcomes import Outcome
from ..targets.in_process import Target
from .value_rows import Mask, is_ambiguous, is_whole, permuted, same

_ROWS_PER_TRACE = 2000
_FEWEST_STEPS = 4  # a program with fewer different values is too short to show work
_MOST_STEPS = 3  # limit on a submission's different values, relative to a correct program's

Replay = Callable[[Target, str], object]  # makes an exercise's calls; may raise an Outcome


@lru_cache(maxsize=4)
def traced(
    source: str, exercise: str, foreign: frozenset[str] = frozenset()
) -> TracedProgram | None:
    """Instrument a program for an exercise; return None if that is impossible.

    foreign: names of definitions that are not instrumented
    """
    with suppress(*UNPARSABLE):
        return trace_program(source, exercise, foreign)
    return None


def record(program: TracedProgram, target: Target, replay: Replay) -> TracedRun | None:
    """Make calls on a target that has loaded an instrumented program; return the recorded run.

    Return None if a request fails, or if the rows are not a float64 matrix of finite numbers with
    WIDTH columns.
    """
    ask = frames.pack(frames.Call(program.exercise, None, NOTES, (), {}, "cpu"), [])
    try:
        target.begin("", program.exercise)
        target.request(ask)
        replay(target, program.exercise)
        value, _ = read_answer(target.request(ask))
    except (Outcome, frames.BadFrame):
        return None
    if not isinstance(value, torch.Tensor) or value.is_meta or value.ndim != 2:
        return None
    if value.dtype != torch.float64 or value.shape[1] != WIDTH:
        return None
    if not bool(torch.isfinite(value).all()):
        return None
    rows = value.numpy()[:_ROWS_PER_TRACE].copy()
    return TracedRun(program, target, rows, np.arange(len(rows)))


Place = tuple[str, int]  # a function and a line
_FLOAT64 = {number_of_type(name) for name in ("float64", "torch.float64")}


@dataclass(frozen=True)
class RightValues:
    """The values that correct programs recorded for the same calls.

    runs: the recorded runs, at least one
    """

    runs: Sequence[TracedRun]

    @property
    def rows(self) -> np.ndarray:
        return np.concatenate([run.rows for run in self.runs])

    def compared(self, run: TracedRun) -> TracedRun:
        """Return a run with `same` set, without the texts or lists that no correct program has.

        A value that the exercise returns is correct only if correct programs return it too.
        """
        right = self.rows
        returned = np.concatenate([one.rows[one.returned] for one in self.runs])
        # Float64 is a matter of style if no correct program computes in it. Texts and lists are a
        # matter of style unless a correct program returns them.
        types = set(map(tuple, right[:, [KIND, TYPE]]))
        style = {TEXT, LIST}.difference(returned[:, KIND].tolist())
        foreign = {TEXT, LIST}.difference(right[:, KIND].tolist())
        kept = ~np.isin(run.rows[:, KIND], [*foreign])
        run = replace(run, rows=run.rows[kept], numbers=run.numbers[kept])
        known: dict[bytes, bool] = {}  # cache: a value is often recorded repeatedly
        for row in run.rows:
            value = row[NODE + 1 :].tobytes()
            if value not in known:
                any_type = row[TYPE] in _FLOAT64 and tuple(row[[KIND, TYPE]]) not in types
                # Positions and masks get their axes of length one in any step.
                alike = same(row, right, any_type=any_type, any_shape=is_whole(row))
                known[value] = row[KIND] in style or bool(alike.any())
        run.same = np.array([known[row[NODE + 1 :].tobytes()] for row in run.rows], bool)
        for row in run.rows[run.returned] if len(returned) else ():
            if not same(row, returned).any():
                run.same &= ~same(row, run.rows)
        return run

    def share_computed_by(self, run: TracedRun) -> float | None:
        """Return the largest share of a correct program's steps whose values a run has too.

        Leave out correct programs whose results the run has too, because it may return different
        ones on purpose, and those with so few steps that some may match by accident. Return None if
        no program is left.
        """
        shares = []
        for one in self.runs:
            has_results = all(permuted(row, run.rows).any() for row in one.rows[one.returned])
            is_short = len(one.steps) < max(_FEWEST_STEPS, len(run.steps) / _MOST_STEPS)
            if not has_results and not is_short:
                shares.append(float(np.mean([permuted(row, run.rows).any() for row in one.steps])))
        return max(shares, default=None)


@dataclass
class TracedRun:
    """The recorded run of a program.

    target:  the target that made the run, and keeps its small values until the next one
    numbers: the index of each row among all recorded rows
    same:    mask of the rows whose values correct programs compute too (`RightValues.compared`)
    """

    program: TracedProgram
    target: Target
    rows: np.ndarray
    numbers: np.ndarray
    same: Mask = field(default_factory=lambda: np.empty(0, bool))

    @property
    def nodes(self) -> list[TracedExpression]:
        return self.program.nodes

    def node(self, row: int) -> TracedExpression:
        return self.nodes[int(self.rows[row, NODE])]

    def place(self, row: int) -> Place:
        return self.node(row).function, self.node(row).line

    @cached_property
    def returned(self) -> list[int]:
        """The rows of the values that the exercise returns."""
        exercise = self.program.exercise
        own = [
            n.returned
            and (n.function.partition(".")[0] == exercise or not n.statement.startswith("return "))
            for n in self.nodes
        ]
        return [number for number, row in enumerate(self.rows) if own[int(row[NODE])]]

    @cached_property
    def steps(self) -> list[np.ndarray]:
        """The rows of different values that the program computes, whatever their entries' order.

        Leave out what takes no work: arguments in any order, whole numbers, constants, and what
        is neither a tensor nor an array.
        """
        known = [self.rows[row] for row, operands in enumerate(self.operands) if not operands]
        inputs = len(known)
        for number, row in enumerate(self.rows):
            trivial = is_ambiguous(row) or is_whole(row) or row[KIND] not in (TENSOR, ARRAY)
            if not (trivial or self.node(number).name or permuted(row, np.array(known)).any()):
                known.append(row)
        return known[inputs:]

    def values(self, rows: Sequence[int]) -> list[Any]:
        """Return the small values of some rows of the target's last run; None for other values."""
        encoder = Encoder()
        numbers = encoder(self.numbers[rows].tolist())
        call = frames.Call(self.program.exercise, None, VALUES, (numbers,), {}, "cpu")
        try:
            found, _ = read_answer(self.target.request(frames.pack(call, encoder.buffers)))
        except (Outcome, frames.BadFrame):
            found = None
        return found if isinstance(found, list) and len(found) == len(rows) else [None] * len(rows)

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
                # Positions, masks and sizes that nothing uses are no outputs.
                alone = is_output or not is_whole(self.rows[row])
                wrong[row] = wrong[used].any() if used else alone
        return [
            row
            for row, operands in enumerate(self.operands)
            if wrong[row] and not wrong[operands].any() and not self.node(row).name
        ]

    def _is_constant(self, row: int) -> bool:
        """Return True for arrays with equal entries, which carry nothing but a shape."""
        return bool(self.rows[row, COUNT] > 1 and is_ambiguous(self.rows[row]))

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
        is_position = is_whole(self.rows[row]) and not node.returned  # positions have many styles
        if node.conditional or is_position or is_ambiguous(self.rows[row]):
            return True
        for operand in self.operands[row]:
            read, recorded = self.node(operand), self.rows[operand]
            if recorded[KIND] == ADDRESS:
                return True
            is_trivial = self._is_constant(operand) or is_whole(recorded)
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
        """Return the place where this program computes the wrong value that a misconception causes.

        Return None if there is no such place, or if it is ambiguous.

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
        if changed and not deviating and self.deviations and reference.deviations:
            # The misconception chooses a wrong value that correct programs compute too.
            wrong, row = reference.rows[reference.deviations[0]], self.deviations[0]
            if not is_ambiguous(wrong) and same(wrong, self.rows[[row]]).all():
                return self._choice(row)
        return None

    def _choice(self, row: int) -> Place:
        """Return the place that assigns a known value to a variable in a row, or else the row's."""
        for operand in self.operands[row]:
            read = self.node(operand)
            for source in self.operands[operand] if read.name else ():
                if self.node(source).variable == read.name:
                    return self.place(source)
        return self.place(row)
