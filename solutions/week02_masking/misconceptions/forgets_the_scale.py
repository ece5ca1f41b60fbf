"""Computes scores that are not divided by √d.

Exercise: scaled_dot_product_attention
Believes: the softmax takes care of the size of the scores.
Shows: weights that are too sharp, more so for larger heads.
Hint: What happens to the variance of a dot product when the vectors get longer?
Rejected by: test_values
Costs: 30 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
