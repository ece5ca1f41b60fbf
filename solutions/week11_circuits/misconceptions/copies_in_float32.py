"""Computes the logits in float32.

Exercise: ov_circuit
Believes: Logits are float32.
Shows: float64 arguments give float32 logits.
Hint: Which dtype do the arguments have?
Rejected by: test_double_precision
Costs: 20 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = (embed @ W_V.mT).float()
    read = (unembed @ W_O).float()
    return values @ read.mT
