"""Handles weights of two axes only.

Exercise: qk_circuit
Believes: Weights have two axes.
Shows: An error or a mix of heads for weights with leading axes.
Hint: What does your function do for weights of shape (H, d, C)?
Rejected by: test_heads
Costs: 30 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.permute(*range(W_Q.ndim)[::-1])
    k = keys @ W_K.permute(*range(W_K.ndim)[::-1])
    return q @ k.mT / math.sqrt(W_Q.shape[-2])
