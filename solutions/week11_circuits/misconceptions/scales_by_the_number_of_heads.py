"""Takes the first axis of the weights for d.

Exercise: qk_circuit
Believes: The first axis of the weights is d.
Shows: Wrong scale as soon as there are several heads.
Hint: What is the first axis of weights of shape (H, d, C)?
Rejected by: test_heads
Costs: 25 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    return q @ k.mT / math.sqrt(W_Q.shape[0])
