"""Adds a constant to the denominator.

Exercise: copying_score
Believes: A small constant does no harm.
Shows: Scores are too small if the weights are small.
Hint: How large is your constant compared with eigenvalues of 1e-6?
Rejected by: test_size_of_the_weights
Costs: 20 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / (size + 1e-3)
    return score
