"""Uses the unembedding for the input.

Exercise: ov_circuit
Believes: The embedding is tied to the output.
Shows: The result does not depend on `embed`.
Hint: Which argument does your result not depend on?
Rejected by: test_values
Costs: 35 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = unembed @ W_V.mT
    read = unembed @ W_O
    return values @ read.mT
