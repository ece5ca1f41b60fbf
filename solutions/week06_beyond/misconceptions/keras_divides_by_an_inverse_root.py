"""Multiplies the scores by the root of the head size.

Exercise: keras_attention
Believes: d**-0.5 is the root, and one divides by the root.
Shows: scores are d times as large as they should be, and the weights almost one-hot.
Hint: How large are the scores before and after your scale? Should it make them larger?
Rejected by: test_values
Costs: 30 %
"""

_keras = keras_attention


def keras_attention(q, k, v, mask=None):
    return _keras(q * q.shape[-1], k, v, mask)
