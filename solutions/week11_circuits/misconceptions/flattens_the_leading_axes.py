"""Joins the leading axes.

Exercise: qk_circuit
Believes: There is at most one leading axis.
Shows: Two leading axes become one.
Hint: What is the shape of your result for weights of shape (L, H, d, C)?
Rejected by: test_heads
Costs: 20 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    scores = q @ k.mT / math.sqrt(W_Q.shape[-2])
    return scores.flatten(0, -3) if scores.ndim > 3 else scores
