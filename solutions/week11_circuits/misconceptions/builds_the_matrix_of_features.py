"""Computes the eigenvalues of a matrix (C, C).

Exercise: copying_score
Believes: Weights are merged first.
Shows: The work grows with the cube of the model's width.
Hint: How many eigenvalues of your matrix can differ from 0?
Rejected by: test_cost_of_the_width
Costs: 30 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (W_O @ W_V) @ (embed.mT @ unembed)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
