"""Looks at the first thousand keys and no further.

Exercise: scaled_dot_product_attention
Believes: no sequence is longer than that.
Shows: with more than a thousand keys the weights of the last ones are missing.
Hint: How many keys does a query see? Take the number from the keys, not from what was enough so far.
Rejected by: test_many_keys
Costs: 20 %
Belief: stops_at_a_thousand
"""


def scaled_dot_product_attention(q, k, v):
    k, v = k[..., :1000, :], v[..., :1000, :]
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = softmax(scores, dim=-1)
    return weights @ v, weights
