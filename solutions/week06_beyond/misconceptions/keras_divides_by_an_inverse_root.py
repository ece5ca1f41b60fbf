"""Divides the scores by d**-0.5, which multiplies them by the root.

Exercise: keras_attention
Believes: d**-0.5 is the root, and one divides by the root.
Shows: scores are d times as large as they should be, and the weights almost one-hot.
Hint: What is 1 / d**-0.5? How large are the scores before and after your scale?
Rejected by: test_values
Costs: 30 %
"""

_keras = keras_attention


def keras_attention(q, k, v, mask=None):
    return _keras(q * q.shape[-1], k, v, mask)
