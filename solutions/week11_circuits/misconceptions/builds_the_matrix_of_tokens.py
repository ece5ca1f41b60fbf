"""Computes the eigenvalues of the whole OV circuit.

Exercise: copying_score
Believes: Eigenvalues need the whole matrix.
Shows: Time and memory grow with the square of the vocabulary.
Hint: How many eigenvalues of your matrix can differ from 0?
Rejected by: test_cost_of_a_vocabulary
Costs: 30 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (embed @ W_V.mT) @ (unembed @ W_O).mT
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
