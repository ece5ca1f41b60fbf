"""Sums up the first thousand keys and no further.

Exercise: performer_attention
Believes: no sequence is longer than that.
Shows: with more than a thousand keys the last ones have no weight.
Hint: How many keys does the sum include? Take the number from the keys.
Rejected by: test_many_keys
Costs: 20 %
"""

_sums_all_keys = performer_attention


def performer_attention(q, k, v, projection, causal=False):
    return _sums_all_keys(q, k[..., :1000, :], v[..., :1000, :], projection, causal)
