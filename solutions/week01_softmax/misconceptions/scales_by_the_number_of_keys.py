"""Scales by the number of keys, where the size of a key is meant.

Exercise: scaled_dot_product_attention_numpy
Believes: the scale has to do with how many keys there are.
Shows: right only where there are as many keys as entries in a key.
Hint: The dot product is a sum over what? Its number of terms is the one that counts.
Rejected by: test_values
Costs: 30 %
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2) / math.sqrt(k.shape[-2]))
    return weights @ v, weights
