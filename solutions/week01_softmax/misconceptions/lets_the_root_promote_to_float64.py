"""Divides by a NumPy float64 number, which turns float32 scores into float64.

Exercise: scaled_dot_product_attention_numpy
Believes: a single number never changes the type of an array.
Shows: right values, but float16 and float32 inputs give float64 results.
Hint: Print the type of np.sqrt(5) and of math.sqrt(5), and of a float32 array divided by each.
Rejected by: test_float_types
Costs: 20 %
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    return weights @ v, weights
