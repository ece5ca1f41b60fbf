"""Cuts the gradient of the unembedding.

Exercise: ov_circuit
Believes: The unembedding is a constant.
Shows: The unembedding gets no gradient.
Hint: Which arguments does your result depend on?
Rejected by: test_gradients
Costs: 20 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed.detach() @ W_O
    return values @ read.mT
