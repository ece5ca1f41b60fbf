"""Makes the matrix symmetric first.

Exercise: copying_score
Believes: Eigenvalues must be real.
Shows: All eigenvalues are real, and their absolute values differ.
Hint: Which eigenvalues does a rotation have?
Rejected by: test_values
Costs: 35 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals((small + small.mT) / 2)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
