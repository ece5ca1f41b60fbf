"""Looks at the first thousand keys and no further.

Exercise: grouped_query_attention
Believes: no text is longer than that.
Shows: with more than a thousand keys the last ones have no weight.
Hint: How many keys are there? Take the number from the keys, not from what was enough so far.
Rejected by: test_many_keys
Costs: 20 %
Belief: stops_at_a_thousand
"""

_all_keys = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    near = torch.arange(k.shape[2], device=q.device) < 1000
    return _all_keys(q, k, v, near if mask is None else mask & near)
