"""Normalises over the queries.

Exercise: scaled_dot_product_attention
Believes: rows or columns, something sums to 1.
Shows: for each key the weights sum to 1 over the queries; the weights of a query do not.
Hint: Whose attention is shared out, and among whom? Which axis is that?
Rejected by: test_values
Costs: 50 %
"""


def scaled_dot_product_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = softmax(scores, dim=-2)
    return weights @ v, weights
