"""Exchanges the two weights.

Exercise: qk_circuit
Believes: Scores are symmetric.
Shows: Queries are projected with the key weights.
Hint: Does your result change if W_Q and W_K are exchanged?
Rejected by: test_values
Costs: 35 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_K.mT
    k = keys @ W_Q.mT
    return q @ k.mT / math.sqrt(W_Q.shape[-2])
