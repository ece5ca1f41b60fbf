"""Returns the weights before the output.

Exercise: keras_attention
Believes: the order of the two results is a matter of taste.
Shows: a caller who unpacks the pair gets the weights as the output.
Hint: Read the docstring's "Returns" again.
Rejected by: test_values
Costs: 20 %
Belief: weights_first
"""

_right_keras_attention = keras_attention


def keras_attention(q, k, v, mask=None):
    output, weights = _right_keras_attention(q, k, v, mask)
    return weights, output
