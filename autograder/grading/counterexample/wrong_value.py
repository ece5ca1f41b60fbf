"""Find the first wrong value that a program computes on its counterexample.

A traced version of the submission makes the calls of the counterexample, and so do traced versions
of correct programs (`localization.traced_runs`). The first deviating value is described if correct
programs compute its counterpart: the result of the same operation on the same operands, or the same
variable. A submission can falsify what it records, but then only its own student reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...repair.instrumentation import TracedProgram
from ...repair.recorder import COUNT, KIND, SHAPE, TYPE, UNORDERED
from ..localization.traced_runs import RightValues, TracedRun, rows_during, same, values_of
from ..outcomes import printable
from .answer_difference import differing_entries
from .call_cost import Calls
from .call_sequence import Player
from .value_text import result_text

_LEAST_AGREEING = 2  # correct programs that must compute the expected value
_MOST_OPERANDS = 2
_LONGEST = 60  # characters of an expression or of a value

Row = tuple["RecordedRun", int]


class WrongValue(NamedTuple):
    """The line that first computes a wrong value, and a sentence about this value."""

    line: int
    text: str


class RecordedRun(NamedTuple):
    """A traced run, and the target that still has its values."""

    run: TracedRun
    player: Player

    def values(self, exercise: str, rows: Sequence[int]) -> list[Any]:
        return values_of(self.player.target, exercise, rows)


def record_run(
    program: TracedProgram, player: Player, exercise: str, calls: Calls
) -> RecordedRun | None:
    """Make the calls on a traced program; return None if its rows are invalid."""
    rows = rows_during(player.target, exercise, lambda: player.play(calls))
    return None if rows is None else RecordedRun(TracedRun(program, rows), player)


def first_wrong_value(
    exercise: str, mine: RecordedRun, rights: Sequence[RecordedRun]
) -> WrongValue | None:
    """Return the first wrong value, or None if correct programs compute no counterpart."""
    runs = [right.run for right in rights]
    right = RightValues(
        np.concatenate([run.rows for run in runs]),
        np.concatenate([run.returned(exercise) for run in runs]),
    )
    kept = np.flatnonzero(right.is_comparable(mine.run.rows))
    run = TracedRun(mine.run.program, mine.run.rows[kept])
    run.judge(right, exercise)
    first = min(run.deviations, default=len(kept))
    for row in (r for r in range(first, len(kept)) if not run.same[r] and not run.node(r).name):
        expected = _counterpart(exercise, run, row, rights)
        if expected is not None:
            operands = run.operands[row]
            numbers = [int(kept[r]) for r in (row, *operands)]
            value, *parts = mine.values(exercise, numbers)
            (right_value,) = expected[0].values(exercise, [expected[1]])
            codes = [run.node(o).code for o in operands]
            return _described(run, row, (value, right_value), zip(codes, parts, strict=True))
    return None


def _counterpart(
    exercise: str, run: TracedRun, row: int, rights: Sequence[RecordedRun]
) -> Row | None:
    """Return the row of a correct program that should equal this row, or None if it is unclear."""
    node, value = run.node(row), run.rows[row]
    telling = [o for o in run.operands[row] if _is_telling(run.rows[o])]
    inputs = [run.rows[o] for o in telling] if all(run.same[telling]) else []
    outputs = run.returned_rows(exercise)
    places = [n for n, output in enumerate(outputs) if same(value, run.rows[[output]]).any()]

    def is_same_step(other: TracedRun, r: int) -> bool:
        theirs = other.rows[other.operands[r]]
        return bool(inputs) and all(same(x, theirs).any() for x in inputs)

    def is_same_operation(other: TracedRun, r: int) -> bool:
        return node.operation != "" and other.node(r).operation == node.operation

    def is_same_output(other: TracedRun, r: int) -> bool:
        theirs = other.returned_rows(exercise)
        return len(theirs) == len(outputs) and r in (theirs[n] for n in places[:1])

    def is_same_variable(other: TracedRun, r: int) -> bool:
        named = node.variable != "" and other.node(r).variable == node.variable
        return named and not same(other.rows[r], run.rows).any()

    rules: tuple[tuple[Callable[[TracedRun, int], bool], ...], ...] = (
        (is_same_operation, is_same_step),
        (is_same_output,),
        (is_same_variable, is_same_step),
        (is_same_variable, is_same_operation),
        (is_same_variable,),
    )
    comparable = [
        (right, r)
        for right in rights
        for r, other in enumerate(right.run.rows)
        if all(other[c] == value[c] for c in (KIND, COUNT, SHAPE, TYPE))
        and not same(value, right.run.rows[[r]]).any()
    ]
    for rule in rules:
        found = [(right, r) for right, r in comparable if all(f(right.run, r) for f in rule)]
        programs = {id(right) for right, _ in found}
        if len(programs) >= min(_LEAST_AGREEING, len(rights)):
            rows = np.array([right.run.rows[r] for right, r in found])
            if same(rows[0], rows).all():
                return found[0]
    return None


def _is_telling(row: np.ndarray) -> bool:
    """Return True unless the value is a whole number, as in `x ** 2`."""
    return bool(row[KIND] in (0, 1) or row[UNORDERED][0] % 1.0 != 0.0)


def _described(
    run: TracedRun, row: int, values: tuple[Any, Any], parts: Iterable[tuple[str, Any]]
) -> WrongValue | None:
    actual, expected = map(_numbers, values)
    if actual is None or expected is None:
        return None
    sides = differing_entries(expected, actual)
    shown = {
        code: text
        for code, part in parts
        if len(code) <= _LONGEST
        and (number := _numbers(part)) is not None
        and len(text := result_text(number, max(3, sides.digits))) <= _LONGEST
    }
    node = run.node(row)
    name = node.code if node.variable in {"", *shown} else node.variable
    if sides.expected == sides.actual or not 0 < len(name) <= _LONGEST:
        return None
    source = " and ".join(f"`{printable(c)}` = {t}" for c, t in [*shown.items()][:_MOST_OPERANDS])
    text = f"Line {node.line} computes `{printable(name)}{sides.suffix}` = {sides.actual}"
    text += f" from {source}; " if source else "; "
    return WrongValue(node.line, f"{text}{sides.expected} is expected.")


def _numbers(value: Any) -> Any:
    """Return a recorded value as an array or a number; None if it is neither."""
    with suppress(ValueError):  # raised for lists of different lengths
        found = np.array(value)
        if found.dtype.kind in "biuf":
            return found if found.ndim else found.item()
    return None
