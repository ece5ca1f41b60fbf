"""Transposes W_O.

Exercise: ov_circuit
Believes: Both weights are used in the same way.
Shows: An error about shapes, or other logits for square weights.
Hint: What is the shape of W_O, and which of its axes does the head write to?
Rejected by: test_values
Costs: 40 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O.mT
    return values @ read.mT
