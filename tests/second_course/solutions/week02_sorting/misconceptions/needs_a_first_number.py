"""Begins with the first number, even of an empty list.

Exercise: merge_sort
Believes: there is always a number to begin with.
Shows: the empty list ends in an error.
Hint: What is the first number of an empty list?
Costs: 20 %
Rejected by: test_nothing
"""


def merge_sort(values):
    ordered = [values[0]]
    for value in values[1:]:
        ordered = merge(ordered, [value])
    return ordered
