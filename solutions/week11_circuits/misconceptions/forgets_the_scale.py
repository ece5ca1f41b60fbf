"""Computes scores that are not divided by √d.

Exercise: qk_circuit
Believes: The scale belongs to the softmax.
Shows: Scores are too large.
Hint: How large are scores compared with those that attention computes?
Rejected by: test_scale
Costs: 30 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    return q @ k.mT
