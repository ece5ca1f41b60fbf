"""Multiplies with W_V as it is stored.

Exercise: ov_circuit
Believes: A linear layer computes x @ W.
Shows: An error about shapes, or other logits for square weights.
Hint: What is the shape of the weight of `nn.Linear(8, 4)`?
Rejected by: test_values
Costs: 40 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V
    read = unembed @ W_O
    return values @ read.mT
