"""Leaves the scores as large as the dot products are.

Exercise: scaled_dot_product_attention
Believes: the softmax copes with scores of any spread.
Shows: the weights are too sharp, the more so the larger d is.
Hint: Which word of this function's name is not in your code yet?
Rejected by: test_values
Costs: 35 %
Belief: no_scale
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1))
    return weights @ v, weights
