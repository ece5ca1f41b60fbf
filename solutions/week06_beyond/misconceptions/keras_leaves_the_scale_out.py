"""Computes scores that are not divided by √d.

Exercise: keras_attention
Believes: a softmax does not mind how large the scores are.
Shows: the weights are sharper than they should be, the more so the larger d is.
Hint: How large are products of two long random vectors, and what keeps them near 1?
Rejected by: test_values
Costs: 30 %
"""

_keras = keras_attention


def keras_attention(q, k, v, mask=None):
    return _keras(q * math.sqrt(q.shape[-1]), k, v, mask)
