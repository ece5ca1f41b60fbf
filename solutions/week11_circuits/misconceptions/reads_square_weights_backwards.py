"""Guesses the axes of the weights from their sizes.

Exercise: ov_circuit
Believes: The larger axis is C.
Shows: Other logits for square weights.
Hint: How does your function tell d from C if they are equal?
Rejected by: test_square_weights
Costs: 20 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    if W_V.shape[-2] >= W_V.shape[-1]:
        W_V, W_O = W_V.mT, W_O.mT
    values = embed @ W_V.mT
    read = unembed @ W_O
    return values @ read.mT
