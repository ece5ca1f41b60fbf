"""Adds the scores of the heads.

Exercise: qk_circuit
Believes: A layer has one circuit.
Shows: One matrix for all heads.
Hint: How many softmaxes does a layer with 4 heads compute?
Rejected by: test_heads
Costs: 30 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    scores = q @ k.mT / math.sqrt(W_Q.shape[-2])
    return scores.sum(dim=0) if scores.ndim > 2 else scores
