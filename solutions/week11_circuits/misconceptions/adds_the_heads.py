"""Adds the circuits of the heads.

Exercise: ov_circuit
Believes: A layer has one circuit.
Shows: One matrix for all heads.
Hint: Do all heads attend to the same token?
Rejected by: test_heads
Costs: 30 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O
    found = values @ read.mT
    return found.sum(dim=0) if found.ndim > 2 else found
