"""Makes sort keys from bucket and position, with a thousand places for the position.

Exercise: sort_by_bucket
Believes: No sequence is longer than a thousand.
Shows: Right up to a thousand positions; after that, late positions overtake the next bucket's.
Hint: By how much can the position part of the key grow? The step from one bucket to the next must
    be larger than that.
Rejected by: test_more_than_a_thousand_positions
Costs: 20 %
Belief: a_thousand_is_enough
"""


def sort_by_bucket(buckets):
    position = torch.arange(buckets.shape[-1], device=buckets.device)
    order = (1000 * buckets + position).argsort(dim=-1)
    return order, order.argsort(dim=-1)
