"""Lists the later positions of a bucket before the earlier ones.

Exercise: sort_by_bucket
Believes: Within a bucket any order will do.
Shows: Buckets are in order, ties are backwards.
Hint: Two positions with the same bucket should stay in the order in which they came. What is such a
    sort called?
Rejected by: test_ties_keep_their_order
Costs: 30 %
"""


def sort_by_bucket(buckets):
    length = buckets.shape[-1]
    order = length - 1 - buckets.flip(-1).argsort(dim=-1, stable=True)
    return order, order.argsort(dim=-1)
