"""Computes scores that are not divided by √d.

Exercise: scaled_dot_product_attention
Believes: the softmax copes with scores of any spread.
Shows: the weights are too sharp, the more so the larger d is.
Hint: How large is a typical score of yours for d = 100, just before the softmax? How large should
it be?
Rejected by: test_values
Costs: 35 %
Belief: no_scale
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1))
    return weights @ v, weights
