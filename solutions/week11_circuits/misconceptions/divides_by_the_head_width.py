"""Divides by d itself.

Exercise: qk_circuit
Believes: The scale is the number of features.
Shows: Scores are too small.
Hint: How does the spread of a dot product grow with d?
Rejected by: test_scale
Costs: 30 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    return q @ k.mT / W_Q.shape[-2]
