"""Applies the root of the head size the wrong way round.

Exercise: scaled_dot_product_attention
Believes: scaling is multiplying, or the inverse was taken twice.
Shows: the weights are close to one-hot.
Hint: For d = 100, how large is a typical q·k? Should the scale make it larger or smaller?
Rejected by: test_values
Costs: 30 %
Belief: scale_upside_down
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) * math.sqrt(q.shape[-1]))
    return weights @ v, weights
