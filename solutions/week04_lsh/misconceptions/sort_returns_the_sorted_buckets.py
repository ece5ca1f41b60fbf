"""Returns the sorted bucket numbers and the order.

Exercise: sort_by_bucket
Believes: The two results of torch.sort are the two results wanted.
Shows: The first result contains bucket numbers, the second is the order.
Hint: Which of your two results shows the new place of position 0?
Rejected by: test_order
Costs: 90 %
"""


def sort_by_bucket(buckets):
    values, order = torch.sort(buckets, dim=-1, stable=True)
    return values, order
