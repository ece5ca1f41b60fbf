"""Divides by the sum of the absolute real parts.

Exercise: copying_score
Believes: Eigenvalues are real.
Shows: The score is 1 or -1 too often.
Hint: What is the absolute value of the eigenvalue 1 + 2i?
Rejected by: test_complex_eigenvalues
Costs: 25 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.real.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
