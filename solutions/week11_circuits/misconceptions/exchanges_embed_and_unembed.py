"""Exchanges embedding and unembedding.

Exercise: ov_circuit
Believes: Both have one row per token.
Shows: Correct only if the embedding is tied.
Hint: Which of the two matrices is applied to a token first?
Rejected by: test_values
Costs: 35 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = unembed @ W_V.mT
    read = embed @ W_O
    return values @ read.mT
