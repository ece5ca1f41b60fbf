"""Cuts the gradient of the keys.

Exercise: qk_circuit
Believes: Keys are constants.
Shows: The keys and their weights get no gradient.
Hint: Which arguments does your result depend on?
Rejected by: test_gradients
Costs: 20 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = (keys @ W_K.mT).detach()
    return q @ k.mT / math.sqrt(W_Q.shape[-2])
