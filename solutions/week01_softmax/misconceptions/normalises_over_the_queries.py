"""Lets the queries compete for each key.

Exercise: scaled_dot_product_attention_numpy
Believes: either direction of the softmax will do.
Shows: the columns of the weights sum to 1 instead of the rows.
Hint: Every query hands out a total attention of 1. Along which axis do the keys lie?
Rejected by: test_values
Costs: 40 %
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1]), axis=-2)
    return weights @ v, weights
