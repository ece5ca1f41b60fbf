"""Returns the weights before the output.

Exercise: additive_attention
Believes: the order of the two results is a matter of taste.
Shows: a caller who unpacks the pair gets the weights as the output.
Hint: Read the docstring's "Returns" again.
Rejected by: test_values
Costs: 20 %
Belief: weights_first
"""

_right_additive_attention = additive_attention


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    output, weights = _right_additive_attention(q, k, v, W_q, W_k, u, mask)
    return weights, output
