"""Lets the weights of each key sum to 1 over the queries.

Exercise: scaled_dot_product_attention
Believes: either axis of the scores may be normalised.
Shows: columns sum to 1, rows do not.
Hint: Each query shares out one unit of attention. Along which axis must you add to get that unit?
Rejected by: test_values
Costs: 35 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = (
        torch.softmax(scores, dim=-2) if mask is None else masked_softmax(scores, mask, dim=-2)
    )
    return weights @ v, weights
