"""Computes eigenvalues of a symmetric matrix.

Exercise: copying_score
Believes: Eigenvalues are found with `eigvalsh`.
Shows: Half of the matrix is ignored.
Hint: Which matrices does your torch.linalg function support?
Rejected by: test_values
Costs: 35 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvalsh(small)
    size = found.abs().sum(dim=-1)
    score = found.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
