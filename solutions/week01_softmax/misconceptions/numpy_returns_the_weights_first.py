"""Returns the weights before the output.

Exercise: scaled_dot_product_attention_numpy
Believes: the order of the two results is a matter of taste.
Shows: a caller who unpacks the pair gets the weights as the output.
Hint: Read the docstring's "Returns" again.
Rejected by: test_values
Costs: 20 %
Belief: weights_first
"""


def scaled_dot_product_attention_numpy(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    weights = softmax_numpy(scores, axis=-1)
    output = weights @ v
    return weights, output
