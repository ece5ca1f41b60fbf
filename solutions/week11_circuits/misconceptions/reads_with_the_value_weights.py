"""Uses the value weights twice.

Exercise: ov_circuit
Believes: What a head reads, it writes.
Shows: The result does not depend on W_O.
Hint: Which argument does your result not depend on?
Rejected by: test_values
Costs: 40 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_V.mT
    return values @ read.mT
