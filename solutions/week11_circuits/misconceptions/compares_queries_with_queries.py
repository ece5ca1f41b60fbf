"""Compares the queries with each other.

Exercise: qk_circuit
Believes: The keys are the queries.
Shows: The result is (N, N).
Hint: Which argument does your result not depend on?
Rejected by: test_values
Costs: 40 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = queries @ W_K.mT
    return q @ k.mT / math.sqrt(W_Q.shape[-2])
