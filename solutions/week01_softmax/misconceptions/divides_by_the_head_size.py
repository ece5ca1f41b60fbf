"""Divides the scores by the head size itself.

Exercise: scaled_dot_product_attention_numpy
Believes: the scale is d itself.
Shows: the weights are close to uniform.
Hint: Have another look at how the variance of q·k grows with d, and at what a standard deviation
    is.
Rejected by: test_values
Costs: 30 %
Belief: wrong_scale
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2) / q.shape[-1])
    return weights @ v, weights
