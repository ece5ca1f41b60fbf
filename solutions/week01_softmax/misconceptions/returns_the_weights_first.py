"""Returns the weights before the output.

Exercise: scaled_dot_product_attention
Believes: the order of the two results is a matter of taste.
Shows: a caller who unpacks the pair gets the weights as the output.
Hint: Read the docstring's "Returns" again.
Rejected by: test_values
Costs: 20 %
Belief: weights_first
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))
    return weights, weights @ v
