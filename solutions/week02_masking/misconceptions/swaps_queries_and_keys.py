"""Multiplies keys by queries, so that the scores come out transposed.

Exercise: scaled_dot_product_attention
Believes: q kᵀ and k qᵀ are the same.
Shows: an error where n differs from m; otherwise each key looks among the queries.
Hint: Write down the shapes. The scores should have a row for each query.
Rejected by: test_values
Costs: 35 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = k @ q.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
