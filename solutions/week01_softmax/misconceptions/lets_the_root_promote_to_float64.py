"""Returns float64 for inputs in float16 and float32.

Exercise: scaled_dot_product_attention_numpy
Believes: a single number never changes the type of an array.
Shows: right values, but float16 and float32 inputs give float64 results.
Hint: Print the dtype after each step, for float32 inputs. Which NumPy number or array of yours is
float64?
Rejected by: test_float_types
Costs: 20 %
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    return weights @ v, weights
