"""Scales by the size of the values.

Exercise: scaled_dot_product_attention_numpy
Believes: all vectors have the same size anyway.
Shows: right where values are as long as keys, wrong elsewhere.
Hint: Which vectors are multiplied in the dot product? How many entries do they have?
Rejected by: test_values_of_different_size
Costs: 30 %
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2) / math.sqrt(v.shape[-1]))
    return weights @ v, weights
