"""Divides by the root of d.

Exercise: ov_circuit
Believes: Circuits are scaled.
Shows: Entries are too small.
Hint: Where does attention use the scale?
Rejected by: test_values
Costs: 30 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O
    return values @ read.mT / math.sqrt(W_V.shape[-2])
