"""Adds the direct path.

Exercise: ov_circuit
Believes: Logits contain the residual stream.
Shows: Entries contain embed @ unembed.T.
Hint: Does the head add the token's own embedding?
Rejected by: test_values
Costs: 35 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O
    return values @ read.mT + embed @ unembed.mT
