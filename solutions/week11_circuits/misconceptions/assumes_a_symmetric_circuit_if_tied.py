"""Averages with the transpose if the embedding is tied.

Exercise: ov_circuit
Believes: A tied embedding makes the circuit symmetric.
Shows: With a tied embedding, sources and outputs are mixed.
Hint: Does attention to a add as much to b as attention to b adds to a?
Rejected by: test_tied_embedding
Costs: 25 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O
    found = values @ read.mT
    return (found + found.mT) / 2 if torch.equal(embed, unembed) else found
