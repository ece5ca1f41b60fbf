"""Divides by the root of the model's width.

Exercise: qk_circuit
Believes: d is the width of the vectors.
Shows: Scores are too small.
Hint: Between how many features is the dot product taken?
Rejected by: test_scale
Costs: 30 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    return q @ k.mT / math.sqrt(W_Q.shape[-1])
