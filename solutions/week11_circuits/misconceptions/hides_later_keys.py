"""Sets the entries above the diagonal to 0.

Exercise: qk_circuit
Believes: Scores are always masked.
Shows: Entries above the diagonal are 0.
Hint: Are the rows and columns positions?
Rejected by: test_values
Costs: 35 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    return (q @ k.mT / math.sqrt(W_Q.shape[-2])).tril()
