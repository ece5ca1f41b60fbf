"""Uses the query weights twice.

Exercise: qk_circuit
Believes: Queries and keys are compared in the same projection.
Shows: Scores of equal vectors are symmetric.
Hint: Which weights produce the keys?
Rejected by: test_values
Costs: 40 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_Q.mT
    return q @ k.mT / math.sqrt(W_Q.shape[-2])
