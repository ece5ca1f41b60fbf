"""Returns the two permutations in the wrong order.

Exercise: sort_by_bucket
Believes: The rank of each position is the order.
Shows: order.gather(-1, inverse) still gives 0..T-1, so the check in the docstring passes.
Hint: Which of the two lists, used as an index, puts the buckets into ascending order?
Rejected by: test_order
Costs: 20 %
"""


def sort_by_bucket(buckets):
    order = buckets.argsort(dim=-1, stable=True)
    return order.argsort(dim=-1), order
