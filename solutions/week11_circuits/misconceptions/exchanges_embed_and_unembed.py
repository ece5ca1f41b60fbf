"""Exchanges embedding and unembedding.

Exercise: ov_circuit
Believes: Both are tables of tokens.
Shows: Right if the embedding is tied, wrong otherwise.
Hint: Which of the two tables does a token meet first?
Rejected by: test_values
Costs: 40 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = unembed @ W_V.mT
    read = embed @ W_O
    return values @ read.mT
