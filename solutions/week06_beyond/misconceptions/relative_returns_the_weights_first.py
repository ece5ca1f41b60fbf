"""Returns the weights before the output.

Exercise: relative_attention
Believes: the order of the two results is a matter of taste.
Shows: a caller who unpacks the pair gets the weights as the output.
Hint: Read the docstring's "Returns" again.
Rejected by: test_values
Costs: 20 %
Belief: weights_first
"""

_right_relative_attention = relative_attention


def relative_attention(q, k, v, relative_keys):
    output, weights = _right_relative_attention(q, k, v, relative_keys)
    return weights, output
