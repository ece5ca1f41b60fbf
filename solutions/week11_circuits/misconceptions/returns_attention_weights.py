"""Converts scores with a softmax.

Exercise: qk_circuit
Believes: A circuit is a distribution over the keys.
Shows: All entries are positive.
Hint: Does the docstring ask for scores or for weights?
Rejected by: test_values
Costs: 35 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    return (q @ k.mT / math.sqrt(W_Q.shape[-2])).softmax(dim=-1)
