"""Exchanges W_V and W_O.

Exercise: ov_circuit
Believes: The order of the layers does not matter.
Shows: An error about shapes, or other logits for square weights.
Hint: Which weights does a token meet first on its way?
Rejected by: test_values
Costs: 50 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_O
    read = unembed @ W_V.mT
    return values @ read.mT
