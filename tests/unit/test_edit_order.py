"""Test the order in which edits are tried."""

from __future__ import annotations

from autograder.grading.localization.repair_search import OrderedProbes, Search
from autograder.grading.localization.traces import ValueHints
from autograder.repair import Edit

FIRST, NAMED = ("f", 3), ("f", 2)


def change(line: int) -> Edit:
    return Edit(line, "f", "function", 1.0, ())


def searched(hints: ValueHints) -> Search:
    return Search("f", [], [], OrderedProbes([], 0, 0), None, hints)


def test_where_values_first_leave_the_right_ones_is_tried_first():
    search = searched(ValueHints(odd=frozenset({FIRST, NAMED}), first=(FIRST, FIRST)))
    assert search.weight(change(3)) < search.weight(change(2))


def test_the_line_of_a_mistake_that_has_a_name_is_tried_before():
    odd = frozenset({FIRST, NAMED})
    search = searched(ValueHints(odd=odd, first=(FIRST, FIRST), named=(("a", NAMED),)))
    assert search.weight(change(2)) < search.weight(change(3))
