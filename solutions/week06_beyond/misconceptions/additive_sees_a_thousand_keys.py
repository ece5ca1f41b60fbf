"""Looks at the first thousand keys and no further.

Exercise: additive_attention
Believes: no sequence is longer than that.
Shows: with more than a thousand keys the weights of the last ones are missing.
Hint: How many keys does a query see? Take the number from the keys.
Rejected by: test_many_keys
Costs: 20 %
"""

_additive = additive_attention


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    mask = mask if mask is None or mask.shape[-1] == 1 else mask[..., :1000]
    return _additive(q, k[..., :1000, :], v[..., :1000, :], W_q, W_k, u, mask)
