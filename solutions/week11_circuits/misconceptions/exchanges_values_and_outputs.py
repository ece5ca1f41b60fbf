"""Exchanges W_V and W_O.

Exercise: ov_circuit
Believes: The order of the layers does not matter.
Shows: An error about shapes, or other logits for square weights.
Hint: Which of the two weights is applied to a token first?
Rejected by: test_values
Costs: 40 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_O
    read = unembed @ W_V.mT
    return values @ read.mT
