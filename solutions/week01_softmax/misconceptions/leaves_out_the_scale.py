"""Computes scores that are not divided by √d.

Exercise: scaled_dot_product_attention_numpy
Believes: the dot product is the score.
Shows: the weights are sharper than they should be, the more so the larger d is.
Hint: How does the spread of q·k grow with the number of entries? Bring it back to 1.
Rejected by: test_values
Costs: 35 %
Belief: no_scale
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2))
    return weights @ v, weights
