"""Reverses the order to get its inverse.

Exercise: sort_by_bucket
Believes: Undoing a sort means reading the order from its end.
Shows: The second result is the first one flipped.
Hint: The inverse answers another question: at which place did position t end up?
Rejected by: test_inverse_leads_back
Costs: 40 %
"""


def sort_by_bucket(buckets):
    order = buckets.argsort(dim=-1, stable=True)
    return order, order.flip(-1)
