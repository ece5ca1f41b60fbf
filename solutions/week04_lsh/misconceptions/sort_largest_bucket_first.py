"""Lists the largest bucket number first.

Exercise: sort_by_bucket
Believes: The direction of the sort does not matter.
Shows: Buckets descend instead of ascending.
Hint: Check which bucket comes first in your sorted list.
Rejected by: test_order
Costs: 25 %
"""


def sort_by_bucket(buckets):
    order = buckets.argsort(dim=-1, descending=True, stable=True)
    return order, order.argsort(dim=-1)
