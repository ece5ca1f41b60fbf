"""Uses the embedding for the output.

Exercise: ov_circuit
Believes: The embedding is tied to the output.
Shows: The result does not depend on `unembed`.
Hint: Which argument does your result not depend on?
Rejected by: test_values
Costs: 35 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = embed @ W_O
    return values @ read.mT
