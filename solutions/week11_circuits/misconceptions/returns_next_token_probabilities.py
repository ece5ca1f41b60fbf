"""Converts logits with a softmax.

Exercise: ov_circuit
Believes: A circuit gives probabilities.
Shows: All entries are positive.
Hint: Does the docstring ask for logits or for probabilities?
Rejected by: test_values
Costs: 35 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O
    return (values @ read.mT).softmax(dim=-1)
