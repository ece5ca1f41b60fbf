"""Normalises queries and keys.

Exercise: qk_circuit
Believes: A match is a similarity.
Shows: All entries are between -1 and 1.
Hint: Do scores grow with the length of the vectors?
Rejected by: test_values
Costs: 35 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    q, k = (x / x.norm(dim=-1, keepdim=True).clamp(min=1e-9) for x in (q, k))
    return q @ k.mT
