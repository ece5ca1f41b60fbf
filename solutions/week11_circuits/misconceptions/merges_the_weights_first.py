"""Merges both weights first.

Exercise: qk_circuit
Believes: The order of the products does not matter.
Shows: The work grows with the square of the model's width.
Hint: What is the shape of your first product?
Rejected by: test_cost
Costs: 30 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    merged = W_Q.mT @ W_K
    return queries @ merged @ keys.mT / math.sqrt(W_Q.shape[-2])
