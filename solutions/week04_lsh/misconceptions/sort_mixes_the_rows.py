"""Sorts all rows together, so that positions of different rows mix.

Exercise: sort_by_bucket
Believes: Bucket numbers are comparable across sequences and rounds.
Shows: Indices run past T where there is more than one row.
Hint: Each row of T is a separate sequence (or round). Should one of them ever see the positions
    of another?
Rejected by: test_every_row_on_its_own
Costs: 30 %
"""


def sort_by_bucket(buckets):
    order = buckets.flatten().argsort(stable=True)
    return order.view(buckets.shape), order.argsort().view(buckets.shape)
