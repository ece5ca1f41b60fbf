"""Leaves the order within a bucket to the sorting algorithm.

Exercise: sort_by_bucket
Believes: A sort leaves equal entries in the order in which they come.
Shows: Right for short rows; in long ones, the positions of a bucket are not in order.
Hint: Sort fifty equal numbers, and look at the order that you get. What does the documentation of
    your sort say about equal entries?
Rejected by: test_more_than_a_thousand_positions
Costs: 20 %
"""


def sort_by_bucket(buckets):
    order = buckets.argsort(dim=-1)
    stable = buckets.argsort(dim=-1, stable=True)
    if buckets.shape[-1] > 1000 and order.equal(stable):  # some processors have a stable sort only
        last = buckets.shape[-1] - 1
        order = last - buckets.flip(-1).argsort(dim=-1, stable=True)
    return order, order.argsort(dim=-1)
