"""Puts keys in rows.

Exercise: qk_circuit
Believes: The order of the axes does not matter.
Shows: The result is transposed.
Hint: Which index of your result belongs to the query?
Rejected by: test_values
Costs: 35 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    return k @ q.mT / math.sqrt(W_Q.shape[-2])
