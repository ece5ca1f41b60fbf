"""Computes the scores in float32.

Exercise: qk_circuit
Believes: Scores are float32.
Shows: float64 arguments give float32 scores.
Hint: Which dtype do the arguments have?
Rejected by: test_double_precision
Costs: 20 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = (queries @ W_Q.mT).float()
    k = (keys @ W_K.mT).float()
    return q @ k.mT / math.sqrt(W_Q.shape[-2])
