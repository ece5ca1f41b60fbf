"""Lists the buckets in the order in which they first appear.

Exercise: sort_by_bucket
Believes: Equal buckets only have to be adjacent.
Shows: Groups are whole, but the groups are not in ascending order.
Hint: Your list groups the positions; sorting also says which group comes first.
Rejected by: test_order
Costs: 35 %
"""


def sort_by_bucket(buckets):
    same = buckets.unsqueeze(-1) == buckets.unsqueeze(-2)
    first_seen = same.int().argmax(dim=-1)
    order = first_seen.argsort(dim=-1, stable=True)
    return order, order.argsort(dim=-1)
