"""Divides by the root of the sum of the squares.

Exercise: copying_score
Believes: The size of a spectrum is its root mean square.
Shows: Large eigenvalues count too much.
Hint: What is the score if all eigenvalues are positive?
Rejected by: test_values
Costs: 35 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().square().sum(dim=-1).sqrt()
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score
