"""Puts the largest first.

Exercise: merge_sort
Believes: sorted means from the largest on.
Shows: the result is the wrong way round.
Hint: Which of your numbers should come first?
Costs: 30 %
Rejected by: test_any_order
"""


def merge_sort(values):
    return sorted(values, reverse=True)
