"""Find the line of a submission that produces the values of a known misconception.

`theirs` is always the recorded run of the bank's program for a misconception, `run` that of the
submission; `right` are the values of right programs in the same test.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ...repair.trace_recorder import NODE
from .trace_values import Mask, is_ambiguous, is_common, same
from .traced_runs import Place, RightValues, TracedRun, first_row_of


def locate_misconception(run: TracedRun, theirs: TracedRun, right: RightValues) -> Place | None:
    """Return the place that computes what the changed statement of a misconception computes.

    Returns None if no value distinguishes the mistake, or if none of its values is in the run.
    """
    if not theirs.deviations or not run.deviations:
        return None
    changed = [r for r in theirs.deviations if theirs.is_changed(r)]
    unchanged = theirs.rows[[r for r in theirs.deviations if r not in changed]]
    inside = [r for r in changed if not same(theirs.rows[r], unchanged).any()]
    if not inside and (place := _same_first_deviation(run, theirs, right)) is not None:
        return place
    omitted = not inside and theirs.lacks_statements
    deviating = frozenset(int(run.rows[r, NODE]) for r in run.deviations)
    for row in theirs.deviations if omitted else inside:
        value = theirs.rows[row]
        if is_common(value) if theirs.same[row] else is_ambiguous(value):
            continue
        made = first_row_of(run, value, deviating)
        if made is not None:
            early = _premature_value(run, theirs, made, right) if omitted else None
            return early or _origin(run, made)
        if (place := _only_deviation(run, value)) is not None:
            return place
    if inside:
        return _same_first_deviation(run, theirs, right)
    if not _changes_a_loop(theirs):
        return None
    ends = theirs.rows[theirs.deviations]
    last = next((r for r in run.deviations if same(run.rows[r], ends).any()), None)
    return None if last is None else _premature_value(run, theirs, last, right)


def _same_first_deviation(run: TracedRun, theirs: TracedRun, right: RightValues) -> Place | None:
    """Return the first deviation if it is the same value, computed by the same function."""
    own, other = _first_large_deviation(run), _first_large_deviation(theirs)
    value = theirs.rows[other]
    if run.node(own).head != theirs.node(other).head or is_ambiguous(value):
        return None
    if not same(value, run.rows[own : own + 1]).any():
        return None
    early = None if theirs.is_changed(other) else _premature_value(run, theirs, own, right)
    return early or _origin(run, own)


def _first_large_deviation(run: TracedRun) -> int:
    return next((r for r in run.deviations if run.is_large(r)), run.deviations[0])


def _premature_value(
    run: TracedRun, theirs: TracedRun, row: int, right: RightValues
) -> Place | None:
    """Return the line that binds a right value which is used too early.

    Right programs do something else with that value first, or run a loop longer.
    """
    node = run.node(row)
    ran = {run.nodes[n].statement for n in run.rows[:row, NODE].astype(int).tolist()}
    for part, value in run.right_names_read_by(row):
        bindings = [b for b in run.nodes[part].bindings if b.statement in ran]
        if not bindings:
            continue
        loop_ended = bindings[-1].ended and _changes_a_loop(theirs)
        if loop_ended or (part in node.parts and not right.are_used_by(value, node.head)):
            return node.function, bindings[-1].line
    return None


def _changes_a_loop(theirs: TracedRun) -> bool:
    changed = (theirs.program.statements[n] for n in theirs.changed)
    return any(s.startswith(("For ", "While ")) for s in changed)


def _origin(run: TracedRun, row: int) -> Place | None:
    """Return the place of a row, or the line that creates the random generator it draws from.

    Returns None if the expression takes a value that may be None, which was not recorded, or calls
    an object with state: what is wrong there happened earlier.
    """
    node = run.node(row)
    times = Counter(run.rows[:, NODE].astype(int).tolist())
    unseen = [run.nodes[p] for p in node.parts if times[p] < times[int(run.rows[row, NODE])]]
    if node.stateful or any(n.may_be_none for n in unseen):
        return None
    line = next((n.generator_line for n in unseen if n.generator_line), 0)
    return (node.function, line) if line else run.place(row)


def _only_deviation(run: TracedRun, value: np.ndarray) -> Place | None:
    """Return the only place where a program deviates, if it computes this value later.

    Permuted values and wrong values are counted separately.
    """
    made = first_row_of(run, value, frozenset(range(len(run.nodes))))
    if made is None:
        return None
    alike = [r for r in run.deviations if run.permuted[r] == run.permuted[made]]
    alike = [r for r in alike if run.is_large(r)]
    if len({run.place(r) for r in alike}) != 1 or alike[0] >= made:
        return None
    return _origin(run, alike[0])


def nodes_with_misconception(run: TracedRun, theirs: TracedRun) -> frozenset[int]:
    """Return the expressions that have all deviating values of a misconception's statement.

    Some of the values are not enough: they can be a step of a different computation.
    """
    odd = [r for r in np.flatnonzero(~run.permuted) if not run.node(int(r)).is_name]
    rows = run.rows[odd]
    by_statement: dict[int, list[Mask]] = {}
    for row in theirs.distinctive:
        masks = by_statement.setdefault(theirs.node(row).statement, [])
        masks.append(same(theirs.rows[row], rows))
    complete = (masks for masks in by_statement.values() if all(m.any() for m in masks))
    return frozenset(int(n) for masks in complete for m in masks for n in rows[m, NODE])
