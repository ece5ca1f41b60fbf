"""Uses singular values.

Exercise: copying_score
Believes: Singular values are eigenvalues.
Shows: The score is always 1.
Hint: Can a singular value be negative?
Rejected by: test_values
Costs: 40 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.svdvals(small)
    size = found.abs().sum(dim=-1)
    score = found.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
