"""Looks at the first thousand keys and no further.

Exercise: scaled_dot_product_attention
Believes: no sequence is longer than that.
Shows: with more than a thousand keys the weights of the last ones are missing.
Hint: How many keys does a query see? Take the number from the keys, not from what was enough so far.
Rejected by: test_many_keys
Costs: 20 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    k, v = k[..., :1000, :], v[..., :1000, :]
    mask = mask if mask is None else mask[..., :1000]
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
