"""Find the line of a submission that produces the values of a known misconception."""

from __future__ import annotations

import numpy as np

from ...repair.trace_recorder import NODE
from .trace_values import is_ambiguous, is_common, same
from .traced_runs import Place, TracedRun


def locate_misconception(run: TracedRun, reference: TracedRun) -> Place | None:
    """Return the place that computes the value of a misconception's changed statement.

    run: the submission's. reference: the run of the bank's program for the misconception

    Returns None if no value distinguishes the mistake, or if none of its values is in the run.
    """
    if not reference.deviations or not run.deviations:
        return None
    deviating = frozenset(int(run.rows[r, NODE]) for r in run.deviations)
    changed = [r for r in reference.deviations if reference.is_changed(r)]
    unchanged = reference.rows[[r for r in reference.deviations if r not in changed]]
    inside = [r for r in changed if not same(reference.rows[r], unchanged).any()]
    whole = [] if inside else _statement_results(reference)
    omitted = reference.deviations if reference.lacks_statements and not (inside or whole) else []
    for row in (*inside, *whole, *omitted):
        value = reference.rows[row]
        if is_common(value) if reference.same[row] else is_ambiguous(value):
            continue
        made = run.first_row_of(value, None if whole else deviating)
        if made is not None and (not whole or run.node(made).head == reference.node(row).head):
            return run.place(made)
        if not whole and (place := _only_deviation(run, value)) is not None:
            return place
    return None


def _only_deviation(run: TracedRun, value: np.ndarray) -> Place | None:
    """Return the only place where a run deviates, if it computes this value later.

    Permuted values and wrong values are counted separately.
    """
    made = run.first_row_of(value, frozenset(range(len(run.nodes))))
    if made is None:
        return None
    alike = (r for r in run.deviations if run.permuted[r] == run.permuted[made])
    large = [r for r in alike if run.is_large(r)]
    if len({run.place(r) for r in large}) != 1 or large[0] >= made:
        return None
    return run.place(large[0])


def _statement_results(reference: TracedRun) -> list[int]:
    """Return the rows of the results of the changed statements."""
    parts = {p for node in reference.nodes for p in node.parts}
    rows = ((n, row) for n, row in reference.first.items() if n not in parts)
    return [row for _, row in rows if reference.is_changed(row)]
