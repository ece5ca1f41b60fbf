"""Normalises over the queries.

Exercise: scaled_dot_product_attention
Believes: rows or columns, something sums to 1.
Shows: for each key the weights sum to 1 over the queries; the weights of a query do not.
Hint: Each query shares out an attention of 1. Among whom, and along which axis are they?
Rejected by: test_values
Costs: 50 %
"""


def scaled_dot_product_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = softmax(scores, dim=-2)
    return weights @ v, weights
