"""Describe the first wrong value that a program computes on its counterexample.

The submission and the correct programs are traced while they make the calls of the counterexample
(`localization.traced_runs`). The first deviating value is described if correct programs compute its
counterpart: the same output, or the result of the same operation on the same operands.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...repair.instrumentation import TracedExpression
from ...repair.trace_recorder import ARRAY, KIND, TENSOR, TYPE, UNORDERED, number_of_type
from ..localization.traced_runs import RightValues, TracedRun
from ..localization.value_rows import same
from ..outcomes import printable
from .answer_difference import Sides, differing_entries
from .value_text import result_text

_SIZES = (8, 16, 32, 64)
_LEAST_AGREEING = 2  # correct programs that must compute the expected value
_DTYPES = {  # the dtype of a recorded number
    number_of_type(f"{library}{name}"): f"{library}{name}"
    for library in ("", "torch.")
    for name in ("bool", *(f"{kind}{size}" for kind in ("int", "uint", "float") for size in _SIZES))
}
_MOST_OPERANDS = 2
_MOST_SHOWN = 4  # entries of an array to show; of a larger one, only one entry
_LONGEST = 48  # characters of an expression or of an operand's value

Row = tuple[TracedRun, int]


class WrongValue(NamedTuple):
    """The line that first computes a wrong value, and a text about this value.

    sides:    the expected and the actual value
    operands: the values that led to it, such as "`q @ k.mT` = [[2, 1]]", or ""
    """

    line: int
    code: str
    sides: Sides
    operands: str

    def sentence(self, expected: str, actual: str, names_line: bool) -> str:
        """Describe the value, given the counterexample's values, which are not repeated."""
        subject = f"Line {self.line}" if names_line else "Your code"
        source = f" from {self.operands}" if self.operands else ""
        if (expected, actual) == (self.sides.expected, self.sides.actual):
            return f"{subject} computes this value{source}."
        value = f"`{self.code}` = {self.sides.actual}{source}"
        return f"{subject} computes {value}; {self.sides.expected} is expected."


def first_wrong_value(run: TracedRun, right: RightValues, least_line: int) -> WrongValue | None:
    """Return the first wrong value, or None if correct programs compute no counterpart.

    run:        the run of the submission, compared with the correct ones
    least_line: the first line that is known to contain a mistake; values of earlier lines do not
                count
    """
    first = min(run.deviations, default=len(run.rows))
    for row in (r for r in range(first, len(run.rows)) if not run.same[r] and not run.node(r).name):
        counts = run.node(row).line >= least_line
        expected = _counterpart(run, row, right.runs) if counts else None
        if expected is not None:
            other, counterpart = expected
            operands = [o for o in run.operands[row] if _is_telling(run.rows[o])]
            value, *parts = map(_numbers, run.values([row, *operands]))
            right_value = _numbers(*other.values([counterpart]))
            if value is None or right_value is None:
                return None
            types = [_DTYPES.get(x[TYPE]) for x in (run.rows[row], other.rows[counterpart])]
            sides = _sides(value, right_value, *types)
            codes = [run.node(o).code or run.node(o).variable for o in operands]
            return _described(run.node(row), sides, zip(codes, parts, strict=True))
    return None


def _counterpart(run: TracedRun, row: int, rights: Sequence[TracedRun]) -> Row | None:
    """Return the row of a correct program that should equal this row, or None if it is unclear."""
    node, value = run.node(row), run.rows[row]
    telling = [o for o in run.operands[row] if _is_telling(run.rows[o])]
    inputs = [run.rows[o] for o in telling] if all(run.same[telling]) else []
    places = [n for n, output in enumerate(run.returned) if row == _producer(run, output)]

    def is_same_step(right_run: TracedRun, r: int) -> bool:
        if not inputs or not node.operation or right_run.node(r).operation != node.operation:
            return False
        theirs = right_run.rows[right_run.operands[r]]
        return all(same(x, theirs).any() for x in inputs)

    def is_same_output(right_run: TracedRun, r: int) -> bool:
        theirs = right_run.returned
        return len(theirs) == len(run.returned) and r in (theirs[n] for n in places[:1])

    comparable = [
        (right, r)
        for right in rights
        for r, other in enumerate(right.rows)
        if other[KIND] == value[KIND]
    ]
    for rule in (is_same_output, is_same_step):
        found = [(right, r) for right, r in comparable if rule(right, r)]
        if any(same(value, right.rows[[r]]).any() for right, r in found):
            return None  # this step is correct, and its value is a wrong one elsewhere
        programs = {id(right) for right, _ in found}
        if len(programs) >= min(_LEAST_AGREEING, len(rights)):
            rows = np.array([right.rows[r] for right, r in found])
            if same(rows[0], rows).all():
                return found[0]
    return None


def _producer(run: TracedRun, row: int) -> int:
    """Return the row that computes a value which a variable, or `x if y else z`, only passes on."""
    node, value = run.node(row), run.rows[row]
    if node.operation:
        return row
    copied = [r for r in range(row) if node.name and run.node(r).variable == node.name]
    copied = copied[-1:] if node.name else run.operands[row]
    equal = [r for r in copied if same(value, run.rows[[r]]).all()]
    return _producer(run, equal[0]) if equal else row


def _is_telling(row: np.ndarray) -> bool:
    """Return True unless the value is a whole number, as in `x ** 2`."""
    return bool(row[KIND] in (TENSOR, ARRAY) or row[UNORDERED][0] % 1.0 != 0.0)


def _sides(actual: Any, expected: Any, actual_type: str | None, expected_type: str | None) -> Sides:
    """Describe the first difference between two values: the dtype, the shape, or the entries."""
    if actual_type and expected_type and actual_type != expected_type:
        return Sides(expected_type, actual_type, ".dtype")
    if np.shape(actual) != np.shape(expected):
        return Sides(str(np.shape(expected)), str(np.shape(actual)), ".shape")
    return differing_entries(expected, actual, limit=_MOST_SHOWN)


def _described(
    node: TracedExpression, sides: Sides, parts: Iterable[tuple[str, Any]]
) -> WrongValue | None:
    shown = {
        code: text
        for code, part in parts
        if len(code) <= _LONGEST
        and part is not None
        and len(text := result_text(part, max(3, sides.digits))) <= _LONGEST
    }
    name = node.code if node.code and node.variable in {"", *shown} else node.variable
    shown.pop(name, None)
    if sides.expected == sides.actual or not 0 < len(name) <= _LONGEST:
        return None
    name = f"({name})" if sides.suffix and not name.isidentifier() else name
    source = " and ".join(f"`{printable(c)}` = {t}" for c, t in [*shown.items()][:_MOST_OPERANDS])
    return WrongValue(node.line, f"{printable(name)}{sides.suffix}", sides, source)


def _numbers(value: Any) -> Any:
    """Return a recorded value as an array or a number; None if it is neither."""
    with suppress(ValueError):  # raised for lists of different lengths
        found = np.array(value)
        if found.dtype.kind in "biuf":
            return found if found.ndim else found.item()
    return None
