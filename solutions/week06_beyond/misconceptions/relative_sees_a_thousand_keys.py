"""Looks at the first thousand keys and no further.

Exercise: relative_attention
Believes: no sequence is longer than that.
Shows: with more than a thousand keys the weights of the last ones are missing.
Hint: How many keys does a query see? Take the number from the keys.
Rejected by: test_many_keys
Costs: 20 %
"""


_relative_to_all = relative_attention


def relative_attention(q, k, v, relative_keys):
    return _relative_to_all(q, k[..., :1000, :], v[..., :1000, :], relative_keys)
