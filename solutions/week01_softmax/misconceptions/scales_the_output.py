"""Computes scores that are not divided by √d, and divides the output by √d.

Exercise: scaled_dot_product_attention_numpy
Believes: it does not matter where the scale is applied.
Shows: weights that are too sharp and outputs that are too small: values of all ones do not come
    back as ones.
Hint: The scale is there to keep the softmax from saturating. Is it still in time after the softmax?
Rejected by: test_values
Costs: 35 %
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2))
    return weights @ v / math.sqrt(q.shape[-1]), weights
