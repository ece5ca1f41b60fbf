"""Divides by the head size itself.

Exercise: scaled_dot_product_attention
Believes: the scale is d itself.
Shows: the weights are close to uniform.
Hint: The variance of q·k grows like d. And its standard deviation?
Rejected by: test_values
Costs: 30 %
Belief: wrong_scale
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / q.shape[-1])
    return weights @ v, weights
