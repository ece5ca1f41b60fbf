"""Makes sort keys from bucket and position with a step smaller than the length.

Exercise: sort_by_bucket
Believes: Multiplying the bucket by the number of buckets makes room for the position.
Shows: Right for short sequences; in longer ones late positions of one bucket overtake early ones of
    the next.
Hint: By how much can the position part of the key grow? The step from one bucket to the next must
    be larger than that.
Rejected by: test_long_rows
Costs: 30 %
"""


def sort_by_bucket(buckets):
    position = torch.arange(buckets.shape[-1], device=buckets.device)
    order = (buckets * (buckets.max() + 1) + position).argsort(dim=-1)
    return order, order.argsort(dim=-1)
