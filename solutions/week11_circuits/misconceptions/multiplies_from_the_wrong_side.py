"""Multiplies with the weights as they are stored.

Exercise: qk_circuit
Believes: A linear layer computes x @ W.
Shows: An error about shapes, or other scores for square weights.
Hint: What is the shape of the weight of `nn.Linear(8, 4)`?
Rejected by: test_values
Costs: 40 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q
    k = keys @ W_K
    return q @ k.mT / math.sqrt(W_Q.shape[-2])
