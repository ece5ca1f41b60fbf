"""Divides the scores by the head size itself.

Exercise: scaled_dot_product_attention
Believes: the scale is d itself.
Shows: weights that are too even.
Hint: A sum of d products has the variance d. What is its standard deviation?
Rejected by: test_values
Costs: 30 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1]
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
