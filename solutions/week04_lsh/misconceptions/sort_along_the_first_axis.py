"""Sorts along the first axis, which is the right one only where there is a single axis.

Exercise: sort_by_bucket
Believes: dim=0 is the axis of positions.
Shows: Right for (T,), wrong as soon as there are leading dimensions.
Hint: Which axis of (..., T), counted from the end, contains the positions?
Rejected by: test_every_row_on_its_own
Costs: 30 %
"""


def sort_by_bucket(buckets):
    order = buckets.argsort(dim=0, stable=True)
    return order, order.argsort(dim=0)
