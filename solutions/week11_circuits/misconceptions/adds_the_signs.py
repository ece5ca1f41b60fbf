"""Averages the signs of the eigenvalues.

Exercise: copying_score
Believes: Only the sign matters.
Shows: Small eigenvalues count as much as large ones.
Hint: Does a tiny eigenvalue count as much as a large one?
Rejected by: test_values
Costs: 35 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sign().mean(dim=-1)
    return score
