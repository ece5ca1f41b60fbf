"""Drops axes of size 1.

Exercise: qk_circuit
Believes: One query is a vector.
Shows: Axes of size 1 are missing.
Hint: What is the shape of your result for one query?
Rejected by: test_singleton_axes
Costs: 20 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    return (q @ k.mT / math.sqrt(W_Q.shape[-2])).squeeze()
