"""Guesses the axes of the weights from their sizes.

Exercise: qk_circuit
Believes: The larger axis is C.
Shows: Other scores for square weights.
Hint: How does your function tell d from C if they are equal?
Rejected by: test_square_weights
Costs: 20 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    if W_Q.shape[-2] >= W_Q.shape[-1]:
        W_Q, W_K = W_Q.mT, W_K.mT
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    return q @ k.mT / math.sqrt(W_Q.shape[-2])
